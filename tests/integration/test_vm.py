# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reboots that go wrong, on the machines of the VM lab. Begins and ends with machines that reserve no pages."""

import contextlib
import sys

import machines as qemu
import pytest
from faults import VMS, switch
from integration.vms import DROP_IN, Machines

ONE, OTHER, THIRD = ("taco-vm-node-%d" % index for index in range(3))


@pytest.fixture(scope="module")
def machines(command):
    return Machines(command)


@pytest.fixture(scope="module", autouse=True)
def back_again(machines):
    yield
    done = machines.pages(playbook="rollback.yml", reboot_batch="100%")
    assert done.returncode == 0, done.stdout
    assert machines.line(ONE) == machines.line(OTHER) == machines.line(THIRD) == []


@contextlib.contextmanager
def broken(node, fault):
    switch(node, fault, True)
    try:
        yield
    finally:
        switch(node, fault, False)


def start_again(command):
    done = command(sys.executable, "labs/vm/vmlab.py", "up", "--nodes", "3", timeout=900)
    assert done.returncode == 0, done.stdout


def power_cycle(command, node):
    qemu.stop(VMS / node)
    start_again(command)


# On one host it fails. On another the SSH server ends with the connection, and systemd starts it again.
BEFORE = "case $(hostname) in %s) exit 1;; %s) pkill -9 sshd;; esac" % (OTHER, THIRD)


def test_every_kind_of_failure_in_one_batch_is_named_at_its_host_and_counted_once(machines, command):
    """Too few pages on one host, a task that fails on another, a third one unreachable. The trial ends at the next power cycle."""
    before = {name: machines.boot_id(name) for name in (OTHER, THIRD)}
    with broken(ONE, "short-pool"):
        done = machines.pages(hugepages_trial=True, reboot_batch="100%", reboot_commands_before=[["sh", "-c", BEFORE]])
        said = " ".join(done.stdout.split())
        assert done.returncode != 0 and "3 failed and reboot_may_fail allows 0" in said, done.stdout
        assert "1 of 2 pages of 1G are reserved, 1 missing" in said and "of memory are free" in said
        assert OTHER + ": Run the commands for before the reboot failed: non-zero return code" in said
        assert THIRD + ": unreachable" in said, said
        assert machines.line(ONE)[-1:] == ["hugepages=2"]
        assert {name: machines.boot_id(name) for name in (OTHER, THIRD)} == before
        assert "No such file" in machines.shell(ONE, "ls " + DROP_IN)
    power_cycle(command, ONE)
    assert machines.line(ONE) == []


def test_a_host_that_does_not_come_back_stops_no_other_of_its_batch_and_the_next_run_goes_on(machines, command):
    switch(ONE, "stays-away", True)
    wait = "{{ 45 if inventory_hostname == '%s' else 240 }}" % ONE
    done = machines.pages(hugepages_trial=True, reboot_batch="100%", reboot_timeout=wait)
    said = " ".join(done.stdout.split())
    assert done.returncode != 0 and "1 failed and reboot_may_fail allows 0" in said, done.stdout
    assert f"2 hosts rebooted and verified: {OTHER}, {THIRD}" in said and ONE + ": Reboot failed: Timed out" in said, (
        said
    )
    # The trial of the healthy ones is over: every boot has the pages from now on.
    for name in (OTHER, THIRD):
        assert machines.line(name)[-1] == "hugepages=2" and "hugepages=2" in machines.shell(name, "cat " + DROP_IN)
    start_again(command)
    done = machines.pages(hugepages_trial=True)
    assert done.returncode == 0, done.stdout
    # The first one came up with its pages by now and is not rebooted once more.
    assert "to reboot in" not in done.stdout
    assert machines.line(ONE)[-1] == machines.line(OTHER)[-1] == "hugepages=2"


def test_hosts_that_come_back_wrong_are_named_together_with_what_each_says(machines):
    """One boots the line of before, the other has less memory than the pages that it is asked for."""
    with broken(ONE, "old-line"):
        count = {"hugepages_count": 4, "hugepages_max_memory_fraction": 1.0}
        done = machines.pages(limit=ONE + "," + OTHER, reboot_batch="100%", **count)
        said = " ".join(done.stdout.split())
        assert done.returncode != 0 and "2 hosts to reboot in 1 batch" in said, said
    # The first one has too few pages, too: what the other says is looked for behind its name.
    results = said.partition("reboot_may_fail allows 0. ")[2].partition(". Correct these hosts")[0]
    of_one, _, of_other = results.partition(". %s: " % OTHER)
    assert of_one.startswith(ONE + ": "), said
    assert "it should say hugepages=4 once for pages of 1G and says hugepages=2" in of_one, said
    assert "of 4 pages of 1G are reserved" in of_other and "missing" in of_other, said
    assert "GiB of memory are free" in of_other and "it should say" not in of_other, said
    assert machines.line(ONE)[-1] == "hugepages=2"
    assert machines.line(OTHER)[-1] == "hugepages=4"

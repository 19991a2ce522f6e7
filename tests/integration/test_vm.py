# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reboots that go wrong, on the machines of the VM lab. Begins and ends with machines that reserve no pages."""

import contextlib

import machines as qemu
import pytest
from faults import VMS, switch
from integration.vms import DROP_IN, Machines

ONE, OTHER = "taco-vm-node-0", "taco-vm-node-1"


@pytest.fixture(scope="module")
def machines(command):
    return Machines(command)


@pytest.fixture(scope="module", autouse=True)
def back_again(machines):
    yield
    done = machines.pages(playbook="rollback.yml", reboot_batch="100%")
    assert done.returncode == 0, done.stdout
    assert machines.line(ONE) == machines.line(OTHER) == []


@contextlib.contextmanager
def broken(node, fault):
    switch(node, fault, True)
    try:
        yield
    finally:
        switch(node, fault, False)


def start_again(command):
    done = command("make", "vm-up", timeout=600)
    assert done.returncode == 0, done.stdout


def power_cycle(command, node):
    qemu.stop(VMS / node)
    start_again(command)


def test_a_trial_that_fails_its_gate_is_over_at_the_next_power_cycle(machines, command):
    with broken(ONE, "short-pool"):
        done = machines.pages(limit=ONE, hugepages_trial=True)
        assert done.returncode != 0, done.stdout
        assert "1 of 2 pages of 1G are reserved, 1 missing" in done.stdout and "of memory are free" in done.stdout
        assert machines.line(ONE)[-1:] == ["hugepages=2"]
        assert "No such file" in machines.shell(ONE, "ls " + DROP_IN)
    power_cycle(command, ONE)
    assert machines.line(ONE) == []


def test_a_host_that_does_not_come_back_stops_the_others_and_the_next_run_goes_on(machines, command):
    before = machines.boot_id(OTHER)
    switch(ONE, "stays-away", True)
    done = machines.pages(reboot_timeout=45)
    assert done.returncode != 0 and "no further batch is started" in " ".join(done.stdout.split()), done.stdout
    assert "batch 2 of 2" not in done.stdout
    assert machines.boot_id(OTHER) == before
    start_again(command)
    done = machines.pages()
    assert done.returncode == 0, done.stdout
    # The first one came up with its pages by now and is not rebooted once more.
    assert "1 host to reboot in 1 batch" in done.stdout
    assert machines.line(ONE)[-1] == machines.line(OTHER)[-1] == "hugepages=2"


def test_hosts_that_come_back_wrong_are_named_together_with_what_each_says(machines):
    """One boots the line of before, the other has less memory than the pages that it is asked for."""
    with broken(ONE, "old-line"):
        done = machines.pages(hugepages_count=4, hugepages_max_memory_fraction=1.0, reboot_batch="100%")
        said = " ".join(done.stdout.split())
        assert done.returncode != 0 and "2 hosts to reboot in 1 batch" in said, said
        assert "it should say hugepages=4 once for pages of 1G and says hugepages=2" in said, said
        assert "of 4 pages of 1G are reserved" in said and "missing" in said, said
        assert "GiB of memory are free" in said, said
    assert machines.line(ONE)[-1] == "hugepages=2"
    assert machines.line(OTHER)[-1] == "hugepages=4"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reboots that go wrong, on the machines of the VM lab, which reserve no pages when it begins."""

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


@contextlib.contextmanager
def broken(node, fault):
    switch(node, fault, True)
    try:
        yield
    finally:
        switch(node, fault, False)


def power_cycle(command, *nodes):
    """Switch machines off, where they still run, and on again."""
    for node in nodes:
        qemu.stop(VMS / node)
    done = command(sys.executable, "labs/vm/vmlab.py", "up", "--nodes", "3", timeout=900)
    assert done.returncode == 0, done.stdout


# While the others boot and are made permanent; the one that switches itself off needs no longer for that.
AWAY_SECONDS = 45


def test_a_batch_names_a_host_that_stays_away_and_one_with_too_few_pages_and_the_next_run_goes_on(machines, command):
    """The trial of the third host is over. That of the one with too few pages ends at its next power cycle."""
    switch(OTHER, "stays-away", True)
    wait = "{{ %d if inventory_hostname == '%s' else 480 }}" % (AWAY_SECONDS, OTHER)
    with broken(ONE, "short-pool"):
        done = machines.pages(hugepages_trial=True, reboot_batch="100%", reboot_timeout=wait)
        said = " ".join(done.stdout.split())
        assert done.returncode != 0 and "2 failed and reboot_may_fail allows 0" in said, done.stdout
        assert "1 of 2 pages of 1G are reserved, 1 missing" in said and "of memory are free" in said
        assert OTHER + ": Reboot failed: Timed out" in said and "1 host rebooted and verified: " + THIRD in said, said
        assert machines.line(ONE)[-1:] == ["hugepages=2"]
        assert "No such file" in machines.shell(ONE, "ls " + DROP_IN)
    # Every boot of the healthy one has the pages from now on.
    assert machines.line(THIRD)[-1] == "hugepages=2" and "hugepages=2" in machines.shell(THIRD, "cat " + DROP_IN)

    power_cycle(command, ONE, OTHER)
    assert machines.line(ONE) == []
    done = machines.pages(limit=OTHER + "," + THIRD, hugepages_trial=True)
    assert done.returncode == 0, done.stdout
    # It came up with its pages by now and is not rebooted once more.
    assert "to reboot in" not in done.stdout
    assert machines.line(OTHER)[-1] == "hugepages=2" and "hugepages=2" in machines.shell(OTHER, "cat " + DROP_IN)


# The SSH server ends with the connection, and systemd starts it again.
BEFORE = "case $(hostname) in %s) pkill -9 sshd;; esac" % ONE


def test_hosts_that_come_back_wrong_and_one_that_is_lost_before_are_named_with_what_each_says(machines):
    """One boots the line of before, one has less memory than the pages that it is asked for, one is unreachable and not rebooted."""
    boot = machines.boot_id(ONE)
    with broken(THIRD, "old-line"):
        count = {"hugepages_count": 4, "hugepages_max_memory_fraction": 1.0}
        done = machines.pages(reboot_batch="100%", reboot_commands_before=[["sh", "-c", BEFORE]], **count)
    said = " ".join(done.stdout.split())
    assert done.returncode != 0 and "3 hosts to reboot in 1 batch" in said, said
    # The one with the line of before has too few pages, too: what each says is looked for behind its name.
    results = said.partition("reboot_may_fail allows 0. ")[2].partition(". Correct these hosts")[0]
    of_one, _, rest = results.partition(". %s: " % OTHER)
    of_other, _, of_third = rest.partition(". %s: " % THIRD)
    assert of_one.startswith(ONE + ": unreachable"), said
    assert "of 4 pages of 1G are reserved" in of_other and "missing" in of_other, said
    assert "GiB of memory are free" in of_other and "it should say" not in of_other, said
    assert "it should say hugepages=4 once for pages of 1G and says hugepages=2" in of_third, said
    assert machines.line(OTHER)[-1] == "hugepages=4" and machines.line(THIRD)[-1] == "hugepages=2"
    assert machines.boot_id(ONE) == boot

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reboots on the machines of the VM lab, which reserve no pages when it begins: such that go wrong, and one of a node of a cluster."""

import contextlib
import sys

import machines as qemu
import pytest
from faults import VMS, switch
from integration.vm_kubelet import kubelet
from integration.vms import DROP_IN, Machines
from kubelab.testing import running_cluster
from node_objects import daemon_pod, pod, put

from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

ONE, OTHER, THIRD = ("taco-vm-node-%d" % index for index in range(3))
CONFLICT = 409
ARGUMENTS = ["default_hugepagesz=1G", "hugepagesz=1G", "hugepages=2"]


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


@pytest.fixture
def cluster():
    with running_cluster([{"name": ONE, "allocatable": {}}]) as running, kubelet(running, ONE):
        put(running, pod("web-1", ONE), daemon_pod("logs", ONE))
        yield running


def test_a_node_of_a_cluster_is_drained_for_its_trial_boot_and_serves_again_with_permanent_pages(machines, cluster):
    boot = machines.boot_id(ONE)
    assert machines.line(ONE) == []

    on_cluster = {"taco_platform": "tke", "taco_kubeconfig": cluster.kubeconfig}
    done = machines.pages(limit=ONE, hugepages_trial=True, **on_cluster)
    assert done.returncode == 0, done.stdout
    # The node was cordoned, its pods but those of daemons were evicted, and it serves again with the pages that it came back with.
    assert [found["metadata"]["name"] for found in cluster.objects("Pod")] == ["logs"]
    node = cluster.get("Node", ONE, None)
    assert node["status"]["nodeInfo"]["bootID"] == machines.boot_id(ONE)
    assert node["status"]["allocatable"]["hugepages-1Gi"] == "2Gi"
    assert not node["spec"].get("unschedulable") and CORDONED not in (node["metadata"].get("annotations") or {})
    # Without those that a report of the kubelet overtook, which are tried again.
    writes = [
        path.rpartition("/")[2]
        for method, path, status in cluster.requests
        if method in ("PATCH", "POST") and status != CONFLICT
    ]
    assert [what for what in writes if what in (ONE, "eviction")] == [ONE, "eviction", ONE]
    assert "1 host to reboot in 1 batch" in done.stdout and "batch 1 of 1: rebooting " + ONE in done.stdout
    assert machines.line(ONE) == ARGUMENTS and machines.boot_id(ONE) != boot
    assert machines.shell(ONE, "cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").strip() == "2"
    assert "pagesize=1024M" in machines.shell(ONE, "findmnt --noheadings --output OPTIONS /dev/hugepages")
    # The kernel of now was booted by the trial; from here on every boot has the pages.
    assert " ".join(ARGUMENTS) in machines.shell(ONE, "cat " + DROP_IN)
    generated = machines.shell(
        ONE, "grep -c 'linux.*hugepages=2' /boot/grub/grub.cfg; grep -c 'linux' /boot/grub/grub.cfg"
    )
    assert generated.split()[0] != "0"
    left = machines.shell(ONE, "ls /boot/grub; cat /boot/grub/grubenv")
    assert "custom.cfg" not in left and "next_entry=taco" not in left


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

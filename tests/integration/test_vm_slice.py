# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One machine that really reboots: a trial boot that passes and stays.

It is a node of a cluster, so that it is drained before the reboot and waited for after it. The second run and the way back are in the
scenario vm of molecule.
"""

import pytest
from integration.vm_kubelet import kubelet
from integration.vms import DROP_IN, Machines
from kubelab.testing import running_cluster
from node_objects import daemon_pod, pod, put

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.drain import CORDONED

NODE = "taco-vm-node-0"
CONFLICT = 409
ARGUMENTS = ["default_hugepagesz=1G", "hugepagesz=1G", "hugepages=2"]


@pytest.fixture(scope="module")
def machines(command):
    return Machines(command)


@pytest.fixture
def cluster():
    with running_cluster([{"name": NODE, "allocatable": {}}]) as running, kubelet(running, NODE):
        put(running, pod("web-1", NODE), daemon_pod("logs", NODE))
        yield running


def test_pages_are_tried_proved_and_made_permanent(machines, cluster):
    boot = machines.boot_id(NODE)
    assert machines.line(NODE) == []

    on_cluster = {"taco_platform": "tke", "taco_kubeconfig": cluster.kubeconfig}
    done = machines.pages(limit=NODE, hugepages_trial=True, **on_cluster)
    assert done.returncode == 0, done.stdout
    # The node was cordoned, its pods but those of daemons were evicted, and it serves again with the pages that it came back with.
    assert [found["metadata"]["name"] for found in cluster.objects("Pod")] == ["logs"]
    node = cluster.get("Node", NODE, None)
    assert node["status"]["nodeInfo"]["bootID"] == machines.boot_id(NODE)
    assert node["status"]["allocatable"]["hugepages-1Gi"] == "2Gi"
    assert not node["spec"].get("unschedulable") and CORDONED not in (node["metadata"].get("annotations") or {})
    # Without those that a report of the kubelet overtook, which are tried again.
    writes = [
        path.rpartition("/")[2]
        for method, path, status in cluster.requests
        if method in ("PATCH", "POST") and status != CONFLICT
    ]
    assert [what for what in writes if what in (NODE, "eviction")] == [NODE, "eviction", NODE]
    assert "1 host to reboot in 1 batch" in done.stdout and "batch 1 of 1: rebooting " + NODE in done.stdout
    assert machines.line(NODE) == ARGUMENTS and machines.boot_id(NODE) != boot
    assert machines.shell(NODE, "cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").strip() == "2"
    assert "pagesize=1024M" in machines.shell(NODE, "findmnt --noheadings --output OPTIONS /dev/hugepages")
    # The kernel of now was booted by the trial; from here on every boot has the pages.
    assert " ".join(ARGUMENTS) in machines.shell(NODE, "cat " + DROP_IN)
    generated = machines.shell(
        NODE, "grep -c 'linux.*hugepages=2' /boot/grub/grub.cfg; grep -c 'linux' /boot/grub/grub.cfg"
    )
    assert generated.split()[0] != "0"
    left = machines.shell(NODE, "ls /boot/grub; cat /boot/grub/grubenv")
    assert "custom.cfg" not in left and "next_entry=taco" not in left

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scheduler's message is read clause by clause, and the holders of a resource are named."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.holders import holders
from ansible_collections.taco.train.plugins.module_utils.cluster.scheduling import (
    UNNAMED_TAINTS,
    fixes,
    read,
    taints,
)

HUGE = "hugepages-1Gi"


@pytest.mark.parametrize(
    ("message", "said", "reasons"),
    [
        (
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had taint {team: a}, that the pod didn't tolerate.",
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had taint {team: a}, that the pod didn't tolerate",
            [(1, "Insufficient cpu"), (2, "node(s) had taint {team: a}, that the pod didn't tolerate")],
        ),
        (
            "0/2 nodes are available: 2 Insufficient hugepages-1Gi. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No "
            "preemption victims found for incoming pod.",
            "0/2 nodes are available: 2 Insufficient hugepages-1Gi",
            [(2, "Insufficient hugepages-1Gi")],
        ),
        (
            "0/2 nodes are available: 2 Insufficient memory. still not schedulable, preemption: not eligible due to "
            "preemptionPolicy=Never..",
            "0/2 nodes are available: 2 Insufficient memory",
            [(2, "Insufficient memory")],
        ),
        (
            '0/2 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/2 nodes are available: 2 Preemption is not '
            "helpful for scheduling.",
            '0/2 nodes are available: persistentvolumeclaim "data" not found',
            [(None, 'persistentvolumeclaim "data" not found')],
        ),
    ],
    ids=["1.20", "claims", "not eligible", "no count"],
)
def test_a_message_is_read_by_clause(message, said, reasons):
    assert read(message) == (said, reasons)


def test_the_control_plane_is_advised_on_only_when_there_is_nothing_else():
    both = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }."
    assert fixes(read(both)) == ["lower mpijob_launcher_cpu, or free CPUs on the nodes"]
    (only,) = fixes(
        read("0/1 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.")
    )
    assert only == "use other nodes, since those of the control plane are kept for it"


CONTROL = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
UNREADY = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
OWN = {"key": "team", "value": "speech", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("of_nodes", "words", "lacks"),
    [
        ([[CONTROL]], [], ["taint"]),
        ([[CORDONED], [CORDONED], []], ["run `kubectl uncordon` for the cordoned nodes: gpu-1, gpu-2"], ["taint"]),
        ([[UNREADY, CONTROL]], ["check the kubelets of the nodes that are not Ready", ": gpu-1"], ["taint"]),
        ([[{"key": "node.kubernetes.io/new", "effect": "NoSchedule"}]], ["kubectl describe node): gpu-1"], ["KEY-"]),
        ([[CORDONED, OWN]], ["kubectl uncordon", "(gpu-1 has team=speech:NoSchedule) with `kubectl taint"], []),
        ([[CORDONED]] * 7, ["gpu-3, gpu-4 and 3 more nodes"], ["gpu-5"]),
    ],
)
def test_taints_that_kubernetes_sets_are_not_to_be_removed_by_hand(of_nodes, words, lacks):
    nodes = [{"metadata": {"name": f"gpu-{place}"}, "spec": {"taints": own}} for place, own in enumerate(of_nodes, 1)]
    (fix,) = fixes(
        read("0/2 nodes are available: 2 node(s) had untolerated taint(s)."), {UNNAMED_TAINTS: taints(nodes)}
    )
    assert all(word in fix for word in words) and not any(word in taints(nodes) for word in lacks), fix


def node(name, pages):
    return {"metadata": {"name": name}, "status": {"allocatable": {HUGE: pages}}}


def pod(name, pages, on=None, phase="Running", namespace="team-b"):
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"nodeName": on, "containers": [{"name": "c", "resources": {"limits": {HUGE: pages}}}]},
        "status": {"phase": phase},
    }


WAITS = pod("j-worker-0", "50Gi", phase="Pending")


def test_whoever_holds_a_resource_is_named():
    pods = [
        pod("big", "40Gi", "gpu-1"),
        pod("small", "5Gi", "gpu-1"),
        pod("over", "60Gi", "gpu-1", "Succeeded"),
        pod("far", "9Gi", "x"),
    ]
    said = holders(HUGE, WAITS, [node("gpu-1", "60Gi"), node("cpu-1", "0")], pods)
    assert "gpu-1 has 15 GiB of 60 GiB free, held by team-b/big (40 GiB), team-b/small (5 GiB)" in said
    assert "lower mpijob_hugepages from the 50 GiB that j-worker-0 requests" in said and "reserve" not in said


def test_nobody_holds_what_the_nodes_do_not_have():
    assert holders(HUGE, WAITS, [node("gpu-1", "40Gi")], [pod("big", "40Gi", "gpu-1")]) is None
    # A node with room is left out for another reason, such as a taint.
    assert holders(HUGE, WAITS, [node("gpu-1", "60Gi")], []) is None


def test_without_the_right_to_list_pods_the_nodes_are_named():
    said = holders(HUGE, WAITS, [node("gpu-1", "60Gi")], None)
    assert "the nodes have hugepages-1Gi" in said and "gpu-1: run `kubectl describe node`" in said


def test_many_holders_and_nodes_are_counted():
    nodes = [node(f"gpu-{index}", "60Gi") for index in range(6)]
    pods = [pod(f"p{index}-{number}", "9Gi", f"gpu-{index}") for index in range(6) for number in range(6)]
    said = holders(HUGE, WAITS, nodes, pods)
    assert "p0-3 (9 GiB) and 2 more" in said and "and 2 more nodes" in said


def test_the_holders_replace_the_advice_of_a_resource():
    found = read("0/2 nodes are available: 1 Insufficient memory, 1 Insufficient hugepages-1Gi.")
    assert fixes(found, {HUGE: "others hold it"}) == [
        "lower mpijob_memory, or free memory on the nodes",
        "others hold it",
    ]


def test_a_job_that_is_in_its_own_way_is_told_so():
    pods = [pod("j-worker-1", "50Gi", "gpu-1")]
    said = holders(HUGE, WAITS, [node("gpu-1", "60Gi")], pods, ["j-worker-0", "j-worker-1"])
    assert "they are all of this job, so lower mpijob_workers, add nodes" in said
    other = holders(
        HUGE, WAITS, [node("gpu-1", "60Gi")], [pod("j-worker-1", "50Gi", "gpu-1", namespace="c")], ["j-worker-1"]
    )
    assert "wait until these pods have ended" in other

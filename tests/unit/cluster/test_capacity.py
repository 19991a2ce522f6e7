# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nodes lack is said of each, and why a job could never start is said once."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import capacity
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import worker_limits

EIGHT = worker_limits(job_of({"workers": 2, "gpus_per_worker": 8}))
TOPOLOGY = worker_limits(job_of({"workers": 2, "gpus_per_worker": 8, "gpu_topology": True}))
ROOMY = {"cpu": "164", "memory": "900000000Ki", "hugepages-1Gi": "50Gi", "hugepages-2Mi": "0", "nvidia.com/gpu": "8"}


def node(name, spec=None, conditions=(), **changes):
    allocatable = {key: value for key, value in {**ROOMY, **changes}.items() if value is not None}
    return {
        "metadata": {"name": name},
        "spec": spec or {},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}, *conditions]},
    }


def lacks(one, limits=EIGHT):
    """Return what a node lacks, after a look that it holds no worker for it."""
    found = capacity([one], limits, 1)
    assert (found.room == 0) == bool(found.shortfalls) == bool(found.problem)
    return found.shortfalls


def test_nodes_that_have_it_all_have_room_and_no_problem():
    assert capacity([node("a"), node("b")], EIGHT, 2) == (2, [], None)
    assert capacity([node("a", **{"nvidia.com/gpu": 16, "hugepages-1Gi": "149Gi"})], EIGHT, 2).room == 2
    assert capacity([node("a", **{"nvidia.com/gpu": 16, "hugepages-1Gi": "150Gi"})], EIGHT, 1).room == 2


def test_too_few_nodes_are_a_problem_although_each_is_well():
    assert capacity([node("a")], EIGHT, 3) == (
        1,
        [],
        "1 node could hold 1 of 3 workers, each asking for 50 GiB of hugepages-1Gi, 100 GiB of memory, 8 of nvidia.com/gpu: "
        "lower the number of workers, or add nodes",
    )


def test_no_nodes_hold_nothing():
    assert capacity([], EIGHT, 1).problem.startswith("0 nodes could hold 0 of 1 workers")


def test_each_shortfall_names_node_resource_and_both_amounts():
    found = lacks(node("gpu-1", **{"hugepages-1Gi": "30Gi", "memory": "64Gi"}))
    assert found == [
        "gpu-1 can allocate 30 GiB of hugepages-1Gi, and a worker asks for 50 GiB: reserve them with the role "
        "taco.train.hugepages, reboot, and restart the node's kubelet if they came without a reboot: it counts them only when it "
        "starts",
        "gpu-1 can allocate 64 GiB of memory, and a worker asks for 100 GiB: lower memory, or use nodes with more; the hugepages "
        "of a node are not part of it",
    ]


def test_one_node_that_lacks_something_leaves_the_others_their_room():
    found = capacity([node("a"), node("b", **{"hugepages-1Gi": None}), node("c")], EIGHT, 2)
    assert (found.room, found.problem) == (2, None)
    assert [sentence.split(":")[0] for sentence in found.shortfalls] == [
        "b can allocate 0 GiB of hugepages-1Gi, and a worker asks for 50 GiB"
    ]
    assert capacity([node("a"), node("b", memory="1Gi")], EIGHT, 2).problem.endswith(
        "add nodes or fix those that lack something"
    )


def test_gpus_under_the_other_name_are_pointed_to():
    labelled = {"nvidia.com/gpu": "0", "aliyun.com/gpu": "8"}
    (sentence,) = lacks(node("a", **labelled))
    assert "0 of nvidia.com/gpu" in sentence and "offers its GPUs as aliyun.com/gpu, so set gpu_topology" in sentence
    assert capacity([node("a", **labelled)], TOPOLOGY, 1).problem is None
    (sentence,) = lacks(node("a"), TOPOLOGY)
    assert "offers its GPUs as nvidia.com/gpu, so label the node ack.node.gpu.schedule=topology" in sentence
    (sentence,) = lacks(node("a", **{"nvidia.com/gpu": "4"}), TOPOLOGY)
    assert sentence.endswith(": label the node ack.node.gpu.schedule=topology and wait until it offers them")
    (sentence,) = lacks(node("a", **{"nvidia.com/gpu": None}))
    assert sentence.endswith(": check that the device plugin runs on the node, or leave it out of the job")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (node("a", {"unschedulable": True}), "a is cordoned: run kubectl uncordon a"),
        (node("a", {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}), "a has the taint dedicated"),
        (node("a", {"taints": [{"key": "old", "effect": "NoExecute"}]}), "a has the taint old"),
        (
            node("a", {"taints": [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]}),
            "a has the taint node.kubernetes.io/disk-pressure, which the workers don't tolerate: free disk space",
        ),
        (
            node("a", {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}),
            "a has the taint node-role.kubernetes.io/control-plane, which the workers don't tolerate: use other nodes",
        ),
    ],
)
def test_a_node_that_takes_no_pods_has_no_room(one, words):
    (sentence,) = lacks(one)
    assert sentence.startswith(words)


def test_what_a_taint_repeats_is_said_once():
    taints = [{"key": f"node.kubernetes.io/{word}", "effect": "NoSchedule"} for word in ("unschedulable", "not-ready")]
    gone = node("a", {"unschedulable": True, "taints": taints})
    gone["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting"}]
    assert [sentence.split(":")[0] for sentence in lacks(gone)] == [
        "a is cordoned",
        "a is not Ready (Kubelet stopped posting)",
    ]


def test_taints_that_shut_nobody_out_leave_the_room():
    taints = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "busy", "effect": "PreferNoSchedule"}]
    assert capacity([node("a", {"taints": taints})], EIGHT, 1) == (1, [], None)


def test_an_amount_that_cannot_be_read_is_named():
    with pytest.raises(MpijobError, match="allocatable memory of a is 'much'"):
        capacity([node("a", memory="much")], EIGHT, 1)


def test_a_node_that_does_not_know_a_resource_has_none_of_it():
    (sentence,) = lacks(node("a", **{"nvidia.com/gpu": None}), {"nvidia.com/gpu": 1})
    assert sentence.startswith("a can allocate 0 of nvidia.com/gpu, and a worker asks for 1: ")


def test_parts_of_a_processor_are_counted():
    (sentence,) = lacks(node("a", cpu="1500m"), {"cpu": 2})
    assert sentence.startswith("a can allocate 1.5 of cpu, and a worker asks for 2: lower the request")
    assert capacity([node("a", cpu="1500m")], {"cpu": "500m"}, 3).room == 3

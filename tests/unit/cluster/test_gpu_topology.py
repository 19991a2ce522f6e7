# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a node of ACK comes to schedule its GPUs by topology, and back to what it was."""

import json

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster import gpu_topology
from ansible_collections.taco.train.plugins.module_utils.cluster.gpu_topology import BEFORE, LABEL, plan
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError


def node(name="n1", label=None, before=None, **allocatable):
    names = {"nvidia": "nvidia.com/gpu", "aliyun": "aliyun.com/gpu", "memory": "aliyun.com/gpu-mem"}
    metadata = {"name": name, "labels": {} if label is None else {LABEL: label}}
    if before is not None:
        metadata["annotations"] = {BEFORE: before}
    offered = {names[key]: str(value) for key, value in allocatable.items()}
    return {"metadata": metadata, "status": {"allocatable": offered}}


def pod(on="n1", phase="Running", where="containers", limits=None, **requests):
    asked = {"limits": limits or {}, **requests} if limits or requests else {"limits": {"nvidia.com/gpu": "8"}}
    spec = {"nodeName": on, where: [{"name": "main", "resources": asked}]}
    return {"metadata": {"name": "trainer", "namespace": "research"}, "spec": spec, "status": {"phase": phase}}


def applied(found):
    """Return a function that brings a node to a state, as a cluster would with the patches."""

    def one(patch):
        for part in ("labels", "annotations"):
            have = found["metadata"].setdefault(part, {})
            for key, value in ((patch or {}).get("metadata", {}).get(part) or {}).items():
                have.pop(key, None) if value is None else have.update({key: value})

    def run(state):
        (step,), problems, _gone = plan([found], [], [found["metadata"]["name"]], state)
        assert not problems
        one(gpu_topology.patch(step))
        label = found["metadata"]["labels"].get(LABEL)
        found["status"]["allocatable"] = {
            "topology": {"aliyun.com/gpu": "8"},
            "share": {"aliyun.com/gpu-mem": "120"},
        }.get(label, {"nvidia.com/gpu": "8"})
        assert gpu_topology.waiting([found], [step]) == {}
        (last,), _problems, _gone = plan([found], [], [found["metadata"]["name"]], state)
        one(gpu_topology.last_patch(last))
        return step

    return run


def test_topology_is_put_and_what_was_there_remembered():
    (step,), problems, _gone = plan([node(nvidia=8)], [], ["n1"], "topology")
    assert problems == [] and step.changes
    assert gpu_topology.patch(step) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {LABEL: "topology"}, "annotations": {BEFORE: "null"}},
    }
    assert gpu_topology.last_patch(step) is None
    assert gpu_topology.shown([step]) == ({"n1": None}, {"n1": "topology"})


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (node(label="topology", aliyun=8), "topology"),
        (node(label="default", nvidia=8), "default"),
        (node(nvidia=8), "default"),
        (node(nvidia=8), "restored"),
        (node(label="topology", aliyun=8), "restored"),
    ],
)
def test_what_is_as_wanted_is_left_alone(found, state):
    (step,), problems, _gone = plan([found], [pod()], ["n1"], state)
    assert not step.changes and problems == []
    assert gpu_topology.patch(step) is None and gpu_topology.last_patch(step) is None


@pytest.mark.parametrize("label", [None, "default", "topology", "share"])
@pytest.mark.parametrize(
    "way", [["topology"], ["default"], ["topology", "default"], ["default", "topology", "topology"]]
)
def test_whatever_the_way_restored_puts_back_what_there_was(label, way):
    found = node(label=label, **({"aliyun": 8} if label == "topology" else {"nvidia": 8}))
    before = json.dumps(found["metadata"], sort_keys=True)
    run = applied(found)
    for state in way:
        run(state)
        assert found["metadata"]["labels"].get(LABEL) == state or label is None
    run("restored")
    found["metadata"].setdefault("annotations", {})
    assert found["metadata"]["labels"].get(LABEL) == label
    assert found["metadata"]["annotations"] == {}
    assert json.loads(before)["labels"] == found["metadata"]["labels"]
    assert not run("restored").changes


def test_without_a_label_the_way_back_is_by_the_usual_one():
    (step,) = plan([node(label="topology", before="null", aliyun=8)], [], ["n1"], "restored").steps
    assert (step.during, step.after, step.resource) == ("default", None, "nvidia.com/gpu")
    (last,) = plan([node(label="default", before="null", nvidia=8)], [], ["n1"], "restored").steps
    assert gpu_topology.last_patch(last)["metadata"] == {
        "name": "n1",
        "labels": {LABEL: None},
        "annotations": {BEFORE: None},
    }


@pytest.mark.parametrize(
    "holder",
    [
        pod(),
        pod(phase="Pending"),
        pod(where="initContainers"),
        pod(limits={"aliyun.com/gpu": 1}),
        pod(requests={"aliyun.com/gpu-mem": "4"}),
    ],
)
def test_a_node_on_which_pods_have_gpus_is_refused_and_they_are_named(holder):
    assert plan([node(nvidia=8)], [holder], ["n1"], "topology").problems == [
        "n1 can't be labelled ack.node.gpu.schedule=topology while pods have its GPUs (research/trainer): let them end, or "
        "delete them"
    ]


@pytest.mark.parametrize(
    "other",
    [
        pod(phase="Succeeded"),
        pod(phase="Failed"),
        pod(on="n2"),
        pod(limits={"memory": "4Gi"}),
        pod(limits={"nvidia.com/gpu": "0"}),
    ],
)
def test_pods_without_gpus_of_the_node_keep_nobody_from_it(other):
    assert plan([node(nvidia=8), node("n2")], [other], ["n1"], "topology").problems == []


def test_all_nodes_are_judged_and_every_problem_is_said():
    nodes = [node(nvidia=8), node("n2", before="what?", label="topology")]
    found = plan(nodes, [pod()], ["n1", "n2", "n3"], "topology")
    assert [problem.split(" ")[0] for problem in found.problems] == ["n1", "n2", "the"]
    assert "taco.train did not write" in found.problems[1]
    assert found.problems[2] == "the cluster has no node n3, it has n1, n2: set taco_node_name for the host"


def test_a_label_that_somebody_else_put_is_not_restored_over():
    (problem,) = plan([node(label="mig", before='"default"')], [], ["n1"], "restored").problems
    assert "n1 has ack.node.gpu.schedule=mig" in problem


def test_a_label_that_somebody_else_removed_is_said_to_be_removed():
    (problem,) = plan([node(before='"share"')], [], ["n1"], "restored").problems
    assert "n1 has no label ack.node.gpu.schedule any more" in problem and "None" not in problem
    assert "kubectl label node n1 ack.node.gpu.schedule=share" in problem


def test_a_node_that_left_the_cluster_keeps_no_other_from_being_restored():
    nodes = [node(label="topology", before="null", aliyun=8)]
    found = plan(nodes, [], ["n1", "n2"], "restored")
    assert [step.node for step in found.steps] == ["n1"] and found.problems == []
    assert found.gone == ["the cluster has no node n2, it has n1: set taco_node_name for the host"]
    for names, state in ((["n1", "n2"], "topology"), (["n2", "n3"], "restored")):
        found = plan(nodes, [], names, state)
        assert found.problems and not found.gone


def test_a_change_is_of_the_node_that_was_read_and_the_last_one_undoes_no_label_of_others():
    found = node(label="topology", before="null", aliyun=8)
    found["metadata"]["resourceVersion"] = "7"
    (step,) = plan([found], [], ["n1"], "restored").steps
    assert gpu_topology.patch(step)["metadata"]["resourceVersion"] == "7"
    with pytest.raises(MpijobError, match="n1 got the label ack.node.gpu.schedule=topology from something else"):
        gpu_topology.last_patch(step)


@pytest.mark.parametrize(
    ("state", "resource", "daemonset"),
    [
        ("topology", "aliyun.com/gpu", "gputopo-device-plugin-ds"),
        ("default", "nvidia.com/gpu", "nvidia-device-plugin-recover"),
    ],
)
def test_a_node_that_offers_nothing_is_named_with_its_daemonset(state, resource, daemonset):
    nodes = [node("n1"), node("n2", nvidia=8, aliyun=8)]
    steps = plan([node("n1", label="share"), node("n2", label="share")], [], ["n1", "n2"], state).steps
    (said,) = gpu_topology.waiting(nodes, steps).values()
    assert said.startswith(f"n1 doesn't offer {resource} yet: check the pod of the daemonset {daemonset} on it")
    assert "spec.nodeName=n1" in said


def test_a_state_and_nodes_are_needed():
    with pytest.raises(MpijobError, match="expected one of topology, default, restored"):
        plan([node()], [], ["n1"], "mig")
    with pytest.raises(MpijobError, match="there are no nodes to label"):
        plan([node()], [], [], "topology")

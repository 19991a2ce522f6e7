# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module gpu_topology on a cluster whose nodes offer what their labels say."""

import pytest
from kubelab.testing import running_cluster
from kubernetes_modules import execute, lose_first_answer

from ansible_collections.taco.train.plugins.module_utils.cluster import client, gpu_nodes

LABEL, BEFORE = "ack.node.gpu.schedule", "taco.train/gpu-schedule-before"
NAMES = ["gpu1", "gpu2"]
WRITES = ("POST", "PUT", "PATCH", "DELETE")
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trainer", "namespace": "default"}}
POD["spec"] = {
    "nodeName": "gpu2",
    "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}],
}
POD["status"] = {"phase": "Running"}


class Nodes:
    def __init__(self, cluster):
        self.cluster = cluster

    def to(self, state, check=False, **options):
        given = {"nodes": NAMES, "kubeconfig": self.cluster.kubeconfig, "wait_timeout": 10, "poll": 0.02}
        result = execute("taco.train.gpu_topology", {**given, "state": state, **options}, check=check)
        assert not result.get("failed"), result["msg"]
        return result

    def refused(self, state, *words, **options):
        before = len(self.written())
        given = {"nodes": NAMES, "kubeconfig": self.cluster.kubeconfig, "wait_timeout": 10, "poll": 0.02}
        result = execute("taco.train.gpu_topology", {**given, "state": state, **options})
        for word in words:
            assert result["failed"] and word in result["msg"], result["msg"]
        return len(self.written()) - before

    def written(self):
        return [request for request in self.cluster.requests if request[0] in WRITES]

    def metadata(self):
        found = [node["metadata"] for node in self.cluster.objects("Node")]
        return [((one.get("labels") or {}).get(LABEL), (one.get("annotations") or {}).get(BEFORE)) for one in found]


@pytest.fixture
def nodes():
    offered = {"nvidia.com/gpu": "8", "cpu": "8", "memory": "64Gi", "pods": "110"}
    with running_cluster([{"name": name, "allocatable": dict(offered), "labels": {}} for name in NAMES]) as cluster:
        yield Nodes(cluster)


def test_topology_and_back_to_what_it_was(nodes):
    first = nodes.to("topology")
    assert first["changed"] and first["before"] == {"gpu1": None, "gpu2": None}
    assert nodes.metadata() == [("topology", "null")] * 2
    assert not nodes.to("topology")["changed"]
    assert nodes.to("default")["changed"] and nodes.metadata() == [("default", "null")] * 2
    back = nodes.to("restored")
    assert back["changed"] and back["after"] == {"gpu1": None, "gpu2": None}
    assert nodes.metadata() == [(None, None)] * 2
    assert not nodes.to("restored")["changed"]


def test_check_mode_predicts_and_writes_nothing(nodes):
    predicted = nodes.to("topology", check=True)
    assert nodes.written() == [] and predicted["changed"]
    assert nodes.to("topology")["diff"] == predicted["diff"]


def test_no_node_is_changed_while_pods_have_gpus_of_one(nodes):
    nodes.cluster.put(POD)
    assert nodes.refused("topology", "no node was changed", "gpu2 can't be labelled", "(default/trainer)") == 0
    assert nodes.metadata() == [(None, None)] * 2


def test_a_pod_that_is_being_deleted_is_waited_for(nodes):
    leaving = {**POD, "metadata": {**POD["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    nodes.cluster.put(leaving)
    assert nodes.to("topology")["changed"]


def test_a_node_whose_plugin_does_not_come_is_named_with_it(nodes):
    (node,) = [one for one in nodes.cluster.objects("Node") if one["metadata"]["name"] == "gpu2"]
    node["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    nodes.cluster.put(node)
    said = (
        "after 0 s gpu2 doesn't offer aliyun.com/gpu yet",
        "gputopo-device-plugin-ds",
        "set gpu_topology_state: restored, with ack.yml ack_state: restored",
    )
    nodes.refused("topology", *said, wait_timeout=0, nodes=["gpu2"])
    # What there was is still known, so that a run after this one can put it back.
    assert ("topology", "null") in nodes.metadata()


def test_a_node_that_is_not_there_is_named(nodes):
    assert nodes.refused("topology", "the cluster has no node gpu3, it has gpu1, gpu2", nodes=["gpu1", "gpu3"]) == 0


def test_what_is_forbidden_is_said(nodes):
    nodes.cluster.forbid("patch", "nodes")
    nodes.refused("topology", "patch", "nodes")


def test_trouble_that_passes_is_waited_out(nodes):
    nodes.cluster.fail("PATCH", "/api/v1/nodes/gpu1", 500, 1)
    assert nodes.to("topology")["changed"] and nodes.metadata() == [("topology", "null")] * 2


def test_a_node_that_left_the_cluster_is_warned_of_and_the_others_are_restored(nodes):
    nodes.to("topology")
    nodes.cluster.delete("Node", "gpu2", None)
    done = nodes.to("restored")
    assert done["changed"] and nodes.metadata() == [(None, None)]
    assert done["warnings"] == [
        "not restored: the cluster has no node gpu2, it has gpu1: set taco_node_name for the host"
    ]


def meddle(monkeypatch, step, function):
    """Call a function once, right before the first change of a step of the module is sent."""
    real, once = gpu_nodes.gpu_topology.__dict__[step], [function]

    def patch(found):
        made = real(found)
        if made is not None and once:
            once.pop()()
        return made

    monkeypatch.setattr(gpu_nodes.gpu_topology, step, patch)


def test_a_mark_is_kept_when_another_run_restores_between_look_and_change(nodes, monkeypatch):
    nodes.to("topology")
    nodes.to("default")
    meddle(monkeypatch, "patch", lambda: nodes.to("restored"))
    assert nodes.to("topology")["changed"] and nodes.metadata() == [("topology", "null")] * 2
    nodes.to("restored")
    assert nodes.metadata() == [(None, None)] * 2


def report(nodes, name="gpu1"):
    """Change a node as its kubelet does, which says nothing of its labels."""
    node = nodes.cluster.get("Node", name, None)
    node["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": str(len(nodes.written()))}]
    nodes.cluster.put(node)


@pytest.mark.parametrize("step", ["patch", "last_patch"])
def test_the_report_of_a_kubelet_is_no_error(nodes, monkeypatch, step):
    nodes.to("topology")
    meddle(monkeypatch, step, lambda: report(nodes))
    assert nodes.to("restored")["changed"] and nodes.metadata() == [(None, None)] * 2
    assert [request[2] for request in nodes.written()].count(409) == 1


def test_a_node_that_leaves_between_look_and_change_is_named(nodes, monkeypatch):
    meddle(monkeypatch, "patch", lambda: nodes.cluster.delete("Node", "gpu1", None))
    nodes.refused("topology", "node gpu1 left the cluster while it was to be labelled: run this again")


def test_a_node_that_is_changed_again_and_again_is_named_in_the_end(nodes, monkeypatch):
    monkeypatch.setattr(client.Client, "change", always_report(nodes, client.Client.change))
    monkeypatch.setattr(client.Clock, "sleep", lambda _self, _seconds: None)
    nodes.refused("topology", "can't change Node gpu1: another client changed it at the same time", "run it again")


def always_report(nodes, real):
    def change(self, patch, doing=None):
        report(nodes)
        return real(self, patch, doing)

    return change


def test_pods_that_come_between_look_and_change_are_respected(nodes, monkeypatch):
    def come():
        report(nodes)
        nodes.cluster.put({**POD, "spec": {**POD["spec"], "nodeName": "gpu1"}})

    meddle(monkeypatch, "patch", come)
    nodes.refused(
        "topology", "another client changed node gpu1 at the same time", "(default/trainer)", "run this again"
    )
    assert nodes.metadata()[0] == (None, None)


def test_a_label_that_another_run_puts_while_a_node_is_restored_stays_with_its_mark(nodes, monkeypatch):
    nodes.to("topology")
    meddle(monkeypatch, "last_patch", lambda: nodes.to("topology"))
    nodes.refused("restored", "gpu1 got the label ack.node.gpu.schedule=topology from something else")
    assert nodes.metadata() == [("topology", "null")] * 2


def test_an_answer_that_was_lost_is_no_error(nodes, monkeypatch):
    lost = lose_first_answer(monkeypatch)
    assert nodes.to("topology")["changed"] and nodes.metadata() == [("topology", "null")] * 2
    assert lost

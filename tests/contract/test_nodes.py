# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node is cordoned, drained, awaited and labelled, and what others did to it stays."""

import copy

import pytest

MARK = "taco.train/cordoned"
OPEN, OURS, THEIRS = (False, False), (True, True), (True, False)
SCHEDULE = "ack.node.gpu.schedule"
# A real node runs pods of others.
PODS = {"force": True, "delete_emptydir_data": True}


class Node:
    """The node of the suite, and what is on it."""

    def __init__(self, cluster):
        self.cluster, self.name = cluster, cluster.node
        self.seconds = cluster.seconds

    def options(self, state, options):
        return {"name": self.name, "state": state, "timeout": 20 * self.seconds, "poll": 0.05, **options}

    def to(self, state, check=False, **options):
        return self.cluster.run("kubernetes_node", check, **self.options(state, options))

    def refused(self, state, *words, **options):
        return self.cluster.fails("kubernetes_node", *words, **self.options(state, options))

    def cordoned(self):
        node = self.cluster.get("Node", self.name)
        return bool(node["spec"].get("unschedulable")), MARK in (node["metadata"].get("annotations") or {})

    def cordon(self, value=True):
        self.cluster.patch("Node", self.name, spec={"unschedulable": value})

    def run_pod(self, name, volumes=()):
        """Run a pod of nobody on the node."""
        container = {"name": "main", "image": "registry.k8s.io/pause:3.9"}
        spec = {"nodeName": self.name, "containers": [container], "volumes": list(volumes)}
        spec["terminationGracePeriodSeconds"] = 1
        metadata = {"name": name, "labels": {"app": "web"}}
        self.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        self.cluster.wait(lambda: self.cluster.get("Pod", name)["status"].get("phase") == "Running")

    def is_read(self):
        """Return whether the module has looked at the node."""
        return any(path.startswith("/api/v1/nodes") for _method, path, _status in self.cluster.double.requests)

    def budget(self):
        """Let no pod of the label be evicted."""
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        self.cluster.create(
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all-web"}, "spec": spec}
        )


@pytest.fixture
def node(cluster):
    return Node(cluster)


def test_a_node_is_drained_and_serves_again(node):
    node.run_pod("web-1")
    predicted = node.to("drained", check=True, **PODS)
    where = f"{node.cluster.namespace}/web-1"
    assert predicted["changed"] and where in predicted["pods"] and node.cordoned() == OPEN
    done = node.to("drained", **PODS)
    assert (done["changed"], done["ours"], node.cordoned()) == (True, True, OURS)
    assert node.cluster.names("Pod") == [] and f"kubectl uncordon {node.name}" in done["left"]
    assert not node.to("drained", **PODS)["changed"]
    back = node.to("uncordoned")
    assert (back["changed"], back["ours"], node.cordoned()) == (True, True, OPEN)
    assert not node.to("uncordoned")["changed"]


def test_a_node_that_another_client_has_cordoned_stays_so(node):
    node.cordon()
    done = node.to("drained", **PODS)
    assert (done["ours"], done["left"], node.cordoned()) == (False, None, THEIRS)
    back = node.to("uncordoned")
    assert (back["changed"], node.cordoned()) == (False, THEIRS)
    node.cordon(None)


def test_a_node_may_only_be_cordoned(node):
    node.run_pod("web-1")
    assert node.to("drained", drain=False)["changed"]
    assert node.cordoned() == OURS and node.cluster.names("Pod") == ["web-1"]
    assert node.to("drained", grace=1, **PODS)["changed"] and node.cluster.names("Pod") == []


def test_a_grace_that_the_api_would_take_for_none_is_refused(node):
    node.refused("drained", "grace is 0", "kubernetes_node_grace", grace=0)
    assert node.cordoned() == OPEN


@pytest.mark.parametrize("volumes", [[], [{"name": "x", "emptyDir": {}}]], ids=["no controller", "emptyDir"])
def test_pods_that_would_lose_something_are_refused_before_the_node_is_changed(node, volumes):
    node.run_pod("lone", volumes)
    option = "delete_emptydir" if volumes else "kubernetes_node_force"
    allowed = {"force": bool(volumes), "delete_emptydir_data": not volumes}
    node.refused("drained", option, "lone", **allowed)
    assert node.cordoned() == OPEN and node.cluster.names("Pod") == ["lone"]


def test_a_budget_that_never_lets_go_is_named_and_the_node_serves_again(node):
    node.run_pod("web-1")
    node.budget()
    pod = f"{node.cluster.namespace}/web-1"
    budget = "the PodDisruptionBudget all-web"
    node.refused("drained", node.name, pod, budget, "uncordoned again", timeout=2 * node.seconds, **PODS)
    assert node.cordoned() == OPEN and node.cluster.names("Pod") == ["web-1"]


def test_a_node_cordoned_before_stays_so_when_it_cannot_be_drained(node):
    node.cordon()
    node.run_pod("web-1")
    node.budget()
    node.refused("drained", "was cordoned before, and stays cordoned", timeout=2 * node.seconds, **PODS)
    assert node.cordoned() == THEIRS
    node.cordon(None)


def test_a_missing_permission_is_named_and_evicts_nothing(node):
    node.run_pod("web-1")
    account = node.cluster.account(("patch", "nodes"))
    node.refused("drained", "may not patch nodes", **PODS, **account)
    assert node.cordoned() == OPEN and node.cluster.names("Pod") == ["web-1"]


def test_a_missing_permission_to_evict_is_named_and_the_node_serves_again(node):
    node.run_pod("web-1")
    account = node.cluster.account(("create", "pods/eviction"))
    node.refused("drained", "pods/eviction", timeout=2 * node.seconds, **PODS, **account)
    assert node.cordoned() == OPEN and node.cluster.names("Pod") == ["web-1"]


@pytest.mark.parametrize("state", ["drained", "uncordoned", "ready"])
def test_a_host_that_is_no_node_is_refused_with_the_variable(node, state):
    node.refused(state, "the cluster has no node nowhere", "taco_node_name", name="nowhere")
    node.refused(state, "the name of the node is empty", "taco_node_name", name=" ")
    assert node.cordoned() == OPEN


def test_a_mark_is_removed_from_a_node_that_another_client_uncordoned(node):
    node.to("drained", drain=False)
    node.cordon(None)
    done = node.to("uncordoned")
    assert (done["changed"], done["ours"], node.cordoned()) == (True, False, OPEN)
    assert not node.to("uncordoned")["changed"]


def test_a_ready_node_offers_the_resources_and_others_are_named(node):
    found = node.to("ready", resources={"pods": 1})
    assert not found["changed"] and found["problems"] == [] and found["node"]["metadata"]["name"] == node.name
    node.refused(
        "ready", "is not back after", "example.com/none", resources={"example.com/none": 1}, timeout=node.seconds
    )
    found = node.to("ready", resources={"example.com/none": 1}, timeout=0, gate=False)
    assert len(found["problems"]) == 1
    node.refused("ready", "pages ", pages={"3G": 1})


@pytest.mark.double_only(reason="a node whose resources change")
def test_a_node_is_waited_for_until_it_offers_the_resources(double):
    node = Node(double())
    offer = node.cluster.double.get("Node", node.name, None)
    changed = copy.deepcopy(offer)
    for part in ("allocatable", "capacity"):
        changed["status"][part]["nvidia.com/gpu"] = "0"
    node.cluster.double.put(changed)
    with node.cluster.meanwhile(node.is_read, lambda: node.cluster.double.put(offer)):
        assert node.to("ready", resources={"nvidia.com/gpu": 8})["problems"] == []


@pytest.mark.double_only(reason="a node that leaves the cluster")
@pytest.mark.parametrize("returns", [True, False])
def test_a_node_that_leaves_is_waited_for(double, returns):
    node = Node(double())
    lack = {"resources": {"example.com/none": 1}}

    def leave():
        node.cluster.double.delete("Node", node.name, None)
        if returns:
            node.cluster.double.add_node(node.name, allocatable={"example.com/none": "1"})

    with node.cluster.meanwhile(node.is_read, leave):
        if returns:
            assert node.to("ready", **lack)["problems"] == []
        else:
            node.refused("ready", "journalctl -u kubelet", timeout=3, gate=False, **lack)


@pytest.mark.double_only(reason="an eviction that is refused at first")
def test_an_eviction_that_is_refused_is_tried_again(double):
    node = Node(double())
    node.run_pod("web-1")
    refusal = "Cannot evict pod as it would violate the pod's disruption budget."
    node.cluster.double.fail("POST", "web-1/eviction", status=429, times=3, body=refusal)
    node.cluster.double.fail("PATCH", "nodes/", status=503, times=2)
    node.cluster.double.fail("GET", "nodes/", status=500, times=1)
    assert node.to("drained", **PODS)["changed"]
    assert node.cordoned() == OURS and node.cluster.names("Pod") == []


@pytest.mark.double_only(reason="an answer that is lost")
def test_a_cordon_whose_answer_was_lost_is_ours(double):
    node = Node(double())
    node.cluster.double.fail("PATCH", "nodes/", body="disconnect-after", times=1)
    done = node.to("drained", drain=False)
    assert (done["changed"], done["ours"], node.cordoned()) == (True, True, OURS)
    node.cluster.double.fail("PATCH", "nodes/", body="disconnect-after", times=1)
    back = node.to("uncordoned")
    assert (back["changed"], back["ours"], node.cordoned()) == (True, True, OPEN)


@pytest.mark.double_only(reason="the label moves the GPUs of a node of ACK")
def test_the_label_of_a_node_is_set_and_put_back(double):
    cluster = double()
    options = {"nodes": ["gpu-1", "gpu-2"], "wait_timeout": 20, "poll": 0.05}

    def labels():
        nodes = [cluster.get("Node", name) for name in options["nodes"]]
        return [(node["metadata"].get("labels") or {}).get(SCHEDULE) for node in nodes]

    assert cluster.run("gpu_topology", check=True, state="topology", **options)["changed"] and labels() == [None] * 2
    assert cluster.run("gpu_topology", state="topology", **options)["changed"] and labels() == ["topology"] * 2
    assert not cluster.run("gpu_topology", state="topology", **options)["changed"]
    assert cluster.run("gpu_topology", state="restored", **options)["changed"] and labels() == [None] * 2
    assert not cluster.run("gpu_topology", state="restored", **options)["changed"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pods leave a node, what keeps them, and whose cordon it is."""

import pytest
from kubelab.patches import merged
from node_objects import budget, daemon_pod, pod

from ansible_collections.taco.train.plugins.module_utils.cluster import drain
from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

EMPTY_DIR = {"name": "scratch", "emptyDir": {}}


def names(pods):
    return [drain.name_of(one) for one in pods]


def test_pods_of_the_node_itself_and_those_that_ended_stay():
    static = pod("static", "n1", None, annotations={"kubernetes.io/config.mirror": "x"})
    pods = [
        pod("web", "n1"),
        daemon_pod("plugin", "n1"),
        static,
        pod("done", "n1", phase="Succeeded"),
        pod("lone", "n1", None),
    ]
    assert names(drain.leaving(pods)) == ["default/web", "default/lone"]


@pytest.mark.parametrize(
    "options, words",
    [
        (
            (False, False),
            [
                "default/lone",
                "kubernetes_node_force: true",
                "default/w (of ReplicaSet of-w)",
                "delete_emptydir_data: true",
            ],
        ),
        ((True, False), ["default/w (of ReplicaSet of-w)"]),
        ((False, True), ["default/lone"]),
        ((True, True), []),
    ],
)
def test_what_would_be_lost_is_named_all_at_once(options, words):
    pods = [
        pod("web", "n1"),
        pod("lone", "n1", None),
        pod("w", "n1", volumes=[EMPTY_DIR]),
        daemon_pod("d", "n1", volumes=[EMPTY_DIR]),
    ]
    found = drain.obstacles(pods, *options)
    assert all(word in "; ".join(found) for word in words) and bool(found) == bool(words)
    assert "default/web" not in "; ".join(found) and "default/d" not in "; ".join(found)


def test_pods_are_named_with_the_budget_that_holds_them():
    pods = [
        pod("web", "n1"),
        pod("slow", "n1", labels={"app": "slow"}, deletionTimestamp="2026-11-21T00:00:00Z"),
        pod("other", "n1", labels={"app": "free"}),
        daemon_pod("plugin", "n1"),
    ]
    budgets = [budget("all-web", 1, desiredHealthy=1, currentHealthy=1), budget("lax", 0, "free", disruptionsAllowed=1)]
    web, slow, other = drain.held(pods, budgets)
    assert web == (
        "default/web (of ReplicaSet of-web) is held by the PodDisruptionBudget all-web (it wants 1 healthy pods, and 1 are)"
    )
    assert slow.endswith("is being deleted and has not ended yet")
    assert other.endswith("is still there, and no eviction of it was accepted: check `kubectl describe pod`")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"finalizers": ["example.com/kept"]}, "has the finalizers example.com/kept: check the controller"),
        ({"deletionGracePeriodSeconds": 3600}, "its grace period gives it 3600 s: set kubernetes_node_grace to fewer"),
    ],
)
def test_a_pod_that_does_not_end_says_what_keeps_it(metadata, words):
    (said,) = drain.held([pod("slow", "n1", deletionTimestamp="2026-11-21T00:00:00Z", **metadata)], [])
    assert "default/slow" in said and words in said


def test_a_pod_of_two_budgets_can_not_be_evicted():
    budgets = [budget("one", 1, disruptionsAllowed=1), budget("two", 1, disruptionsAllowed=1)]
    (said,) = drain.held([pod("web", "n1")], budgets)
    assert "has more than one PodDisruptionBudget (one, two), with which it can't be evicted: remove one" in said


@pytest.mark.parametrize(
    "selector, takes",
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "x"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "SomethingNew"}]}, False),
    ],
)
def test_a_selector_takes_labels_as_kubernetes_has_it(selector, takes):
    assert drain.selects(selector, {"app": "web"}) is takes


@pytest.mark.parametrize("annotations", [{}, {"theirs": "1"}])
def test_a_cordon_of_ours_is_known_as_such_and_leaves_nothing(annotations):
    before = {"metadata": {"name": "n1", "annotations": annotations}, "spec": {"podCIDR": "10.0.0.0/24"}}
    during = merged(before, drain.cordon(before, "now"))
    assert drain.is_cordoned(during) and drain.is_ours(during)
    assert drain.cordon(during, "later") is None
    after = merged(during, drain.uncordon(during))
    assert {key: after[key] for key in before} == before
    assert drain.uncordon(after) is None


def test_a_cordon_of_others_is_theirs():
    assert not drain.is_ours({"spec": {"unschedulable": True}})
    # Somebody has uncordoned it by hand and not removed the mark: it says nothing of what comes later.
    assert not drain.is_ours({"metadata": {"annotations": {CORDONED: "then"}}, "spec": {}})


def manager(name, **fields):
    return {"manager": name, "operation": "Update", "fieldsV1": fields}


MARK_FIELD = {"f:annotations": {f"f:{CORDONED}": {}}}
CORDON_FIELD = {"f:unschedulable": {}}
PYTHON = {"f:metadata": MARK_FIELD, "f:spec": CORDON_FIELD}


@pytest.mark.parametrize(
    "managers, ours",
    [
        ([], True),
        ([manager("kubelet", **{"f:status": {}}), {}], True),
        ([manager("OpenAPI-Generator", **PYTHON), manager("kubelet", **{"f:spec": {"f:podCIDR": {}}})], True),
        ([manager("OpenAPI-Generator", **{"f:metadata": MARK_FIELD}), manager("k", **{"f:spec": CORDON_FIELD})], False),
        ([manager("OpenAPI-Generator", **PYTHON), manager("applier", **{"f:spec": CORDON_FIELD})], False),
        ([manager("kubelet", **{"f:spec": None, "f:metadata": {"f:annotations": None}})], True),
    ],
)
def test_a_mark_counts_only_for_the_cordon_that_was_written_with_it(managers, ours):
    metadata = {"name": "n1", "annotations": {CORDONED: "then"}, "managedFields": managers}
    node = {"metadata": metadata, "spec": {"unschedulable": True}}
    assert drain.is_ours(node) is ours
    after = merged(node, drain.uncordon(node))
    assert (drain.is_cordoned(after), drain.mark_of(after)) == (not ours, None)
    if not ours:
        assert "spec" not in drain.cordon(node, "now")


def test_a_change_is_of_the_node_that_was_read():
    node = {"metadata": {"name": "n1", "resourceVersion": "7"}, "spec": {}}
    assert drain.cordon(node, "now")["metadata"]["resourceVersion"] == "7"


def test_what_to_do_is_said():
    assert "`kubectl uncordon n1 && kubectl annotate node n1 taco.train/cordoned-`" in drain.left("n1")
    said = drain.no_such_node("gpu1", ["10.0.0.2", "10.0.0.1"])
    assert (
        said
        == "the cluster has no node gpu1; it has 10.0.0.1, 10.0.0.2: set taco_node_name of this host to the name of its node"
    )
    assert "it has none" in drain.no_such_node("gpu1", [])

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node is drained and comes back against a cluster's stand-in."""

import threading

import pytest
from node_actor import OFFERS
from node_objects import budget, daemon_pod, pod, put

from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

OPEN, OURS, THEIRS = (False, False), (True, True), (True, False)


def test_a_node_is_drained_and_comes_back(actor):
    daemon = daemon_pod("plugin", "n1", volumes=[{"name": "x", "emptyDir": {}}])
    put(actor.cluster, pod("web-1", "n1"), pod("web-2", "n2"), daemon)
    predicted = actor.run("drained", check=True)
    assert actor.cordoned() == OPEN and predicted["changed"] and predicted["pods"] == ["default/web-1"]
    done = actor.run("drained")
    assert (done["changed"], done["ours"], actor.cordoned()) == (True, True, OURS)
    assert actor.pods() == ["plugin", "web-2"] and "kubectl uncordon n1" in done["left"]
    assert not actor.run("drained")["changed"]
    back = actor.run("uncordoned")
    assert (back["changed"], back["ours"], actor.cordoned()) == (True, True, OPEN)
    assert "unschedulable" not in back["node"]["spec"]
    assert not actor.run("uncordoned")["changed"]


def test_a_node_that_somebody_else_has_cordoned_stays_so(actor):
    actor.cordon()
    put(actor.cluster, pod("web-1", "n1"))
    done = actor.run("drained")
    assert (done["ours"], done["left"], actor.pods()) == (False, None, [])
    back = actor.run("uncordoned")
    assert (back["changed"], actor.cordoned()) == (False, THEIRS)
    assert "was cordoned by another client, and stays cordoned" in actor.lines[-1]


def test_an_eviction_that_is_refused_is_tried_again_less_and_less_often(actor):
    put(actor.cluster, pod("web-1", "n1"))
    actor.cluster.fail(
        "POST", "web-1/eviction", 429, 3, "Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert actor.run("drained", timeout=60)["changed"]
    assert actor.pods() == [] and actor.cordoned() == OURS
    assert len(actor.slept) >= 3 and actor.slept[0] < actor.slept[1] < actor.slept[2]
    assert all("disruption budget" in line and "retrying the drain in" in line for line in actor.lines)


def test_a_budget_that_never_lets_go_is_named_and_the_node_serves_again(actor):
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))
    said = actor.refused("drained", timeout=2)
    for word in (
        "node n1 was not drained within 2 s",
        "default/web-1",
        "the PodDisruptionBudget all-web",
        "is uncordoned again",
    ):
        assert word in said, said
    assert actor.pods() == ["web-1"] and actor.cordoned() == OPEN


def test_a_node_cordoned_before_is_left_so_when_it_cannot_be_drained(actor):
    actor.cordon()
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))
    actor.cluster.forbid("list", "poddisruptionbudgets")
    said = actor.refused("drained", timeout=1)
    assert "was cordoned before, and stays cordoned" in said and "list poddisruptionbudgets" in said
    assert actor.cordoned() == THEIRS


@pytest.mark.parametrize(
    "thing, word, option",
    [
        (pod("lone", "n1", None), "kubernetes_node_force", {"force": True}),
        (pod("job", "n1", volumes=[{"name": "x", "emptyDir": {}}]), "delete_emptydir", {"delete_emptydir_data": True}),
    ],
)
def test_pods_that_would_lose_something_are_refused_before_anything_is_changed(actor, thing, word, option):
    put(actor.cluster, thing)
    assert word in actor.refused("drained") and actor.written() == []
    assert actor.run("drained", **option)["changed"] and actor.pods() == []


def test_a_pod_may_be_given_another_grace(actor):
    put(actor.cluster, pod("web-1", "n1"))
    actor.run("drained", drain=False)
    assert actor.pods() == ["web-1"] and actor.cordoned() == OURS
    actor.run("drained", grace=1)
    assert actor.pods() == []


def test_an_overloaded_server_is_waited_out(actor):
    put(actor.cluster, pod("web-1", "n1"))
    actor.cluster.fail("PATCH", "nodes/n1", 503, 2)
    actor.cluster.fail("GET", "nodes/n1", 500, 1)
    actor.cluster.fail("POST", "eviction", 500, 1)
    assert actor.run("drained")["changed"] and actor.pods() == [] and actor.cordoned() == OURS


def test_a_missing_permission_is_named(actor):
    put(actor.cluster, pod("web-1", "n1"))
    actor.cluster.forbid("patch", "nodes")
    assert "may not patch nodes" in actor.refused("drained") and actor.pods() == ["web-1"]
    actor.cluster.allow()
    actor.cluster.forbid("create", "pods/eviction")
    said = actor.refused("drained", timeout=2)
    assert "pods/eviction" in said and actor.cordoned() == OPEN


def test_a_host_that_is_no_node_is_told_which_there_are(actor):
    for state in ("drained", "uncordoned", "ready"):
        said = actor.refused(state, name="gpu1")
        assert "the cluster has no node gpu1; it has n1, n2: set taco_node_name" in said


@pytest.mark.parametrize("state", ["drained", "uncordoned", "ready"])
def test_an_empty_name_is_refused_and_takes_no_node(actor, state):
    for name in ("", " "):
        said = actor.refused(state, name=name)
        assert said == "the name of the node is empty: set taco_node_name of this host to the name of its node"
    assert actor.written() == []


def test_a_mark_is_removed_from_a_node_that_somebody_uncordoned(actor):
    actor.run("drained")
    actor.cordon(None)
    done = actor.run("uncordoned")
    assert (done["changed"], done["ours"], actor.cordoned()) == (True, False, OPEN)
    assert not actor.run("uncordoned")["changed"]
    actor.cordon()
    assert not actor.run("uncordoned")["changed"] and actor.cordoned() == THEIRS


@pytest.mark.parametrize("state", ["drained", "uncordoned"])
def test_a_stale_mark_makes_no_cordon_ours_that_another_client_has_written(actor, state):
    actor.run("drained")
    node = actor.node()
    mark = {"f:metadata": {"f:annotations": {f"f:{CORDONED}": {}}}}
    cordoned = {"f:spec": {"f:unschedulable": {}}}
    node["metadata"]["managedFields"] = [
        {"manager": "OpenAPI-Generator", "fieldsV1": mark},
        {"manager": "kubectl-cordon", "fieldsV1": cordoned},
    ]
    actor.cluster.put(node)
    assert actor.run(state, check=True)["changed"] and actor.cordoned() == OURS
    done = actor.run(state)
    assert (done["changed"], done["ours"], actor.cordoned()) == (True, False, THEIRS)
    assert not actor.run(state)["changed"]


@pytest.mark.parametrize("pages", [{"1G": "x"}, {"3G": 1}, {"1G": None}])
def test_pages_that_can_not_be_counted_are_refused(actor, pages):
    assert "node n1: pages " in actor.refused("ready", pages=pages)


def test_a_node_is_waited_for_until_it_offers_what_it_should(actor):
    actor.offer(**{"hugepages-1Gi": "0", "nvidia.com/gpu": "0"})
    later = threading.Timer(0.3, lambda: actor.offer(**{"hugepages-1Gi": "50Gi", "nvidia.com/gpu": "8"}))
    later.start()
    found = actor.run("ready", resources=OFFERS, pages={"1G": 50})
    later.join()
    assert not found["changed"] and found["problems"] == [] and found["pages"]["1G"] == 50


def test_what_a_node_lacks_after_its_time_is_said(actor):
    said = actor.refused("ready", resources={"hugepages-1Gi": "60Gi", "nvidia.com/gpu": 9}, timeout=1, poll=0.2)
    assert "n1 is not back after 1 s" in said and "60 GiB" in said and "nvidia.com/gpu" in said
    found = actor.run("ready", resources={"hugepages-1Gi": "60Gi"}, pages={"1G": 60}, timeout=0, gate=False)
    assert len(found["problems"]) == 2

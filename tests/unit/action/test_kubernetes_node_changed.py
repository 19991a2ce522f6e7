# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node that changes, leaves or is written by others while it is drained or waited for."""

import functools

import pytest
from kubernetes_modules import lose_first_answer
from node_actor import OFFERS
from node_objects import budget, pod, put

from ansible_collections.taco.train.plugins.module_utils.cluster import node as kubernetes_node
from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

OPEN, OURS, THEIRS = (False, False), (True, True), (True, False)


def meddle(monkeypatch, name, function, module=kubernetes_node.drain):
    """Call a function once, between a look at the node and the change that comes of it."""
    real, once = getattr(module, name), [function]

    def patch(*arguments):
        made = real(*arguments)
        if once:
            once.pop()()
        return made

    monkeypatch.setattr(module, name, patch)


def test_a_cordon_that_comes_between_look_and_change_is_theirs(actor, monkeypatch):
    meddle(monkeypatch, "cordon", actor.cordon)
    done = actor.run("drained")
    assert (done["ours"], done["left"], actor.cordoned()) == (False, None, THEIRS)
    assert not actor.run("uncordoned")["changed"] and actor.cordoned() == THEIRS


@pytest.mark.parametrize("name, state, then", [("cordon", "drained", OURS), ("uncordon", "uncordoned", OPEN)])
def test_the_report_of_a_kubelet_between_look_and_change_is_no_error(actor, monkeypatch, name, state, then):
    if state == "uncordoned":
        actor.run("drained")
    meddle(monkeypatch, name, lambda: actor.offer(cpu="96"))
    done = actor.run(state)
    assert (done["changed"], done["ours"], actor.cordoned()) == (True, True, then)
    assert [request[2] for request in actor.cluster.requests].count(409) == 1


def test_a_node_that_leaves_between_look_and_change_is_named(actor, monkeypatch):
    meddle(monkeypatch, "cordon", lambda: actor.cluster.delete("Node", "n1", None))
    assert "the cluster has no node n1; it has n2: set taco_node_name" in actor.refused("drained")


def test_a_cordon_that_somebody_else_takes_over_stays_when_the_drain_fails(actor, monkeypatch):
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))

    def taken_over():
        node = actor.node()
        node["metadata"]["annotations"].pop(CORDONED)
        actor.cluster.put(node)

    meddle(monkeypatch, "uncordon", taken_over)
    assert "was meanwhile cordoned by another client, and stays cordoned" in actor.refused("drained", timeout=1)
    assert actor.cordoned() == THEIRS


def test_a_cordon_whose_answer_was_lost_is_of_this_call(actor, monkeypatch):
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))
    lose_first_answer(monkeypatch)
    assert "is uncordoned again" in actor.refused("drained", timeout=1)
    assert actor.cordoned() == OPEN
    actor.run("drained", drain=False)
    lose_first_answer(monkeypatch)
    done = actor.run("uncordoned")
    assert (done["changed"], done["ours"], actor.cordoned()) == (True, True, OPEN)


def leaves(actor, monkeypatch):
    """Let the node leave the cluster once it was read."""
    meddle(monkeypatch, "problems", lambda: actor.cluster.delete("Node", "n1", None), kubernetes_node.readiness)


def test_a_node_that_is_registered_anew_is_waited_for(actor, monkeypatch):
    actor.offer(**{"nvidia.com/gpu": "0"})
    leaves(actor, monkeypatch)
    back = functools.partial(actor.cluster.add_node, "n1", allocatable=OFFERS)
    meddle(monkeypatch, "gone", back, kubernetes_node.readiness)
    assert actor.run("ready", resources=OFFERS, timeout=60)["problems"] == []


@pytest.mark.parametrize("gate", [True, False])
def test_a_node_that_leaves_and_stays_away_is_named_after_the_time(actor, monkeypatch, gate):
    leaves(actor, monkeypatch)
    said = actor.refused("ready", resources={"nvidia.com/gpu": 99}, timeout=2, gate=gate)
    assert "node n1 is not back after 2 s: the cluster has node n1 no more" in said
    assert "journalctl -u kubelet" in said

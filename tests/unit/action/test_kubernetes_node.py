# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The actions on nodes and on the cluster as a whole, by the real modules of kubernetes.core against a cluster's stand-in."""

import contextlib
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import kubernetes_modules
import pytest
from ansible.errors import AnsibleError
from ansible.playbook.task import Task
from kubelab.testing import running_cluster
from kubernetes_modules import in_process
from node_objects import budget, daemon_pod, pod, put

from ansible_collections.taco.train.plugins.action import kubernetes_info, kubernetes_node
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import client
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import pods_reached
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.drain import CORDONED

COLLECTIONS = Path(__file__).parents[3] / "collections"
OFFERS = {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}
NODES = [{"name": name, "allocatable": OFFERS} for name in ("n1", "n2")]


class Actor:
    """An action on one cluster."""

    def __init__(self, cluster):
        self.cluster, self.lines, self.slept = cluster, [], []

    def run(self, state, check=False, module=kubernetes_node, **options):
        own = {"name": "n1", "state": state, "timeout": 20, "poll": 0.02} if state else {}
        task = Task()
        task.args = {"kubeconfig": self.cluster.kubeconfig, **own, **options}
        task.check_mode = check
        action = module.ActionModule(task, MagicMock(), MagicMock(), None, MagicMock(), None)
        action._display = MagicMock()
        action._display.display = self.lines.append
        with in_process(action):
            return action.run(task_vars={"inventory_hostname": "gpu1"})

    def refused(self, state, **options):
        with pytest.raises(AnsibleError) as error:
            self.run(state, **options)
        return str(error.value)

    def node(self, name="n1"):
        return self.cluster.get("Node", name, None)

    def cordoned(self):
        node = self.node()
        return bool(node["spec"].get("unschedulable")), CORDONED in (node["metadata"].get("annotations") or {})

    def pods(self):
        return sorted(found["metadata"]["name"] for found in self.cluster.objects("Pod"))

    def written(self):
        return [request[:2] for request in self.cluster.requests if request[0] != "GET"]

    def cordon(self, unschedulable=True):
        node = self.node()
        node["spec"]["unschedulable"] = unschedulable
        self.cluster.put(node)

    def offer(self, **changes):
        node = self.node()
        for part in ("allocatable", "capacity"):
            node["status"][part].update(changes)
        self.cluster.put(node)


@pytest.fixture
def actor(monkeypatch):
    with contextlib.ExitStack() as stack:
        found = Actor(stack.enter_context(running_cluster(NODES)))
        sleep = time.sleep

        def short(_self, seconds):
            found.slept.append(seconds)
            sleep(min(seconds, 0.02))

        monkeypatch.setattr(client.Clock, "sleep", short)
        yield found


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
    assert "was cordoned by somebody else" in actor.lines[-1]


def test_an_eviction_that_is_refused_is_tried_again_less_and_less_often(actor):
    put(actor.cluster, pod("web-1", "n1"))
    actor.cluster.fail(
        "POST", "web-1/eviction", 429, 3, "Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert actor.run("drained", timeout=60)["changed"]
    assert actor.pods() == [] and actor.cordoned() == OURS
    assert len(actor.slept) == 3 and actor.slept[0] < actor.slept[1] < actor.slept[2]
    assert all("disruption budget" in line and "draining again in" in line for line in actor.lines)


def test_a_budget_that_never_lets_go_is_named_and_the_node_serves_again(actor):
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))
    said = actor.refused("drained", timeout=2)
    for word in (
        "gpu1: node n1 was not drained within 2 s",
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
    assert "was cordoned before, and is left so" in said and "list poddisruptionbudgets" in said
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
        assert said == "gpu1: the name of the node is empty: set taco_node_name of this host to the name of its node"
    assert actor.written() == []


def test_a_grace_that_the_module_would_ignore_is_refused(actor):
    put(actor.cluster, pod("web-1", "n1"))
    said = actor.refused("drained", grace=0)
    assert "gpu1: node n1: grace is 0: expected 1 or more" in said and "set kubernetes_node_grace to 1 or more" in said
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


def meddle(monkeypatch, name, function):
    """Call a function once, between a look at the node and the change that comes of it."""
    real, once = getattr(kubernetes_node.drain, name), [function]

    def patch(*arguments):
        made = real(*arguments)
        if once:
            once.pop()()
        return made

    monkeypatch.setattr(kubernetes_node.drain, name, patch)


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
    assert "gpu1: the cluster has no node n1; it has n2: set taco_node_name" in actor.refused("drained")


def test_a_cordon_that_somebody_else_takes_over_stays_when_the_drain_fails(actor, monkeypatch):
    put(actor.cluster, pod("web-1", "n1"))
    put(actor.cluster, budget("all-web", 1))

    def taken_over():
        node = actor.node()
        node["metadata"]["annotations"].pop(CORDONED)
        actor.cluster.put(node)

    meddle(monkeypatch, "uncordon", taken_over)
    assert "was meanwhile cordoned by somebody else, and is left so" in actor.refused("drained", timeout=1)
    assert actor.cordoned() == THEIRS


def lose_first_answer(monkeypatch):
    real, lost = kubernetes_modules.execute, []

    def execute(name, arguments, *more):
        result = real(name, arguments, *more)
        if name == "kubernetes.core.k8s" and not lost:
            lost.append(result)
            return {"failed": True, "msg": "('Connection aborted.', RemoteDisconnected('closed'))"}
        return result

    monkeypatch.setattr(kubernetes_modules, "execute", execute)


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


def test_a_node_that_is_registered_anew_is_waited_for(actor):
    actor.offer(**{"nvidia.com/gpu": "0"})
    timers = [
        threading.Timer(0.2, actor.cluster.delete, ("Node", "n1", None)),
        threading.Timer(1.0, actor.cluster.add_node, ("n1",), {"allocatable": OFFERS}),
    ]
    for timer in timers:
        timer.start()
    assert actor.run("ready", resources=OFFERS, timeout=20)["problems"] == []
    for timer in timers:
        timer.join()


@pytest.mark.parametrize("gate", [True, False])
def test_a_node_that_leaves_and_stays_away_is_named_after_the_time(actor, gate):
    timer = threading.Timer(0.3, actor.cluster.delete, ("Node", "n1", None))
    timer.start()
    said = actor.refused("ready", resources={"nvidia.com/gpu": 99}, timeout=2, gate=gate)
    timer.join()
    assert "gpu1: node n1 is not back after 2 s: the cluster has node n1 no more" in said
    assert "journalctl -u kubelet" in said


@pytest.mark.parametrize("pages", [{"1G": "x"}, {"3G": 1}, {"1G": None}])
def test_pages_that_can_not_be_counted_are_refused(actor, pages):
    assert "gpu1: node n1: pages " in actor.refused("ready", pages=pages)


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


def test_the_cluster_is_looked_at_as_a_whole(actor):
    actor.cluster.forbid("patch", "nodes")
    actor.cluster.forbid("create", "mpijobs")
    actor.cluster.forbid("create", "pods/eviction")
    found = actor.run(None, module=kubernetes_info, check=True)["kubernetes"]
    assert found["missing"] == ["patch nodes", "create pods/eviction", "create mpijobs.kubeflow.org"]
    assert [node["metadata"]["name"] for node in found["nodes"]] == ["n1", "n2"]
    assert found["crd"]["metadata"]["name"] == "mpijobs.kubeflow.org" and found["error"] is None
    assert found["operators"] == []
    assert all(path.endswith("selfsubjectaccessreviews") for _method, path in actor.written())


def test_what_may_not_be_read_is_one_finding_among_others(actor):
    actor.cluster.forbid("list", "nodes")
    actor.cluster.forbid("get", "customresourcedefinitions")
    actor.cluster.forbid("list", "pods")
    found = actor.run(None, module=kubernetes_info)["kubernetes"]
    assert (found["nodes"], found["crd"], found["crd_forbidden"], found["error"]) == (None, None, True, None)
    assert found["operators"] is None


def test_a_cluster_that_does_not_answer_is_a_finding(actor, tmp_path):
    config = Path(actor.cluster.kubeconfig).read_text().replace(actor.cluster.url, "http://127.0.0.1:9")
    (tmp_path / "config").write_text(config)
    found = actor.run(None, module=kubernetes_info, kubeconfig=str(tmp_path / "config"))["kubernetes"]
    assert "the API server at 127.0.0.1:9 can't be reached" in found["error"] and found["nodes"] is None


def test_a_kubeconfig_given_as_text_is_never_shown(actor):
    text = "apiVersion: v1\nusers:\n- user: {token: SECRET}\n"
    said = actor.refused("ready", kubeconfig=text)
    assert "taco_kubeconfig is not a path" in said and "SECRET" not in said
    reached = MagicMock()
    reached._connection.transport = "ssh"
    with pytest.raises(AnsibleError, match="which is not a path and not shown") as error:
        pods_reached(reached, {"kubeconfig": text, "state": "present"}, "gpu1")
    assert "SECRET" not in str(error.value)

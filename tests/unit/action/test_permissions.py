# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions that preflight requires and the requests of the collection are the same. So is the manifest (kubelab/test_rbac).

The account of the cluster has the manifest's permissions and no others. The cluster records each permission that a request needs: those
that the account has, and those that it lacks, also where the collection goes on without the answer.
"""

from pathlib import Path

import pytest
import yaml
from kubernetes_modules import execute
from node_objects import budget, pod, put

from ansible_collections.taco.train.plugins.module_utils.cluster.permissions import PERMISSIONS
from ansible_collections.taco.train.plugins.plugin_utils.preflight import kubernetes

COLLECTION = Path(__file__).parents[3] / "collections/ansible_collections/taco/train"
# The permissions that everybody has, by which preflight asks for the others.
REVIEWS = "authorization.k8s.io"
PLURALS = {"Pod": "pods", "Node": "nodes", "Event": "events", "MPIJob": "mpijobs"}
BLOCKS = ("block", "rescue", "always")


def required():
    """The permissions that preflight requires, each with whether it is for the whole cluster."""
    return {
        (one.verb, one.group, "/".join(filter(None, (one.resource, one.subresource))), one.whole_cluster)
        for one in PERMISSIONS
    }


def tasks_of(entries):
    """The tasks of a list of tasks or plays, those in blocks as well."""
    for entry in entries or []:
        for key in (*BLOCKS, "tasks", "pre_tasks", "post_tasks"):
            yield from tasks_of(entry.get(key))
        yield entry


def perform(cluster, module, **options):
    return execute(f"taco.train.{module}", {"kubeconfig": cluster.kubeconfig, **options})


def failed(cluster, module, **options):
    result = perform(cluster, module, **options)
    assert result["failed"]
    return result["msg"]


def test_the_requests_need_the_permissions_of_preflight_and_no_others(on):
    actor = on()
    cluster = actor.cluster
    assert perform(cluster, "kubernetes_info")["kubernetes"]["missing"] == []
    cluster.script("worker-1", ["NotReady"])
    actor.refused("1 of 2 workers are ready", wait_timeout=30)
    cluster.script("worker-1", ["Running"])
    actor.run()
    actor.run(clean_pod_policy="None")
    # A launcher that only waits has its processes listed by a command in it.
    actor.run(state="absent", check=True)
    # A log that is not found may be of a pod that is gone, which is read then.
    cluster.fail(method="GET", path="worker-1/log", status=404, times=3)
    actor.run(state="absent", interrupt_running_work=True, allow_lost_logs=True)
    put(cluster, pod("web-1", "gpu-1"))
    cluster.put(budget("web", 1))
    said = failed(cluster, "kubernetes_node", name="gpu-1", state="drained", timeout=1, poll=0.02)
    assert "is held by the PodDisruptionBudget web" in said
    cluster.delete("PodDisruptionBudget", "web")
    perform(cluster, "kubernetes_node", name="gpu-1", state="drained", timeout=20, poll=0.02)
    lacking = {"resources": {"example.com/none": 1}, "timeout": 1, "poll": 0.02}
    assert "is not back after 1 s" in failed(cluster, "kubernetes_node", name="gpu-1", state="ready", **lacking)
    perform(cluster, "kubernetes_node", name="gpu-1", state="uncordoned", timeout=20, poll=0.02)
    for state in ("topology", "restored"):
        perform(cluster, "gpu_topology", nodes=["gpu-1"], state=state, wait_timeout=20, poll=0.02)
    assert cluster.denied == set()
    used = {permission[:3] for permission in cluster.used if permission[1] != REVIEWS}
    assert used == {permission[:3] for permission in required()}
    # A permission for the namespace of the jobs alone must do, and nothing else needs one for all namespaces than pods.
    for verb, group, resource, whole_cluster in required():
        scopes = {namespaced for *permission, namespaced in cluster.used if permission == [verb, group, resource]}
        if not whole_cluster:
            assert scopes == {True}, (verb, resource)
        elif not resource.startswith("pods"):
            assert scopes == {False}, (verb, resource)


def test_a_permission_that_preflight_does_not_require_is_recorded(on):
    """So that the test before fails for it, although this request is given up with a warning."""
    actor = on()
    actor.cluster.forbid("list", "events")
    actor.cluster.script("worker-1", ["NotReady"])
    actor.refused("1 of 2 workers are ready", wait_timeout=30)
    assert {permission[:3] for permission in actor.cluster.denied} == {("list", "", "events")}


def test_tasks_and_commands_of_kubectl_need_no_other_permission():
    """They are no calls of the client, so the requests are read from their options."""
    needed = set()
    for path in [*COLLECTION.glob("roles/*/tasks/*.yml"), *COLLECTION.glob("playbooks/*.yml")]:
        for task in tasks_of(yaml.safe_load(path.read_text())):
            modules = [name for name in task if name.startswith("kubernetes.core.")]
            assert modules in ([], ["kubernetes.core.k8s_info"]), f"{path}: {modules}"
            for name in modules:
                needed.add(("get" if "name" in task[name] else "list", "", PLURALS[task[name]["kind"]]))
    # Of the module arena_job: kubectl get and kubectl exec.
    needed |= {("get", "kubeflow.org", "mpijobs"), ("list", "", "pods")}
    needed |= {(verb, "", "pods/exec") for verb in ("create", "get")}
    assert needed <= {permission[:3] for permission in required()}
    assert ("list", "", "pods") in needed and ("get", "kubeflow.org", "mpijobs") in needed


@pytest.mark.parametrize(("version", "alive", "status"), [("v1", True, "pass"), ("v2beta1", False, "fail")])
def test_the_operator_of_the_lab_has_a_pod_that_preflight_finds(on, version, alive, status):
    cluster = on(serve=(version,), operator_pod=True).cluster
    if not alive:
        cluster.stop_operator()
    check = kubernetes.operator_check(perform(cluster, "kubernetes_info")["kubernetes"]["operators"])
    assert check.status == status and "mpi-operator/mpi-operator-" in check.found
    if not alive:
        cluster.start_operator()
        assert (
            kubernetes.operator_check(perform(cluster, "kubernetes_info")["kubernetes"]["operators"]).status == "pass"
        )

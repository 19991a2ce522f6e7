# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in by the real modules of kubernetes.core."""

import pytest
from kubelab.testing import running_cluster

from ansible_collections.kubernetes.core.plugins.modules import k8s, k8s_drain, k8s_info, k8s_log

NODES = [{"name": name, "allocatable": {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}} for name in ("node-1", "node-2")]
JOB = {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "metadata": {"name": "bench", "namespace": "default"}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default", "labels": {"app": "x"}}}
POD["spec"] = {"containers": [{"name": "main", "image": "image:1"}]}
READY = {"type": "Ready", "status": True}


def replica(count, **resources):
    container = {"name": "main", "image": "image:1", "resources": resources}
    return {"replicas": count, "template": {"spec": {"containers": [container]}}}


def job(workers=2):
    replicas = {"Launcher": replica(1), "Worker": replica(workers, limits={"nvidia.com/gpu": 8})}
    return {**JOB, "spec": {"slotsPerWorker": 8, "mpiReplicaSpecs": replicas}}


@pytest.fixture
def cluster():
    with running_cluster(NODES) as running:
        yield running


@pytest.fixture
def module(cluster, run):
    return lambda main, **options: run(main, kubeconfig=cluster.admin_kubeconfig, **options)


def test_a_job_is_applied_once_and_changed(module, cluster):
    first = module(k8s.main, definition=job(), state="present", apply=False)
    assert first["changed"], first
    assert cluster.wait(lambda: len((cluster.get("MPIJob", "bench").get("status") or {}).get("conditions") or []) == 2)
    assert not module(k8s.main, definition=job(), state="present")["changed"]
    changed = module(k8s.main, definition=job(3), state="present")
    assert changed["changed"]
    assert cluster.get("MPIJob", "bench")["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 3


def test_a_job_is_waited_for_and_its_pods_are_found_by_label(module):
    module(k8s.main, definition=job())
    condition = {"type": "Running", "status": True}
    found = module(
        k8s_info.main,
        api_version="kubeflow.org/v1",
        kind="MPIJob",
        name="bench",
        namespace="default",
        wait=True,
        wait_sleep=1,
        wait_timeout=20,
        wait_condition=condition,
    )
    assert found["resources"][0]["status"]["replicaStatuses"]["Worker"] == {"active": 2}
    selectors = ["mpi-job-name=bench", "mpi-job-role=worker"]
    pods = module(k8s_info.main, kind="Pod", namespace="default", label_selectors=selectors)["resources"]
    assert [pod["metadata"]["name"] for pod in pods] == ["bench-worker-0", "bench-worker-1"]


def test_apply_and_check_mode(module, run, cluster):
    thing = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"},
        "data": {"x": "1"},
    }
    predicted = run(k8s.main, check=True, kubeconfig=cluster.admin_kubeconfig, definition=thing, apply=True)
    assert predicted["changed"] and cluster.get("ConfigMap", "a") is None
    assert module(k8s.main, definition=thing, apply=True)["changed"]
    assert not module(k8s.main, definition=thing, apply=True)["changed"]
    assert module(k8s.main, definition={**thing, "data": {"y": "1"}}, apply=True)["changed"]
    assert cluster.get("ConfigMap", "a")["data"] == {"y": "1"}


def test_a_job_is_deleted_and_waited_for(module, cluster):
    module(k8s.main, definition=job())
    assert cluster.wait(lambda: len(cluster.objects("Pod")) == 3)
    options = {"delete_options": {"propagationPolicy": "Foreground"}, "wait": True, "wait_sleep": 1}
    gone = module(k8s.main, definition=JOB, state="absent", **options)
    assert gone["changed"]
    assert cluster.get("MPIJob", "bench") is None
    assert not cluster.objects("Pod")
    assert not module(k8s.main, definition=JOB, state="absent")["changed"]


def test_an_invalid_job_is_named(module):
    wrong = job()
    wrong["spec"]["slotsPerWorker"] = "eight"
    failed = module(k8s.main, definition=wrong)
    assert failed["failed"]
    assert "spec.slotsPerWorker in body must be of type integer" in failed["msg"]


def test_a_log_is_read(module, cluster):
    module(k8s.main, definition=POD, wait=True, wait_sleep=1, wait_condition=READY)
    cluster.log("a", "one\ntwo\n")
    assert module(k8s_log.main, name="a", namespace="default")["log_lines"][:2] == ["one", "two"]


def test_a_node_is_drained_and_let_go(module, cluster):
    module(k8s.main, definition=POD)
    assert cluster.wait(lambda: (cluster.get("Pod", "a")["spec"]).get("nodeName") == "node-1")
    options = {"force": True, "terminate_grace_period": 0, "wait_timeout": 20, "wait_sleep": 1}
    drained = module(k8s_drain.main, name="node-1", state="drain", delete_options=options)
    assert drained["changed"], drained
    assert cluster.get("Pod", "a") is None
    assert cluster.get("Node", "node-1", None)["spec"]["unschedulable"] is True
    assert any(path.endswith("/pods/a/eviction") for _method, path, _status in cluster.requests)
    module(k8s_drain.main, name="node-1", state="uncordon")
    assert not cluster.get("Node", "node-1", None)["spec"].get("unschedulable")


def test_a_budget_keeps_a_pod_from_being_evicted(module, cluster):
    module(k8s.main, definition=POD, wait=True, wait_sleep=1, wait_condition=READY)
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
    }
    budget["spec"] = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    module(k8s.main, definition=budget)
    answer = module(k8s_drain.main, name="node-1", state="drain", delete_options={"force": True, "wait_timeout": 5})
    assert cluster.get("Pod", "a") is not None
    assert ("POST", "/api/v1/namespaces/default/pods/a/eviction", 429) in cluster.requests, answer


def test_a_daemon_of_a_node_stays_when_it_is_drained(module, cluster):
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": "default"}}
    daemon["spec"] = {
        "selector": {"matchLabels": {"app": "d"}},
        "template": {"metadata": {"labels": {"app": "d"}}, "spec": POD["spec"]},
    }
    made = module(k8s.main, definition=daemon)["result"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": "d",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    module(k8s.main, definition={**POD, "metadata": {**POD["metadata"], "ownerReferences": [owner]}})
    assert cluster.wait(lambda: (cluster.get("Pod", "a")["spec"]).get("nodeName"))
    options = {"ignore_daemonsets": True, "wait_timeout": 10, "wait_sleep": 1}
    drained = module(k8s_drain.main, name="node-1", state="drain", delete_options=options)
    assert drained["changed"], drained
    assert cluster.get("Pod", "a") is not None

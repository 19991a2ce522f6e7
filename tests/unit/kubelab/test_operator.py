# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""MPIJobs on the stand-in: what their operator makes of them, and what becomes of their pods."""

import pytest
from kubelab.testing import running_cluster

from ansible_collections.taco.train.plugins.module_utils.cluster.status import progress
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest

NODES = [
    {"name": name, "allocatable": {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8, "memory": "300Gi"}}
    for name in ("node-1", "node-2")
]


def mpijob(version="v1", **options):
    given = {"name": "bench", "image": "image:1", "command": ["sleep", "infinity"], "workers": 2, "gpus_per_worker": 8}
    return manifest(job_of({**given, **options}), version)


def seen(cluster, workers=2):
    """Return the job's progress as the collection sees it."""
    job = cluster.get("MPIJob", "bench")
    return progress(job, cluster.objects("Pod"), cluster.objects("Event"), workers) if job else None


def types(cluster):
    conditions = (cluster.get("MPIJob", "bench").get("status") or {}).get("conditions") or []
    return {condition["type"]: (condition["status"], condition["reason"]) for condition in conditions}


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_job_becomes_usable(version):
    with running_cluster(NODES, serve=(version,)) as cluster:
        cluster.put(mpijob(version))
        assert cluster.wait(lambda: seen(cluster).usable), seen(cluster)
        assert types(cluster) == {"Created": ("True", "MPIJobCreated"), "Running": ("True", "MPIJobRunning")}
        names = {pod["metadata"]["name"]: pod for pod in cluster.objects("Pod")}
        assert {names[f"bench-worker-{index}"]["spec"]["nodeName"] for index in range(2)} == {"node-1", "node-2"}
        launcher = seen(cluster).launcher
        assert launcher == "bench-launcher" if version == "v1" else launcher.startswith("bench-launcher-")
        assert (cluster.get("Job", "bench-launcher") is None) == (version == "v1")
        assert (cluster.get("Secret", "bench-ssh") is None) == (version == "v1")
        hosts = cluster.get("ConfigMap", "bench-config")["data"]["hostfile"].splitlines()
        domain = "" if version == "v1" else ".bench.default.svc"
        assert hosts == [f"bench-worker-{index}{domain} slots=8" for index in range(2)]
        command = ["sleep"] if version == "v1" else ["/usr/sbin/sshd", "-De"]
        assert names["bench-worker-0"]["spec"]["containers"][0]["command"] == command


def test_pods_that_fit_nowhere_say_why():
    short = [{**node, "allocatable": {**node["allocatable"], "hugepages-1Gi": "0"}} for node in NODES]
    with running_cluster(short) as cluster:
        cluster.put(mpijob())
        assert cluster.wait(lambda: len(seen(cluster).stuck) == 2), seen(cluster)
        assert "0/2 nodes are available: 2 Insufficient hugepages-1Gi)" in seen(cluster).stuck[0]
        assert any(event["reason"] == "FailedScheduling" for event in cluster.objects("Event"))


def test_a_cordoned_node_and_a_tainted_one_take_no_pods():
    taint = [{"key": "maintenance", "value": "yes", "effect": "NoSchedule"}]
    with running_cluster([{**NODES[0], "taints": taint}, NODES[1]]) as cluster:
        node = cluster.get("Node", "node-2", None)
        node["spec"]["unschedulable"] = True
        cluster.put(node)
        cluster.put(mpijob())
        assert cluster.wait(lambda: seen(cluster).stuck)
        expected = (
            "0/2 nodes are available: 1 node(s) had untolerated taint {maintenance: yes}, 1 node(s) were unschedulable"
        )
        assert expected in seen(cluster).stuck[0]


def test_a_script_makes_a_worker_fail():
    with running_cluster(NODES) as cluster:
        cluster.script("bench-worker-1", ["ContainerCreating", "OOMKilled"])
        cluster.put(mpijob())
        assert cluster.wait(lambda: seen(cluster).stuck), seen(cluster)
        assert "OOMKilled" in seen(cluster).stuck[0]


def test_a_launcher_of_v2beta1_is_made_anew_until_its_limit():
    job = mpijob("v2beta1")
    job["spec"]["runPolicy"]["backoffLimit"] = 1
    with running_cluster(NODES, serve=("v2beta1",)) as cluster:
        cluster.script("launcher", ["Running", "Failed"])
        cluster.put(job)
        assert cluster.wait(lambda: types(cluster).get("Failed") == ("True", "BackoffLimitExceeded/")), types(cluster)
        assert sum("launcher" in pod["metadata"]["name"] for pod in cluster.objects("Pod")) == 2
        assert cluster.wait(lambda: not any("worker" in pod["metadata"]["name"] for pod in cluster.objects("Pod")))


def test_a_job_that_has_succeeded_keeps_its_launcher():
    with running_cluster(NODES) as cluster:
        cluster.script("launcher", ["Running", "Succeeded"])
        cluster.put(mpijob())
        assert cluster.wait(lambda: types(cluster).get("Succeeded"))
        assert types(cluster)["Running"][0] == "False"
        assert cluster.wait(lambda: [pod["metadata"]["name"] for pod in cluster.objects("Pod")] == ["bench-launcher"])


def test_a_changed_template_changes_no_pod():
    with running_cluster(NODES) as cluster:
        cluster.put(mpijob())
        assert cluster.wait(lambda: seen(cluster).usable)
        before = {pod["metadata"]["uid"] for pod in cluster.objects("Pod")}
        cluster.put(mpijob(image="image:2"))
        assert not cluster.wait(lambda: {pod["metadata"]["uid"] for pod in cluster.objects("Pod")} != before, 0.3)


def warnings(cluster):
    return [event for event in cluster.objects("Event") if event["type"] == "Warning"]


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_sync_ends_at_the_first_pod_that_is_refused(version):
    with running_cluster(NODES, serve=(version,)) as cluster:
        cluster.quota("default", {"pods": "1"})
        cluster.put(mpijob(version, workers=3))
        assert cluster.wait(lambda: warnings(cluster) and warnings(cluster)[0]["count"] > 2), warnings(cluster)
        assert [pod["metadata"]["name"] for pod in cluster.objects("Pod")] == ["bench-worker-0"]
        assert not cluster.objects("Job")
        assert "status" not in cluster.get("MPIJob", "bench")
        assert len(warnings(cluster)) == 1
        event = warnings(cluster)[0]
        assert (event["reason"], event["involvedObject"]["kind"]) == ("MPIJobFailed", "MPIJob")
        assert event["message"].startswith(
            'worker pod created failed: pods "bench-worker-1" is forbidden: exceeded quota:'
        )


def test_a_sync_that_failed_is_tried_again_later_and_later():
    with running_cluster(NODES) as cluster:
        cluster.quota("default", {"pods": "0"})
        cluster.put(mpijob())
        assert cluster.wait(lambda: warnings(cluster) and warnings(cluster)[0]["count"] >= 5)
        before = warnings(cluster)[0]["count"]
        assert not cluster.wait(lambda: warnings(cluster)[0]["count"] > before + 3, 0.5)
        cluster.quota("default", {"pods": "9"})
        assert cluster.wait(lambda: seen(cluster).usable), seen(cluster)


def test_a_refused_launcher_leaves_a_job_without_a_status():
    with running_cluster(NODES) as cluster:
        cluster.quota("default", {"pods": "2"})
        cluster.put(mpijob())
        assert cluster.wait(lambda: warnings(cluster))
        assert warnings(cluster)[0]["message"].startswith(
            'launcher pod created failed: pods "bench-launcher" is forbidden'
        )
        assert "status" not in cluster.get("MPIJob", "bench") and len(cluster.objects("Pod")) == 2


def test_an_operator_that_has_died_leaves_the_status_as_it_was():
    with running_cluster(NODES) as cluster:
        cluster.script("bench-", [{"state": "ContainerCreating", "seconds": 1}, "Running"])
        cluster.put(mpijob())
        assert cluster.wait(lambda: types(cluster))
        cluster.stop_operator()
        assert cluster.wait(lambda: {pod["status"]["phase"] for pod in cluster.objects("Pod")} == {"Running"})
        assert not cluster.wait(lambda: "Running" in types(cluster), 0.3)
        cluster.start_operator()
        assert cluster.wait(lambda: types(cluster).get("Running") == ("True", "MPIJobRunning"))


def test_a_suspended_job_has_no_pods():
    job = mpijob("v2beta1")
    job["spec"]["runPolicy"]["suspend"] = True
    with running_cluster(NODES, serve=("v2beta1",)) as cluster:
        cluster.put(job)
        assert cluster.wait(lambda: types(cluster).get("Suspended") == ("True", "MPIJobSuspended"))
        assert not cluster.objects("Pod")


def test_a_service_of_another_is_left_alone():
    with running_cluster(NODES, serve=("v2beta1",)) as cluster:
        cluster.put({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "bench"}, "spec": {}})
        cluster.put(mpijob("v2beta1"))
        assert cluster.wait(lambda: any(event["reason"] == "ErrResourceExists" for event in cluster.objects("Event")))


def test_topology_places_all_workers_or_none():
    one = [NODES[0]]
    with running_cluster(one) as cluster:
        node = cluster.get("Node", "node-1", None)
        node["metadata"]["labels"]["ack.node.gpu.schedule"] = "topology"
        cluster.put(node)
        assert cluster.wait(
            lambda: cluster.get("Node", "node-1", None)["status"]["allocatable"].get("aliyun.com/gpu") == "8"
        )
        cluster.put(mpijob(gpu_topology=True))
        assert cluster.wait(lambda: len(seen(cluster).stuck) == 2)
        assert all("nodeName" not in cluster.get("Pod", f"bench-worker-{index}")["spec"] for index in range(2))
        cluster.add_node(
            "node-2", {"hugepages-1Gi": "50Gi", "aliyun.com/gpu": 8}, {"ack.node.gpu.schedule": "topology"}
        )
        assert cluster.wait(lambda: seen(cluster).usable), seen(cluster)
        notes = cluster.get("Pod", "bench-worker-1")["metadata"]["annotations"]
        assert notes["topology.kubernetes.io/gpu-visible"] == "0,1,2,3,4,5,6,7"
        node = cluster.get("Node", "node-1", None)
        node["metadata"]["labels"]["ack.node.gpu.schedule"] = "default"
        cluster.put(node)
        assert cluster.wait(
            lambda: cluster.get("Node", "node-1", None)["status"]["allocatable"]["nvidia.com/gpu"] == "8"
        )


def test_a_job_of_arena_has_a_launcher_of_a_job_and_a_status_of_its_own():
    template = {"metadata": {"labels": {"app": "mpijob", "release": "bench"}}}
    template["spec"] = {
        "containers": [{"name": "mpi", "image": "image:1", "resources": {"limits": {"nvidia.com/gpu": 8}}}]
    }
    job = {"apiVersion": "kubeflow.org/v1alpha1", "kind": "MPIJob", "metadata": {"name": "bench"}}
    with running_cluster(NODES, serve=("v1", "v1alpha1")) as cluster:
        cluster.put(mpijob(name="native", gpus_per_worker=1))
        cluster.put({**job, "spec": {"replicas": 2, "template": template}})
        assert cluster.wait(
            lambda: (cluster.get("MPIJob", "bench").get("status") or {}).get("launcherStatus") == "Active"
        )
        assert cluster.wait(lambda: len(cluster.objects("Pod")) == 6), cluster.objects("Pod")
        launcher = [pod for pod in cluster.objects("Pod") if pod["metadata"]["name"].startswith("bench-launcher-")]
        assert launcher[0]["metadata"]["labels"]["mpi_role_type"] == "launcher"
        assert cluster.wait(lambda: "conditions" in cluster.get("MPIJob", "native")["status"])

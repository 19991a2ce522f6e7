# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods become hosts in the order of their ranks, and only those that are in use."""

from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import JobPods, hosts, placement, workers
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection


def pod(name, role="worker", node="gpu-1", job="j", container=None):
    labels = {"training.kubeflow.org/job-name": job, "training.kubeflow.org/job-role": role}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": container or f"mpi-{role}"}]},
        "status": {"podIP": "10.0.0.1", "hostIP": "192.168.0.1"},
    }


MADE = JobPods("j", "team", "v2beta1", 11, 8, "j-launcher-new")
PODS = [
    *(pod(f"j-worker-{index}", node=f"gpu-{index % 2}") for index in reversed(range(11))),
    pod("j-launcher-old", "launcher"),
    pod("j-launcher-new", "launcher"),
    pod("k-worker-0", job="k"),
]


def test_the_order_is_that_of_the_ranks_and_the_launcher_comes_last():
    found = hosts(PODS, MADE, PodConnection(), {}, {})
    assert [one["name"] for one in found] == [*(f"j-worker-{index}" for index in range(11)), "j-launcher-new"]
    assert [one["groups"] for one in found] == [["taco_workers"]] * 11 + [["taco_launcher"]]
    assert list(placement(PODS, MADE)) == [one["name"] for one in found[:-1]]
    assert workers(PODS, MADE)[0] == {"pod": "j-worker-0", "node": "gpu-0", "ip": "10.0.0.1", "node_ip": "192.168.0.1"}


def test_what_belongs_to_a_pod_outranks_what_is_shared():
    shared = {
        "benchmark_launcher": "gpu-1",
        "benchmark_exec_prefix": ["docker"],
        "ansible_connection": "ssh",
        "taco_lab": True,
    }
    first = hosts(PODS, MADE, PodConnection("/k", "c", "/opt/python"), {}, shared)[0]["variables"]
    assert first["benchmark_launcher"] == "j-launcher-new" and first["benchmark_exec_prefix"] == []
    assert first["ansible_connection"] == "kubernetes.core.kubectl" and first["taco_lab"] is True
    assert (first["ansible_kubectl_kubeconfig"], first["ansible_kubectl_context"]) == ("/k", "c")
    assert first["ansible_python_interpreter"] == "/opt/python"


def test_the_host_of_a_node_is_found_by_what_the_cluster_calls_it():
    found = hosts(PODS, MADE, PodConnection(), {"a": "gpu-0", "gpu-1": ""}, {})
    assert [one["variables"]["taco_pod"]["node_host"] for one in found[:2]] == ["a", "gpu-1"]
    assert hosts(PODS, MADE, PodConnection(), {"a": "other"}, {})[0]["variables"]["taco_pod"]["node_host"] is None


def test_a_pod_has_the_labels_of_its_node():
    zone = {"topology.kubernetes.io/zone": "z1"}
    found = hosts(PODS, MADE, PodConnection(), {}, {}, {"gpu-0": zone})
    assert [one["variables"]["taco_pod"]["node_labels"] for one in found[:2]] == [zone, {}]


def test_a_container_of_another_name_is_the_one_to_work_in():
    found = hosts([pod("j-worker-0", container="mpi")], MADE, PodConnection(), {}, {})
    assert found[0]["variables"]["ansible_kubectl_container"] == "mpi"


def test_the_image_of_a_pod_is_the_digest_that_the_cluster_names():
    running = pod("j-worker-0", container="main")
    running["status"]["containerStatuses"] = [
        {"name": "proxy", "imageID": "mesh@sha256:0"},
        {"name": "main", "imageID": "docker-pullable://taco@sha256:12"},
    ]
    for pods, image in (([running], "taco@sha256:12"), ([pod("j-worker-0")], None)):
        assert hosts(pods, MADE, PodConnection(), {}, {})[0]["variables"]["taco_pod"]["image"] == image

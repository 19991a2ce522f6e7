# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module against a cluster that stores objects and moves pods."""

from pathlib import Path

import pytest
from mpijob_actor import ALLOCATABLE, NODES, WORKERS

LABEL = "app.kubernetes.io/managed-by"


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_job_runs_and_its_pods_become_hosts(on, version):
    actor = on(serve=(version,))
    result = actor.run()
    assert result["changed"]
    assert result["api_version"] == version
    assert actor.jobs() == ["taco-bench"]
    assert [worker["pod"] for worker in result["workers"]] == WORKERS == list(result["placement"])
    assert sorted(result["placement"].values()) == ["gpu-1", "gpu-2"]
    assert actor.cluster.get("MPIJob", "taco-bench")["metadata"]["labels"] == {LABEL: "taco.train"}
    # By these names the launcher reaches the workers.
    names = WORKERS if version == "v1" else [f"{name}.taco-bench.default.svc" for name in WORKERS]
    assert result["hosts"] == [{"name": name, "slots": 8} for name in names]
    assert all(pod["variables"]["benchmark_hosts"] == result["hosts"] for pod in result["pods"])
    assert [pod["name"] for pod in result["pods"]] == [*WORKERS, result["launcher"]["pod"]]
    assert actor.lines[-1].startswith("taco-bench: Running, 2 of 2 workers ready, launcher runs")
    again = actor.run()
    assert not again["changed"] and again["pods"] == result["pods"] and again["diff"] == {}
    assert "Nothing was changed" in again["msg"]


def test_a_pod_is_reached_by_kubectl_and_carries_what_the_benchmark_asks(on):
    actor = on()
    result = actor.run(nodes={"node-a": "gpu-1", "gpu-2": ""}, pod_variables={"taco_lab": True}, context="kubelab")
    by_name = {pod["name"]: pod for pod in result["pods"]}
    worker, launcher = by_name[WORKERS[0]], by_name["taco-bench-launcher"]
    assert worker["groups"] == ["taco_workers"] and launcher["groups"] == ["taco_launcher"]
    node = result["placement"][WORKERS[0]]
    assert worker["variables"] == {
        "ansible_connection": "kubernetes.core.kubectl",
        "ansible_kubectl_pod": WORKERS[0],
        "ansible_kubectl_namespace": "default",
        "ansible_kubectl_container": "mpi-worker",
        "ansible_kubectl_kubeconfig": actor.cluster.kubeconfig,
        "ansible_kubectl_context": "kubelab",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_become": False,
        "ansible_pipelining": True,
        "benchmark_exec_prefix": [],
        "benchmark_launcher": "taco-bench-launcher",
        "benchmark_hosts": result["hosts"],
        "taco_lab": True,
        "taco_pod": {
            "name": WORKERS[0],
            "node": node,
            "role": "worker",
            "job": "taco-bench",
            "namespace": "default",
            "node_host": {"gpu-1": "node-a", "gpu-2": "gpu-2"}[node],
            "image": worker["variables"]["taco_pod"]["image"],
        },
    }
    assert launcher["variables"]["ansible_kubectl_container"] == "mpi-launcher"


def test_the_version_is_the_one_that_is_stored_unless_another_is_asked_for(on):
    actor = on(serve=("v1", "v2beta1"))
    stored = next(
        version["name"]
        for version in actor.cluster.get("CustomResourceDefinition", "mpijobs.kubeflow.org", None)["spec"]["versions"]
        if version["storage"]
    )
    assert actor.run(check=True)["api_version"] == stored
    for version in ("v1", "v2beta1"):
        assert actor.run(check=True, api_version=version)["api_version"] == version


def test_who_may_not_read_the_definition_or_the_nodes_still_gets_a_job(on):
    actor = on(serve=("v2beta1",))
    actor.cluster.forbid("get", "customresourcedefinitions")
    actor.cluster.forbid("list", "nodes")
    actor.cluster.forbid("list", "events")
    result = actor.run()
    assert result["api_version"] == "v2beta1" and result["changed"]
    (warning,) = [text for text in result["warnings"] if '"resources": ["nodes"]' in text]
    assert "not checked" in warning and "ClusterRole" in warning


def test_check_mode_reads_and_writes_nothing(on):
    actor = on()
    predicted = actor.run(check=True)
    assert predicted["changed"] and predicted["pods"] == []
    assert "would have created the MPIJob taco-bench" in predicted["msg"]
    assert predicted["diff"]["before"] == "" and '"kind": "MPIJob"' in predicted["diff"]["after"]
    assert actor.written() == [] and actor.jobs() == []
    done = actor.run()
    assert done["diff"] == predicted["diff"]
    same = actor.run(check=True)
    assert not same["changed"] and same["pods"] == done["pods"]
    before = len(actor.written())
    for options in ({"gpus_per_worker": 4, "replace": True}, {"clean_pod_policy": "All"}, {"state": "absent"}):
        result = actor.run(check=True, **options)
        assert result["changed"] and "would have" in result["msg"]
    assert len(actor.written()) == before and actor.jobs() == ["taco-bench"]
    assert not (actor.folder / "pods").exists()


def test_another_template_is_refused_and_says_what_differs(on):
    actor = on()
    actor.run()
    before = len(actor.written())
    actor.refused(
        "the MPIJob taco-bench in the namespace default is not the one",
        "slotsPerWorker is 8 and should be 4",
        "mpijob_replace: true",
        gpus_per_worker=4,
    )
    actor.refused("mpiReplicaSpecs.Worker.template.spec.containers[0].image", image="other:1")
    assert len(actor.written()) == before


def test_another_template_is_made_anew_when_that_is_allowed(on):
    actor = on()
    old = actor.run()
    uid = actor.cluster.get("MPIJob", "taco-bench")["metadata"]["uid"]
    actor.cluster.log(WORKERS[1], "loss 0.1\n")
    result = actor.run(gpus_per_worker=4, replace=True)
    assert result["changed"]
    assert actor.cluster.get("MPIJob", "taco-bench")["metadata"]["uid"] != uid
    assert set(result["logs"]) == {pod["name"] for pod in old["pods"]}
    assert Path(result["logs"][WORKERS[1]]).read_text() == "loss 0.1\n"
    assert "deleted the MPIJob taco-bench, since slotsPerWorker is 8 and should be 4" in result["msg"]
    assert not actor.run(gpus_per_worker=4, replace=True)["changed"]


def test_what_can_be_changed_is_changed_in_place(on):
    actor = on()
    actor.run()
    uid = actor.cluster.get("MPIJob", "taco-bench")["metadata"]["uid"]
    result = actor.run(clean_pod_policy="None")
    assert result["changed"] and "cleanPodPolicy is 'Running' and should be 'None'" in result["msg"]
    job = actor.cluster.get("MPIJob", "taco-bench")
    assert job["metadata"]["uid"] == uid and job["spec"]["cleanPodPolicy"] == "None"
    assert not actor.run(clean_pod_policy="None")["changed"]


def test_a_job_that_has_ended_is_no_job_to_run_in(on):
    actor = on()
    actor.cluster.script("launcher", ["Succeeded"])
    actor.refused("it has ended (Succeeded", "kubectl delete mpijob taco-bench")
    actor.cluster.script("launcher", ["Running"])
    actor.refused("it has ended (Succeeded", "mpijob_replace")
    assert actor.run(replace=True)["changed"]


def test_nodes_that_could_never_hold_it_are_named_before_anything_is_made(on):
    small = {**ALLOCATABLE, "hugepages-1Gi": "0"}
    actor = on([NODES[0], {"name": "gpu-2", "allocatable": small}])
    actor.refused("2 nodes could hold 1 of 2 workers", "gpu-2 can allocate 0 GiB of hugepages-1Gi", "kubelet")
    assert actor.written() == []


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        ((), ["no CRD mpijobs.kubeflow.org", "install the MPI Operator"]),
        (("v1alpha1",), ["serves MPIJob in v1alpha1", "Arena"]),
    ],
)
def test_a_cluster_without_the_kind_says_what_to_install(on, serve, words):
    actor = on(serve=serve)
    actor.refused(*words)
    assert not actor.run(state="absent")["changed"]


def test_a_version_that_is_not_served_names_those_that_are(on):
    on(serve=("v2beta1",)).refused("serves MPIJob in v2beta1", "expected v1", api_version="v1")


def test_while_nothing_changes_little_is_asked(on):
    actor = on()
    actor.cluster.script("worker", ["ContainerCreating"])
    actor.refused("workers are ready after 60 s", wait_timeout=60)
    # One watch and list of the job and of the pods, the job, the pods and the events in 20 s.
    assert len(actor.cluster.requests) <= 60


def test_a_change_is_seen_at_once(on):
    actor = on()
    actor.cluster.script("worker", [{"state": "ContainerCreating", "seconds": 0.5}, "Running"])
    actor.run(wait_timeout=600)
    assert sum(actor.slept) < 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "Taco"}, "the name 'Taco'"),
        ({"name": "a" * 60}, "too long"),
        ({"definition": {"spec": {}}}, "definition has no 'runPolicy'"),
        ({"definition": None}, "definition"),
        ({"wrong": 1}, "wrong"),
    ],
)
def test_bad_options_never_reach_the_cluster(on, options, words):
    actor = on()
    actor.refused(words, **options)
    assert actor.written() == []

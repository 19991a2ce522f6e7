# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An MPIJob is created, left alone, replaced and removed, and one of another manager is refused."""

from pathlib import Path

import pytest
from contract_cluster import JOB, LABEL, OPTIONS, run

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest

FOREIGN = [(None, "it has no label app.kubernetes.io/managed-by"), ("argo", "app.kubernetes.io/managed-by is argo")]


def test_a_new_job_runs_and_its_pods_become_hosts(cluster):
    result = cluster.job(nodes={"host-a": cluster.node}, pod_variables={"taco_lab": True})
    assert result["changed"] and result["api_version"] == cluster.version
    assert cluster.get("MPIJob")["metadata"]["labels"] == {LABEL: "taco.train"}
    assert [worker["pod"] for worker in result["workers"]] == cluster.workers == list(result["placement"])
    launcher = result["launcher"]["pod"]
    assert set(cluster.names("Pod")) == {*cluster.workers, launcher}
    for name, node in result["placement"].items():
        assert cluster.get("Pod", name)["spec"]["nodeName"] == node
    # By these names the launcher reaches the workers.
    suffix = "" if cluster.version == "v1" else f".{JOB}.{cluster.namespace}.svc"
    assert result["hosts"] == [{"name": name + suffix, "slots": 1} for name in cluster.workers]
    pods = {pod["name"]: pod for pod in result["pods"]}
    assert pods[launcher]["groups"] == ["taco_launcher"] and pods[launcher]["variables"]["taco_lab"] is True
    variables = pods[cluster.workers[0]]["variables"]
    assert pods[cluster.workers[0]]["groups"] == ["taco_workers"]
    reached = {name: variables[f"ansible_kubectl_{name}"] for name in ("pod", "namespace", "container", "kubeconfig")}
    assert reached == {
        "pod": cluster.workers[0],
        "namespace": cluster.namespace,
        "container": "mpi-worker",
        "kubeconfig": cluster.kubeconfig,
    }
    assert variables["ansible_connection"] == "kubernetes.core.kubectl"
    assert variables["benchmark_launcher"] == launcher and variables["benchmark_hosts"] == result["hosts"]
    node = result["placement"][cluster.workers[0]]
    assert variables["taco_pod"]["node"] == node
    assert variables["taco_pod"]["node_host"] == ("host-a" if node == cluster.node else node)
    assert variables["taco_pod"]["node_labels"] == cluster.get("Node", node)["metadata"]["labels"]


def test_without_the_permission_to_list_nodes_pods_are_hosts_without_labels(cluster):
    result = cluster.job(**cluster.account(("list", "nodes")))
    assert [pod["variables"]["taco_pod"]["node_labels"] for pod in result["pods"]] == [{}] * 3


@pytest.mark.double_only(reason="one cluster serves either the version of Training Operator or that of MPI Operator")
def test_a_job_of_the_training_operator_runs(double):
    cluster = double(serve=("v1",))
    result = cluster.job()
    assert result["changed"] and result["api_version"] == "v1"
    assert [host["name"] for host in result["hosts"]] == cluster.workers
    assert not cluster.job()["changed"]
    assert cluster.removed()["changed"] and cluster.names("Pod") == []


def test_a_job_with_the_same_options_is_not_changed(cluster):
    first = cluster.job()
    before = cluster.written()
    again = cluster.job()
    assert not again["changed"] and "Nothing was changed" in again["msg"]
    assert again["pods"] == first["pods"] and cluster.written() == before


def test_check_mode_predicts_and_writes_nothing(cluster):
    before = cluster.written()
    predicted = cluster.job(check=True)
    assert predicted["changed"] and predicted["pods"] == [] and "would have" in predicted["msg"]
    assert cluster.written() == before
    assert cluster.job()["diff"] == predicted["diff"]
    before = cluster.written()
    assert not cluster.job(check=True)["changed"]
    for options in ({"gpus_per_worker": 2, "replace": True}, {"clean_pod_policy": "All"}, {"state": "absent"}):
        result = cluster.job(check=True, **options)
        assert result["changed"] and "would have" in result["msg"]
    assert cluster.written() == before


def test_a_job_with_another_template_is_refused_and_the_difference_named(cluster):
    cluster.job()
    before = cluster.written()
    cluster.refused("slotsPerWorker is 1 and should be 2", "mpijob_replace: true", gpus_per_worker=2)
    cluster.refused("mpiReplicaSpecs.Worker.template.spec.containers[0].image", image="other:1")
    assert cluster.written() == before


def test_a_job_with_another_template_is_replaced_where_that_is_permitted(cluster, tmp_path):
    cluster.job()
    uid = cluster.get("MPIJob")["metadata"]["uid"]
    pods = cluster.names("Pod")
    result = cluster.job(gpus_per_worker=2, replace=True, logs_dir=str(tmp_path))
    assert result["changed"] and "slotsPerWorker is 1 and should be 2" in result["msg"]
    assert cluster.get("MPIJob")["metadata"]["uid"] != uid
    assert sorted(result["logs"]) == pods and all(Path(path).exists() for path in result["logs"].values())
    assert not cluster.job(gpus_per_worker=2, replace=True)["changed"]


def test_a_policy_is_changed_in_place(cluster):
    cluster.job()
    uid = cluster.get("MPIJob")["metadata"]["uid"]
    result = cluster.job(clean_pod_policy="None")
    assert result["changed"] and "cleanPodPolicy is 'Running' and should be 'None'" in result["msg"]
    job = cluster.get("MPIJob")
    assert job["metadata"]["uid"] == uid and job["spec"]["runPolicy"]["cleanPodPolicy"] == "None"
    assert not cluster.job(clean_pod_policy="None")["changed"]


@pytest.mark.parametrize(("manager", "words"), FOREIGN, ids=["no manager", "another manager"])
def test_a_job_of_another_manager_is_refused_for_every_change(cluster, manager, words):
    cluster.job()
    cluster.manager(manager)
    before = cluster.written()
    refusal = (JOB, "is not managed by taco.train", words, "mpijob_any_manager: true")
    # The first is the same job but for its label.
    for options in ({}, {"clean_pod_policy": "None"}, {"gpus_per_worker": 2}, {"check": True}, {"replace": True}):
        cluster.refused(*refusal, **options)
    for options in ({}, {"check": True}, {"replace": True}):
        cluster.refused(*refusal, state="absent", **options)
    assert cluster.written() == before


def test_a_job_of_another_manager_is_replaced_and_removed_where_that_is_permitted(cluster):
    cluster.job()
    uid = cluster.manager("argo")
    result = cluster.job(any_manager=True)
    assert result["changed"] and "is not managed by taco.train" in result["msg"]
    assert cluster.get("MPIJob")["metadata"]["uid"] != uid
    assert not cluster.job(any_manager=True)["changed"]
    # The permission is none to replace a job of this collection.
    cluster.refused("mpijob_replace: true", gpus_per_worker=2, any_manager=True)
    cluster.manager(None)
    assert cluster.removed(any_manager=True)["changed"] and cluster.get("MPIJob") is None


def test_a_job_that_has_ended_is_refused_and_replaced_where_that_is_permitted(cluster):
    if cluster.double:
        cluster.double.script("launcher", ["Succeeded"])
    cluster.refused("it has ended (Succeeded", f"kubectl delete mpijob {JOB}", command=["true"])
    cluster.refused("it has ended (Succeeded", "mpijob_replace: true", command=["true"])
    if cluster.double:
        cluster.double.forget_scripts()
    assert cluster.job(replace=True)["changed"]
    assert not cluster.job(replace=True)["changed"]


@pytest.mark.double_only(reason="a real operator starts a launcher that fails again for a quarter of an hour")
@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_launcher_that_fails_ends_the_wait(double, version):
    cluster = double(serve=(version,))
    cluster.double.script("launcher", [{"state": "Failed", "exit_code": 1}])
    cluster.refused("ended (Failed", f"kubectl delete mpijob {JOB} --namespace {cluster.namespace}")
    assert cluster.get("MPIJob")


def test_a_removed_job_leaves_no_pods_and_its_logs_are_kept(cluster, tmp_path):
    cluster.job()
    pods = cluster.names("Pod")
    gone = cluster.removed(logs_dir=str(tmp_path), workers=None, gpus_per_worker=None)
    assert gone["changed"] and sorted(gone["logs"]) == pods
    assert all(Path(path).exists() for path in gone["logs"].values())
    assert cluster.get("MPIJob") is None and cluster.names("Pod") == []
    assert not cluster.removed(logs_dir=str(tmp_path))["changed"]


def test_a_job_with_a_finalizer_is_named_when_it_does_not_go(cluster):
    cluster.job()
    cluster.patch("MPIJob", metadata={"finalizers": ["example.com/kept"]})
    cluster.refused(f"the MPIJob {JOB} is still there", "finalizer", state="absent", wait_timeout=cluster.seconds)
    cluster.patch("MPIJob", metadata={"finalizers": None})
    cluster.wait(lambda: cluster.get("MPIJob") is None)


def test_a_job_whose_launcher_runs_its_command_is_not_ended_unasked(cluster):
    train = ["sh", "-c", "while true; do sleep 1; done"]
    cluster.job(command=train)
    before = cluster.written()
    words = ("would end running work", "taco_interrupt_running_work", "while true")
    cluster.refused("the deletion", *words, state="absent")
    cluster.refused("the replacement", *words, command=train, gpus_per_worker=2, replace=True)
    warned = cluster.removed(check=True)
    assert warned["changed"] and any("would end running work" in text for text in warned["warnings"])
    assert cluster.written() == before
    assert cluster.removed(interrupt_running_work=True)["changed"] and cluster.get("MPIJob") is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"definition": None}, "definition"),
        ({"definition": {"spec": {}}}, "definition has no 'runPolicy'"),
        ({"name": "Taco"}, "the name 'Taco'"),
        ({"wrong": 1}, "wrong"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_before_the_cluster_is_asked(options, words, tmp_path):
    # There is no kubeconfig, which would be the failure of a request.
    definition = mpijob_manifest(OPTIONS)
    result = run("mpijob", {"definition": definition, "kubeconfig": str(tmp_path / "none"), **options})
    assert result["failed"] and words in result["msg"]

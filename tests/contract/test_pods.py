# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that do not start, end or can't be looked into are named with the cause, and so is a job that changes meanwhile."""

from pathlib import Path

import pytest
from contract_cluster import JOB, NODES

REMOVE = f"kubectl delete mpijob {JOB} --namespace "
SCRIPTED = pytest.mark.double_only(reason="pods that fail in a certain way")
KUBELET = 'Get "https://10.0.0.5:10250/containerLogs/x": dial tcp 10.0.0.5:10250: connect: connection refused'
RESTRICTED = (
    'violates PodSecurity "restricted:latest": privileged (container "mpi-worker" must not set securityContext.privileged=true), '
    'runAsNonRoot != true (pod or container "mpi-worker" must set securityContext.runAsNonRoot=true)'
)
LOG = f"/pods/{JOB}-worker-1/log"


def test_nodes_that_could_never_hold_the_job_are_named_before_it_is_created(cluster):
    cluster.refused("could hold 0 of 2 workers", "hugepages-1Gi", hugepages=4000)
    assert cluster.get("MPIJob") is None


def test_an_image_that_cannot_be_pulled_is_named_when_the_time_is_over(cluster):
    if cluster.double:
        cluster.double.script("", ["ImagePullBackOff"])
    cluster.refused(
        "0 of 2 workers are ready",
        f"{JOB}-worker-1",
        "its container mpi-worker has no image",
        "set mpijob_image",
        REMOVE + cluster.namespace,
        image="registry.invalid/none:1",
        wait_timeout=cluster.seconds,
    )
    assert cluster.get("MPIJob")


def test_a_quota_of_jobs_is_named_and_nothing_is_created(cluster):
    hard = {"count/mpijobs.kubeflow.org": "0"}
    cluster.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-a"}, "spec": {"hard": hard}}
    )
    cluster.refused("exceed the quota team-a", "count/mpijobs.kubeflow.org", "Nothing was created")
    assert cluster.get("MPIJob") is None


def test_a_quota_that_refuses_pods_is_named(cluster):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team-a"},
        "spec": {"hard": {"pods": "1"}},
    }
    cluster.create(quota)
    cluster.refused("team-a", "have the quota raised", REMOVE + cluster.namespace, wait_timeout=cluster.seconds)


def test_a_new_job_waits_until_the_operator_has_ended_its_pause_for_an_earlier_one(cluster):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team-a"},
        "spec": {"hard": {"pods": "0"}},
    }
    cluster.create(quota)
    cluster.refused("team-a", wait_timeout=4 * cluster.seconds)
    cluster.removed()
    cluster.delete("ResourceQuota", "team-a")
    assert len(cluster.job()["pods"]) == 3


def test_pods_that_the_namespace_refuses_are_named_with_its_label(cluster):
    if cluster.double:
        cluster.double.refuse_pods(RESTRICTED)
    else:
        cluster.patch(
            "Namespace", cluster.namespace, metadata={"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
        )
    words = ("violates PodSecurity", "pod-security.kubernetes.io/enforce")
    cluster.refused(*words, privileged=True, wait_timeout=cluster.seconds)


@pytest.mark.double_only(reason="refusals of pods in certain words")
@pytest.mark.parametrize(
    ("why", "fix"),
    [
        (
            'error looking up service account default/trainer: serviceaccount "trainer" not found',
            "kubectl create serviceaccount trainer --namespace default",
        ),
        ('violates PodSecurity "baseline:latest": privileged (container "x")', "mpijob_privileged: false"),
        ("insufficient quota to match these scopes: [{PriorityClass In [high]}]", "have a ResourceQuota created"),
    ],
    ids=["service account", "privileged", "scopes"],
)
def test_pods_that_are_refused_are_named_with_the_fix(double, why, fix):
    cluster = double()
    cluster.double.refuse_pods(why)
    message = cluster.refused(fix, REMOVE + cluster.namespace, wait_timeout=4)
    assert "no operator" not in message


def test_a_job_that_is_deleted_meanwhile_is_not_waited_for(cluster):
    if cluster.double:
        cluster.double.script("", ["ImagePullBackOff"])
    with cluster.meanwhile(lambda: cluster.names("Pod"), lambda: cluster.delete("MPIJob")):
        cluster.refused("was deleted while its pods were waited for", image="registry.invalid/none:1")


def test_a_pod_of_another_owner_with_the_name_of_a_worker_stays(cluster):
    container = {"name": "main", "image": "registry.invalid/none:1"}
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": cluster.workers[0], "labels": {"app": "theirs"}},
            "spec": {"containers": [container]},
        }
    )
    words = (f"delete the Pod {cluster.workers[0]} of another owner", "mpijob_name")
    cluster.refused(*words, wait_timeout=cluster.seconds)
    cluster.removed()
    assert cluster.get("Pod", cluster.workers[0])["metadata"]["labels"] == {"app": "theirs"}


@SCRIPTED
@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            {"state": "CrashLoopBackOff", "exit_code": 3},
            ["1 of 2 workers", f"{JOB}-worker-1: its container mpi-worker", "exit status 3"],
        ),
        ({"state": "NotReady"}, ["1 of 2 workers", f"{JOB}-worker-1: it runs and isn't Ready"]),
        (
            {"state": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient hugepages-1Gi."},
            ["1 of 2 workers", "hugepages-1Gi", "other pods hold it"],
        ),
        (
            {"state": "Unschedulable", "message": "0/2 nodes are available: 2 node(s) were unschedulable."},
            ["1 of 2 workers", "kubectl uncordon"],
        ),
    ],
    ids=["crash loop", "not ready", "held by others", "cordoned"],
)
def test_a_worker_that_does_not_become_ready_is_named_when_the_time_is_over(double, step, words):
    cluster = double()
    cluster.double.script("worker-1$", [step])
    cluster.refused(*words, REMOVE + cluster.namespace, wait_timeout=1, hugepages=50)


@SCRIPTED
def test_pods_of_others_that_may_not_be_listed_are_looked_for_with_kubectl(double):
    cluster = double()
    message = "0/2 nodes are available: 2 Insufficient hugepages-1Gi."
    cluster.double.script("worker-1$", [{"state": "Unschedulable", "message": message}])
    cluster.double.fail("GET", "/api/v1/pods", status=403, times=99)
    cluster.refused("other pods hold it", "run `kubectl describe node", wait_timeout=1, hugepages=50)


@SCRIPTED
def test_taints_that_the_scheduler_does_not_name_are_read_from_the_nodes(double):
    cluster = double()
    node = cluster.double.get("Node", "gpu-2", None)
    node["spec"]["taints"] = [{"key": "team", "value": "speech", "effect": "NoSchedule"}]
    message = "0/2 nodes are available: 2 node(s) had untolerated taint(s)."
    cluster.double.script("worker-1$", [{"state": "Unschedulable", "message": message}])
    with cluster.meanwhile(lambda: cluster.names("Pod"), lambda: cluster.double.put(node)):
        cluster.refused("untolerated taint(s)", "gpu-2 has team=speech:NoSchedule", wait_timeout=2)


@SCRIPTED
def test_a_worker_that_ended_is_not_waited_for_to_the_end_and_its_log_is_read(double):
    cluster = double()
    name = f"{JOB}-worker-0.{JOB}"
    cluster.double.log(cluster.workers[1], f"ssh: Could not resolve hostname {name}: Name or service not known\n")
    cluster.double.script("worker-1$", [{"state": "Failed", "exit_code": 255}])
    cluster.refused(f"{JOB}-worker-1 ended and was not started again", f"kubectl get service {JOB}", wait_timeout=600)


@SCRIPTED
def test_an_evicted_worker_ends_the_job(double):
    cluster = double(serve=("v1",))
    cluster.double.script("worker-1$", [{"state": "Running", "seconds": 0.05}, {"state": "Evicted"}])
    cluster.double.script("worker-0$", ["ContainerCreating"])
    cluster.refused("MPIJobEvicted", "1/2 workers are evicted", "low on resource", REMOVE + cluster.namespace)


@SCRIPTED
def test_a_worker_that_becomes_ready_late_is_waited_for(double):
    cluster = double()
    cluster.double.script("worker", [{"state": "ContainerCreating", "seconds": 0.5}, "Running"])
    assert len(cluster.job(wait_timeout=600)["pods"]) == 3


@pytest.mark.double_only(reason="an operator that does not run")
def test_a_job_that_no_operator_takes_up_is_not_waited_for_to_the_end(double):
    cluster = double(operator=False)
    cluster.refused("no operator has taken it up", "MPI Operator", REMOVE + cluster.namespace, wait_timeout=4)
    assert cluster.get("MPIJob")


@pytest.mark.double_only(reason="a kubelet that does not answer")
def test_containers_that_never_started_have_no_log_to_lose(double, tmp_path):
    cluster = double()
    cluster.double.script("worker", ["ContainerCreating"])
    cluster.refused("workers are ready", wait_timeout=1)
    # Also when the node is lost, so that nobody can say it.
    cluster.double.fail("GET", LOG, status=500, body=KUBELET, times=99)
    gone = cluster.removed(logs_dir=str(tmp_path))
    assert not any("was lost" in text for text in gone.get("warnings", [])) and cluster.get("MPIJob") is None
    assert "is waiting to start" in Path(gone["logs"][cluster.workers[0]]).read_text()


@pytest.mark.double_only(reason="a kubelet that does not answer")
@pytest.mark.parametrize(
    "changes", [{"state": "absent"}, {"gpus_per_worker": 2, "replace": True}], ids=["absent", "replace"]
)
def test_a_job_stays_while_a_log_cannot_be_read_unless_that_is_permitted(double, tmp_path, changes):
    cluster = double()
    cluster.job()
    cluster.double.fail("GET", LOG, status=500, body=KUBELET, times=99)
    options = {**changes, "logs_dir": str(tmp_path)}
    cluster.refused(f"{JOB}-worker-1: ", "connection refused", "mpijob_allow_lost_logs: true", **options)
    assert cluster.get("MPIJob")
    gone = cluster.job(**options, allow_lost_logs=True)
    (warning,) = [text for text in gone["warnings"] if "was lost" in text]
    assert f"{JOB}-worker-1: " in warning and "kubectl get node gpu-" in warning
    assert Path(gone["logs"][cluster.workers[1]]).read_text().startswith("There is no log: ")


@pytest.mark.double_only(reason="logs with certain content")
def test_the_logs_of_an_earlier_job_of_the_same_name_stay(double, tmp_path):
    cluster = double()
    for text in ("first\n", "second\n"):
        cluster.job()
        cluster.double.log(cluster.workers[0], text)
        cluster.double.fail("GET", f"{JOB}-worker-0/log", status=500, body=KUBELET, times=1)
        assert Path(cluster.removed(logs_dir=str(tmp_path))["logs"][cluster.workers[0]]).read_text() == text
    kept = sorted(path.read_text() for path in tmp_path.iterdir() if path.name.startswith(cluster.workers[0]))
    assert kept == ["first\n", "second\n"]


@pytest.mark.double_only(reason="the processes of a launcher")
def test_mpirun_in_the_launcher_is_running_work_and_so_are_processes_that_cannot_be_listed(double):
    cluster = double()
    launcher = cluster.job()["launcher"]["pod"]
    failure = "error dialing backend: dial tcp 10.0.0.5:10250: connect: connection refused"
    cluster.double.fail("GET", "/exec", status=500, body=failure, times=99)
    cluster.refused("processes can't be listed", "taco_interrupt_running_work", state="absent")
    cluster.double.allow()
    for command in ("mpirun -np 16 python train.py", "/usr/bin/python3 /usr/local/bin/horovodrun -np 2 x"):
        cluster.double.processes(launcher, f"sleep infinity\n{command}")
        cluster.refused(command, "taco_interrupt_running_work", state="absent")
    cluster.double.processes(launcher, "sleep infinity\ngrep -r x mpirun")
    assert cluster.removed()["changed"] and cluster.get("MPIJob") is None


@pytest.mark.double_only(reason="the log of an operator whose pods are refused, and its repair")
def test_a_job_whose_cause_was_repaired_is_waited_for(double):
    cluster = double()
    cluster.double.refuse_pods(RESTRICTED)
    cluster.refused("violates PodSecurity", privileged=True, wait_timeout=4)
    cluster.double.refuse_pods()
    assert len(cluster.job(privileged=True)["pods"]) == 3


@pytest.mark.double_only(reason="many nodes")
def test_many_nodes_with_the_same_lack_are_grouped_in_a_short_message(double):
    lacking = [{"name": f"node-{number:03}", "allocatable": NODES[0]["allocatable"]} for number in range(120)]
    cluster = double(lacking)
    message = cluster.refused("could hold 0 of 2 workers", "more", hugepages=100)
    assert message.count("node-") <= 10

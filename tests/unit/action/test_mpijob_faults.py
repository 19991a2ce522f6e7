# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What goes wrong in a cluster is waited out, or said with what helps; and what is left there is named."""

import json
from pathlib import Path

import pytest
from mpijob_actor import NODES, REMOVE, WORKERS

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client

JOBS = "/mpijobs"


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/version$", {"body": "disconnect"}),
        ("/apis$", {"status": 503}),
        ("/mpijobs/taco-bench", {"status": 502}),
    ],
    ids=str,
)
def test_a_server_that_stumbles_is_asked_again(on, path, fault):
    actor = on(nodes=NODES)
    actor.cluster.fail(method="GET", path=path, times=2, **fault)
    assert actor.run()["changed"]
    assert actor.jobs() == ["taco-bench"]


def test_a_server_that_asks_for_time_gets_it(on):
    actor = on()
    actor.cluster.fail(method="POST", path=JOBS, status=429, times=1)
    actor.run()
    assert max(actor.slept) >= 1
    assert any("trying again in" in line for line in actor.lines)


def test_a_server_that_never_recovers_is_given_up_and_nothing_is_made(on):
    actor = on()
    actor.cluster.fail(method="GET", path="customresourcedefinitions", status=500, times=999)
    actor.refused("can't read CustomResourceDefinition", "however often", "etcdserver")
    assert len(actor.slept) == 6
    assert actor.slept == sorted(actor.slept)
    assert actor.written() == []


@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"status": 409}, {"body": "disconnect"}, {"body": "disconnect-after"}],
    ids=str,
)
def test_a_job_is_made_once_whatever_becomes_of_the_answer(on, fault):
    actor = on()
    actor.cluster.fail(method="POST", path=JOBS, times=1, **fault)
    assert actor.run()["changed"]
    assert actor.jobs() == ["taco-bench"]
    made = [
        path for method, path, status in actor.cluster.requests if method == "POST" and JOBS in path and status == 201
    ]
    assert len(made) == (0 if fault.get("body") == "disconnect-after" and not made else 1)


def status(code, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}


def test_a_webhook_that_is_down_is_named_and_nothing_is_left(on):
    actor = on()
    said = 'Internal error occurred: failed calling webhook "guard.example.com": connect: connection refused'
    actor.cluster.fail(method="POST", path=JOBS, status=500, body=status(500, said), times=99)
    message = actor.refused(
        "check that the service behind the webhook guard.example.com runs",
        "kubectl get validatingwebhookconfigurations",
        "Nothing was created",
    )
    assert "run it again later" not in message and "Possibly left" not in message and actor.jobs() == []


def test_a_permission_that_held_before_is_waited_for(on):
    """A server that has just started refuses everything for a moment."""
    actor = on(operator=False)
    actor.on_line["0 of 2 workers ready"] = lambda: (
        actor.cluster.fail(method="GET", path="/mpijobs/taco-bench", status=403, body=status(403, "no"), times=2),
        actor.cluster.start_operator(),
    )
    assert len(actor.run()["pods"]) == 3
    assert any("trying again in" in line for line in actor.lines), actor.lines


def test_commands_in_pods_that_are_forbidden_need_both_verbs_and_nothing_is_interrupted(on):
    """Kubernetes 1.35 and newer need create, and its answer has no reason."""
    actor = on()
    actor.run()
    said = 'pods "taco-bench-launcher" is forbidden: '
    actor.cluster.fail(method="GET", path="/exec", status=403, body=status(403, said), times=9)
    message = actor.refused(
        "can't run a command in the pod taco-bench-launcher of the namespace default",
        '"resources": ["pods/exec"], "verbs": ["get", "create"]',
        state="absent",
    )
    assert "interrupt" not in message and actor.jobs() == ["taco-bench"]


def test_a_conflict_that_does_not_end_is_no_success(on):
    actor = on()
    actor.cluster.fail(method="POST", path=JOBS, status=409, times=99)
    actor.refused("can't create MPIJob taco-bench", "doesn't have it", "Possibly left")
    assert actor.jobs() == []


def test_a_missing_permission_is_named_with_the_rule_that_gives_it(on):
    actor = on()
    actor.cluster.forbid("create", "mpijobs")
    actor.refused(
        "can't create MPIJob taco-bench in the namespace default",
        "may not create mpijobs of the group kubeflow.org in the namespace default",
        'a Role with the rule {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["create"]}',
        "Nothing was created",
    )
    assert len(actor.slept) == 0


def test_a_quota_is_named(on):
    actor = on()
    actor.cluster.quota("default", {"count/mpijobs.kubeflow.org": "0"}, name="team-a")
    actor.refused("exceed the quota team-a", "count/mpijobs.kubeflow.org", "Nothing was created")


def test_a_quota_that_keeps_pods_from_being_made_is_named_too(on):
    actor = on()
    actor.cluster.quota("default", {"pods": "1"}, name="team-a")
    actor.refused("exceeded quota: team-a", "taco-bench-worker-1", "have the quota raised", REMOVE, wait_timeout=1)


def test_a_namespace_that_is_not_there_is_named(on):
    actor = on()
    actor.cluster.grant("default", "nowhere")
    actor.refused('namespaces "nowhere" not found', "taco_kube_namespace", namespace="nowhere")


def test_a_job_that_nobody_takes_up_is_not_waited_for_to_the_end(on):
    actor = on(operator=False)
    actor.refused("no operator has taken it up", "MPI Operator", REMOVE, wait_timeout=2)
    assert actor.jobs() == ["taco-bench"]


def warn(actor, message):
    """Record a warning about the job, as an operator whose pods are refused does before it writes any status."""
    job = actor.cluster.get("MPIJob", "taco-bench")
    about = {key: job["metadata"][key] for key in ("name", "namespace", "uid")}
    actor.cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "taco-bench.1", "namespace": "default"},
            "involvedObject": {"kind": "MPIJob", **about},
            "type": "Warning",
            "reason": "MPIJobFailed",
            "message": message,
            "lastTimestamp": "2100-01-01T00:00:00Z",
        }
    )


def test_a_refused_pod_is_the_reason_of_a_job_without_pods(on):
    actor = on(operator=False)
    actor.on_line["0 of 2 workers ready"] = lambda: warn(
        actor,
        'worker pod created failed: pods "taco-bench-worker-0" is forbidden: error looking up service account default/trainer: '
        'serviceaccount "trainer" not found',
    )
    said = actor.refused(
        "the MPIJob taco-bench is not usable: its pods are refused",
        'serviceaccount "trainer" not found',
        "kubectl create serviceaccount trainer --namespace default",
        REMOVE,
        wait_timeout=40,
    )
    assert "no operator" not in said and sum(actor.slept) < 20


def test_a_job_whose_cause_was_repaired_is_waited_for_until_the_operator_tries_again(on):
    actor = on(operator=False)
    message = 'worker pod created failed: pods "taco-bench-worker-0" is forbidden: violates PodSecurity "restricted:latest": privileged ('
    actor.on_line["0 of 2 workers ready"] = lambda: warn(actor, message)
    actor.refused("its pods are refused", wait_timeout=40)
    actor.lines.clear()
    actor.on_line["before this wait"] = actor.cluster.start_operator
    assert len(actor.run(wait_timeout=40)["pods"]) == 3
    assert any("tries again by itself" in line for line in actor.lines), actor.lines


def test_a_namespace_that_is_being_deleted_is_named(on):
    actor = on()
    said = "unable to create new content in namespace default because it is being terminated"
    message = f'mpijobs.kubeflow.org "taco-bench" is forbidden: {said}'
    answer = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": 403,
    }
    actor.cluster.fail(method="POST", path=JOBS, status=403, body=answer, times=9)
    actor.refused(
        said,
        "the namespace default is being deleted: wait until it is gone",
        "taco_kube_namespace",
        "Nothing was created",
    )


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_launcher_that_is_there_before_its_workers_waits_for_them(on, version):
    actor = on(serve=(version,))
    actor.cluster.script("worker", ["ContainerCreating"])
    actor.on_line["0 of 2 workers ready, launcher runs"] = lambda: actor.cluster.script("worker", ["Running"])
    assert len(actor.run()["pods"]) == 3
    assert actor.on_line == {}


def test_a_job_that_is_deleted_meanwhile_is_not_waited_for(on):
    actor = on()
    actor.cluster.script("worker", ["ContainerCreating"])
    actor.on_line["0 of 2 workers ready"] = lambda: actor.cluster.delete("MPIJob", "taco-bench")
    actor.refused("was deleted while its pods were waited for")


def test_a_way_that_is_lost_while_waiting_leaves_nothing_unnoticed(on):
    actor = on()
    actor.cluster.script("worker", ["ContainerCreating"])
    actor.on_line["0 of 2 workers ready"] = lambda: actor.cluster.fail(
        method="GET", path="/pods", body="disconnect", times=9999
    )
    actor.refused("can't read Pods in the namespace default", REMOVE)


def test_what_does_not_go_is_named(on):
    actor = on()
    actor.run()
    job = actor.cluster.get("MPIJob", "taco-bench")
    job["metadata"]["finalizers"] = ["example.com/kept"]
    actor.cluster.put(job)
    actor.refused("the MPIJob taco-bench is still there", "finalizer", state="absent", wait_timeout=1)


def test_a_deletion_that_fails_is_made_again(on):
    actor = on()
    actor.run()
    actor.cluster.fail(method="DELETE", path=JOBS, status=500, times=2)
    assert actor.run(state="absent")["changed"]
    assert actor.jobs() == []


def test_a_cluster_that_is_not_there_names_its_address_and_the_variable(on, tmp_path):
    actor = on()
    lost = tmp_path / "config"
    lost.write_text(Path(actor.cluster.kubeconfig).read_text().replace(actor.cluster.url, "http://127.0.0.1:9"))
    actor.refused("the API server at 127.0.0.1:9 can't be reached", "taco_kubeconfig", kubeconfig=str(lost))
    assert len(actor.slept) == 0
    actor.refused("no kubeconfig that works", f"taco_kubeconfig is {tmp_path}/none", kubeconfig=str(tmp_path / "none"))
    actor.refused("taco_kube_context", context="other")


def theirs(job):
    """Return the job of somebody else: the same but for its image."""
    other = json.loads(json.dumps(job))
    other["metadata"].pop("uid", None)
    for replica in other["spec"]["mpiReplicaSpecs"].values():
        replica["template"]["spec"]["containers"][0]["image"] = "theirs:1"
    return other


def test_a_job_that_somebody_else_creates_first_is_not_changed(on, monkeypatch):
    actor = on()
    create = Client.create

    def late(cluster, job):
        actor.cluster.put(theirs(job))
        return create(cluster, job)

    monkeypatch.setattr(Client, "create", late)
    actor.refused("Another client has created it meanwhile", "image", image="mine:1")
    (job,) = actor.cluster.objects("MPIJob")
    assert job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["image"] == "theirs:1"


def test_a_job_that_is_replaced_while_it_is_waited_for_is_not_taken_for_ours(on):
    actor = on()
    actor.cluster.script("worker", [{"state": "ContainerCreating", "seconds": 2}, "Running"])

    def replace():
        job = actor.cluster.get("MPIJob", "taco-bench")
        actor.cluster.storage.remove(
            next(one for one in actor.cluster.resources if one.kind == "MPIJob"), "default", "taco-bench"
        )
        actor.cluster.put(theirs(job))

    actor.on_line["0 of 2 workers ready"] = replace
    actor.refused("it was deleted", "while its pods were waited for")


def test_work_that_cannot_be_looked_for_counts_as_running(on):
    actor = on()
    actor.run()
    said = "error dialing backend: dial tcp 10.0.0.5:10250: connect: connection refused"
    actor.cluster.fail(method="GET", path="/exec", status=500, body=said, times=3)
    actor.refused("processes can't be listed", "taco_interrupt_running_work", state="absent")
    assert actor.jobs() == ["taco-bench"]
    actor.cluster.processes("taco-bench-launcher", "sleep infinity\nmpirun -np 16 python train.py")
    actor.refused("mpirun -np 16 python train.py runs in the launcher pod", state="absent")
    actor.cluster.processes("taco-bench-launcher", "sleep infinity")
    actor.cluster.fail(method="GET", path="/exec", status=500, body=said, times=1)
    assert actor.run(state="absent")["changed"] and actor.jobs() == []


def test_a_job_of_a_version_that_is_not_ours_is_not_said_to_be_gone(on):
    actor = on(serve=("v1alpha1",))
    (warning,) = actor.run(state="absent")["warnings"]
    assert "was not checked" in warning and "v1alpha1" in warning and "arena delete" in warning


def test_the_logs_of_an_earlier_job_of_the_same_name_stay(on):
    actor = on()
    for said in ("first", "second"):
        actor.run()
        actor.cluster.log(WORKERS[0], f"{said}\n")
        logs = actor.run(state="absent")["logs"]
        assert Path(logs[WORKERS[0]]).read_text() == f"{said}\n"
    kept = sorted(path.read_text() for path in Path(actor.folder, "pods").iterdir() if path.name.startswith(WORKERS[0]))
    assert kept == ["first\n", "second\n"]

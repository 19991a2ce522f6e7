# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From look to look: what is said, and when there is nothing to wait for any more."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.events import keys
from ansible_collections.taco.train.plugins.module_utils.cluster.wait import (
    ENDED_SECONDS,
    OPERATOR_SECONDS,
    Vanish,
    Wait,
)

LABELS = {"training.kubeflow.org/job-name": "j"}


def job(kind=None, **more):
    conditions = [{"type": kind, "status": "True", **more}] if kind else []
    return {"metadata": {"name": "j"}, "status": {"conditions": conditions}}


def pod(name, phase="Running", **status):
    role = "launcher" if "launcher" in name else "worker"
    conditions = [{"type": "Ready", "status": "True"}] if phase == "Running" else []
    return {
        "metadata": {"name": name, "labels": {**LABELS, "training.kubeflow.org/job-role": role}},
        "status": {"phase": phase, "conditions": conditions, **status},
    }


LAUNCHER, FIRST, SECOND = pod("j-launcher"), pod("j-worker-0"), pod("j-worker-1")


def test_a_line_is_said_only_when_something_changed():
    waiting = Wait("j", 2, 100, 0)
    assert waiting.look(0, job(), [], []).lines == [
        "j: Pending, 0 of 2 workers ready, launcher doesn't run yet, 0 s so far"
    ]
    assert waiting.look(2, job(), [], []).lines == []
    looked = waiting.look(4, job("Created"), [FIRST, pod("j-worker-1", "Pending")], [])
    assert (
        looked.lines == ["j: Created, 1 of 2 workers ready, launcher doesn't run yet, 4 s so far"] and not looked.usable
    )
    looked = waiting.look(6, job("Running"), [LAUNCHER, FIRST, SECOND], [])
    assert looked.usable and looked.failure is None and len(looked.lines) == 1


def test_a_trouble_is_said_once():
    waiting = Wait("j", 1, 100, 0)
    stuck = pod(
        "j-worker-0", "Pending", conditions=[{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]
    )
    assert any("no node can take it" in line for line in waiting.look(0, job("Created"), [stuck], []).lines)
    assert waiting.look(1, job("Created"), [stuck], []).lines == []


def test_of_many_troubles_a_few_are_said_with_the_number_of_the_others():
    cause = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}
    pods = [pod(f"j-worker-{number}", "Pending", conditions=[cause]) for number in range(9)]
    lines = Wait("j", 9, 100, 0).look(0, job("Created"), pods, []).lines
    assert len(lines) == 7 and lines[-1] == "j: 4 more pods are not ready"


def test_a_job_is_given_up_when_its_time_is_up_and_not_before():
    waiting = Wait("j", 2, 100, 50)
    assert waiting.look(149, job("Created"), [FIRST], []).failure is None
    assert waiting.look(150, job("Created"), [FIRST], []).failure.startswith("1 of 2 workers are ready after 2 min; ")


def test_a_job_without_an_operator_is_given_up_early():
    assert Wait("j", 2, 100, 0).look(24, job(), [], []).failure is None
    assert "no operator has taken it up" in Wait("j", 2, 100, 0).look(25, job(), [], []).failure
    assert "no operator" in Wait("j", 2, 10_000, 0).look(OPERATOR_SECONDS, job(), [], []).failure
    assert Wait("j", 2, 10_000, 0).look(OPERATOR_SECONDS, job(), [pod("j-worker-0", "Pending")], []).failure is None


def test_the_next_look_that_time_alone_makes_needed():
    waiting = Wait("j", 2, 1000, 50)
    assert waiting.due(50) == OPERATOR_SECONDS and waiting.due(49 + OPERATOR_SECONDS) == 1
    assert waiting.due(50 + OPERATOR_SECONDS) == 1000 - OPERATOR_SECONDS
    waiting.look(200, job(), [pod("j-worker-0", "Failed")], [])
    assert waiting.due(203) == ENDED_SECONDS - 3
    assert waiting.due(1050) == 0
    assert Vanish("j", 30, 50).due(60) == 20 and Vanish("j", 30, 50).due(90) == 0


def test_a_job_that_ended_or_is_gone_is_given_up_at_once():
    failed = Wait("j", 1, 100, 0).look(0, job("Failed", reason="MPIJobEvicted", message="1/1 workers"), [], [])
    assert failed.failure.startswith("it has ended (Failed, MPIJobEvicted: 1/1 workers)")
    gone = Wait("j", 1, 100, 0).look(0, None, [], [])
    assert "was deleted" in gone.failure and gone.progress is None and not gone.usable


def test_a_worker_that_ended_is_given_some_time_to_come_back():
    waiting = Wait("j", 2, 1000, 0)
    dead = pod("j-worker-1", "Failed")
    assert waiting.look(5, job("Running"), [LAUNCHER, FIRST, dead], []).failure is None
    assert waiting.look(7, job("Running"), [LAUNCHER, FIRST], []).failure is None
    assert waiting.look(9, job("Running"), [LAUNCHER, FIRST, dead], []).failure is None
    assert waiting.look(9 + ENDED_SECONDS - 1, job("Running"), [LAUNCHER, FIRST, dead], []).failure is None
    said = waiting.look(9 + ENDED_SECONDS, job("Running"), [LAUNCHER, FIRST, dead], []).failure
    assert said.startswith("j-worker-1 ended and was not started again")


def test_a_job_is_gone_when_its_pods_are():
    waiting = Vanish("j", 10, 0)
    assert waiting.look(0, job(), [FIRST]) == (["j: going, 1 pods left, 0 s so far"], None, False)
    assert waiting.look(1, job(), [FIRST]) == ([], None, False)
    lines, failure, gone = waiting.look(10, None, [FIRST])
    assert "the pod j-worker-0 is still there" in failure and not gone
    assert waiting.look(11, None, []) == ([], None, True)
    assert waiting.look(11, None, [pod("other-worker-0") | {"metadata": {"name": "x"}}]) == ([], None, True)


def refused(message, reason="MPIJobFailed", kind="MPIJob", name="j", when="2026-01-01T00:00:09Z"):
    about = {"kind": kind, "name": name}
    return {"type": "Warning", "reason": reason, "message": message, "involvedObject": about, "lastTimestamp": when}


PRIVILEGED = refused(
    'worker pod created failed: pods "j-worker-0" is forbidden: violates PodSecurity "baseline:v1.36": hostPath volumes (volume '
    '"host-0"), privileged (container "mpi-worker" must not set securityContext.privileged=true)'
)
QUOTA = refused(
    'worker pod created failed: pods "j-worker-0" is forbidden: exceeded quota: team, requested: pods=1, used: pods=4, limited: pods=4'
)


def test_a_job_whose_pods_are_refused_is_not_one_without_an_operator():
    waiting = Wait("j", 2, 100, 0)
    early = waiting.look(2, job(), [], [PRIVILEGED])
    assert early.failure is None
    assert any("don't exist (MPIJobFailed" in line and "violates PodSecurity" in line for line in early.lines)
    failure = waiting.look(25, job(), [], [PRIVILEGED]).failure
    assert "no operator" not in failure
    for word in (
        "its pods are refused",
        "j-worker-0, j-worker-1 and the launcher",
        "violates PodSecurity",
        "mpijob_privileged",
    ):
        assert word in failure


def test_a_refusal_that_may_pass_is_waited_for_to_the_end():
    waiting = Wait("j", 2, 100, 0)
    assert waiting.look(99, job(), [], [QUOTA]).failure is None
    failure = waiting.look(100, job(), [], [QUOTA]).failure
    assert failure.startswith("0 of 2 workers are ready after 2 min; j-worker-0")
    assert "exceeded quota: team" in failure and "have the quota raised" in failure


def test_a_refusal_that_is_over_is_forgotten():
    pods = [LAUNCHER, FIRST, pod("j-worker-1", "Pending")]
    assert Wait("j", 2, 100, 0).look(60, job("Created"), pods, [PRIVILEGED]).failure is None


def test_a_worker_that_was_refused_and_then_created_is_no_reason():
    """The launcher of v2beta1 may be created only when all workers are ready, long after that."""
    said = "worker pod created failed: "
    for message in (PRIVILEGED["message"], said + 'admission webhook "guard.example.com" denied the request: no'):
        looked = Wait("j", 2, 100, 0).look(
            60, job("Created"), [FIRST, pod("j-worker-1", "Pending")], [refused(message)]
        )
        assert looked.failure is None and looked.progress.refusal is None
    found = Wait("j", 2, 100, 0).look(
        60, job("Created"), [FIRST], [refused(PRIVILEGED["message"].replace("worker-0", "worker-1"))]
    )
    assert "its pods are refused" in found.failure


def test_a_refused_launcher_is_found_in_the_events_of_its_job():
    denied = refused(
        'Error creating: admission webhook "guard.example.com" denied the request: no',
        "FailedCreate",
        "Job",
        "j-launcher",
    )
    failure = Wait("j", 2, 100, 0).look(25, job("Created"), [FIRST, SECOND], [denied]).failure
    assert "the launcher doesn't exist (FailedCreate" in failure and "guard.example.com" in failure


@pytest.mark.parametrize("kind", ["MPIJob", "Job"])
@pytest.mark.parametrize("again", [False, True])
def test_a_refusal_from_before_the_wait_is_waited_for_until_the_operator_tries_again(kind, again):
    name, reason = ("j", "MPIJobFailed") if kind == "MPIJob" else ("j-launcher", "FailedCreate")
    old = refused(PRIVILEGED["message"], reason, kind, name)
    waiting = Wait("j", 2, 100, 0)
    waiting.known = keys([old])
    # The operator records a further try in the same event.
    events = [{**old, "count": 2, "lastTimestamp": "2026-01-01T00:03:00Z"}] if again else [old]
    looked = waiting.look(68, job(), [], events)
    if again:
        assert "its pods are refused, also after 68 s" in looked.failure and "before this wait" not in looked.failure
        return
    assert looked.failure is None
    (line,) = [line for line in looked.lines if "don't exist" in line]
    failure = waiting.look(100, job(), [], events).failure
    for words in (
        "at 2026-01-01T00:00:09Z, before this wait",
        "violates PodSecurity",
        "tries again by itself",
        "if this is not repaired: label the namespace",
    ):
        assert words in line and words in failure, words
    assert "are refused" not in failure


def test_the_pause_of_the_operator_after_an_earlier_job_of_the_name_is_waited_for_and_named():
    now = {**job(), "metadata": {"name": "j", "uid": "2", "creationTimestamp": "2026-01-01T00:00:10Z"}}
    waiting = Wait("j", 2, 100, 0)
    assert waiting.look(25, now, [], [PRIVILEGED]).failure is None
    failure = waiting.look(100, now, [], [PRIVILEGED]).failure
    assert "failed with an earlier job of this name, last at 2026-01-01T00:00:09Z" in failure
    assert "up to 17 minutes after its last failure; under another mpijob_name it tries at once" in failure
    # Events of another name tell nothing.
    other = refused(PRIVILEGED["message"], name="other")
    assert "no operator has taken it up" in Wait("j", 2, 100, 0).look(25, now, [], [other]).failure


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            job("Created", reason="MPIJobCreated"),
            ["still Created (MPIJobCreated)", "all of its pods that exist are ready", "MPI Operator"],
        ),
        (job(), ["the job has no status", "MPI Operator"]),
        (job("Suspended", reason="MPIJobSuspended"), ["Suspended (MPIJobSuspended)", "spec.runPolicy.suspend"]),
        (
            {
                **job("Suspended"),
                "metadata": {"name": "j", "namespace": "n", "labels": {"kueue.x-k8s.io/queue-name": "gpus"}},
            },
            ["Kueue has not admitted it in the queue gpus", "kubectl describe workloads --namespace n"],
        ),
        (job("Restarting", reason="MPIJobRestarting"), ["Restarting (MPIJobRestarting)", "kubectl logs --previous"]),
    ],
    ids=["created", "no status", "suspended", "kueue", "restarting"],
)
def test_a_timeout_names_the_phase_when_all_pods_run(found, words):
    failure = Wait("j", 2, 100, 0).look(100, found, [LAUNCHER, FIRST, SECOND], []).failure
    assert failure.startswith("2 of 2 workers are ready after 2 min; ")
    for word in words:
        assert word in failure


def test_a_job_of_another_controller_names_it():
    managed = {**job(), "spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}}
    assert "leaves it to kueue.x-k8s.io/multikueue" in Wait("j", 2, 100, 0).look(25, managed, [], []).failure


def leaving(thing, **metadata):
    return {**thing, "metadata": {**thing["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z", **metadata}}


@pytest.mark.parametrize(
    ("found", "pods", "words"),
    [
        (
            leaving(job(), finalizers=["foregroundDeletion", "example.com/kept"], namespace="n"),
            [],
            ["the finalizer example.com/kept keeps it", "kubectl edit mpijob j --namespace n"],
        ),
        (leaving(job(), finalizers=["foregroundDeletion"]), [], ["kube-controller-manager"]),
        (job(), [], ["not being deleted"]),
        (
            None,
            [leaving(FIRST, finalizers=["batch.kubernetes.io/job-tracking"])],
            ["batch.kubernetes.io/job-tracking keeps it"],
        ),
        (None, [FIRST], ["nobody deletes it", "kube-controller-manager"]),
        (
            None,
            [{**leaving(FIRST, deletionGracePeriodSeconds=30), "spec": {"nodeName": "gpu-1"}}],
            ["the kubelet of node gpu-1 has not confirmed its end within its 30 s of grace", "kubectl get node gpu-1"],
        ),
    ],
    ids=["finalizer", "garbage collector", "made again", "finalizer of a pod", "nobody deletes", "node"],
)
def test_what_does_not_go_says_why(found, pods, words):
    _lines, failure, gone = Vanish("j", 10, 0).look(10, found, pods)
    assert not gone and "is still there" in failure
    for word in words:
        assert word in failure

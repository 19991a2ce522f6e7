# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From look to look: what is said, and when there is nothing to wait for any more."""

from ansible_collections.taco.train.plugins.plugin_utils.mpijob_wait import (
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


def test_a_job_is_given_up_when_its_time_is_up_and_not_before():
    waiting = Wait("j", 2, 100, 50)
    assert waiting.look(149, job("Created"), [FIRST], []).failure is None
    assert waiting.look(150, job("Created"), [FIRST], []).failure.startswith("1 of 2 workers are ready after 2 min; ")


def test_a_job_without_an_operator_is_given_up_early():
    assert Wait("j", 2, 100, 0).look(24, job(), [], []).failure is None
    assert "no operator has taken it up" in Wait("j", 2, 100, 0).look(25, job(), [], []).failure
    assert "no operator" in Wait("j", 2, 10_000, 0).look(OPERATOR_SECONDS, job(), [], []).failure
    assert Wait("j", 2, 10_000, 0).look(OPERATOR_SECONDS, job(), [pod("j-worker-0", "Pending")], []).failure is None


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

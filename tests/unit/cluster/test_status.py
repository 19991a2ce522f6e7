# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job's phase is read from its conditions, and its progress from its pods."""

import pytest
from job_status import condition, event, job, pod, running, waiting

from ansible_collections.taco.train.plugins.module_utils.cluster.status import job_phase, launcher_pod, progress


@pytest.mark.parametrize(
    ("conditions", "phase"),
    [
        ([], "Pending"),
        ([condition("Created")], "Created"),
        ([condition("Created"), condition("Running")], "Running"),
        ([condition("Running", "False"), condition("Created"), condition("Succeeded")], "Succeeded"),
        ([condition("Created"), condition("Running", "False"), condition("Failed")], "Failed"),
        ([condition("Created"), condition("Failed", "False"), condition("Succeeded")], "Succeeded"),
        ([condition("Created"), condition("Restarting")], "Restarting"),
        ([condition("Created"), condition("Running", "False"), condition("Suspended")], "Suspended"),
        ([condition("Created"), condition("Suspended", "False"), condition("Running")], "Running"),
        ([condition("Running", "Unknown")], "Pending"),
    ],
)
def test_the_phase_is_that_of_the_conditions_that_hold(conditions, phase):
    assert job_phase(job(*conditions)).name == phase


def test_the_phase_keeps_what_the_operator_says():
    evicted = condition("Failed", reason="MPIJobEvicted", message="1/4 workers are evicted")
    assert job_phase(job(condition("Created"), evicted)) == ("Failed", "MPIJobEvicted", "1/4 workers are evicted")
    assert job_phase({"metadata": {"name": "a"}}).message.startswith("no operator has taken the job up")


def test_everything_runs():
    pods = [running("launcher"), running(number=1), running()]
    found = progress(job(condition("Created"), condition("Running")), pods, [], 2)
    assert found == (
        ("Running", "MPIJobRunning", "it is Running"),
        "taco-bench-launcher",
        ["taco-bench-worker-0", "taco-bench-worker-1"],
        [],
        [],
        True,
        None,
        "",
    )


@pytest.mark.parametrize(
    ("conditions", "pods", "workers"),
    [
        ([condition("Created")], [running("launcher"), running()], 1),
        ([condition("Running")], [running()], 1),
        ([condition("Running")], [running("launcher")], 1),
        ([condition("Running")], [running("launcher"), running(number=1)], 1),
        ([condition("Running")], [running("launcher"), running()], 2),
        ([condition("Running")], [running("launcher"), running(deletionTimestamp="2026-01-01T00:00:00Z")], 1),
        ([condition("Running", "False"), condition("Succeeded")], [running("launcher"), running()], 1),
    ],
)
def test_it_is_not_usable_while_anything_is_missing(conditions, pods, workers):
    assert progress(job(*conditions), pods, [], workers).usable is False


def test_pods_that_are_not_there_are_waited_for_with_what_is_said_of_the_job():
    found = progress(job(), [running()], [], 2)
    assert found.waiting == [
        "taco-bench-worker-1 and the launcher don't exist: the MPI Operator has not created them yet",
    ]
    said = [
        event("FailedCreatePod", "exceeded quota: gpus", "taco-bench", "MPIJob", uid="j"),
        event(
            "FailedCreatePod", "of a job that had this name", "taco-bench", "MPIJob", "2026-01-02T00:00:00Z", uid="i"
        ),
    ]
    assert progress(job(), [running("launcher")], said, 1).stuck == [
        "taco-bench-worker-0 doesn't exist (FailedCreatePod: exceeded quota: gpus): request less, delete what is no longer "
        "needed in the namespace, or have the quota raised"
    ]


def test_pods_of_other_jobs_do_not_count():
    other = running()
    other["metadata"]["labels"] = {"training.kubeflow.org/job-name": "b", "training.kubeflow.org/job-role": "worker"}
    assert progress(job(condition("Running")), [running("launcher"), other], [], 1).ready == []


def test_the_launcher_is_the_newest_that_runs_and_the_others_are_of_no_concern():
    old, failed, new = running("launcher"), pod("launcher", phase="Failed"), running("launcher")
    old["metadata"].update(name="taco-bench-launcher-x", creationTimestamp="2026-01-01T00:00:00Z")
    failed["metadata"]["name"] = "taco-bench-launcher-b"
    new["metadata"].update(name="taco-bench-launcher-c", creationTimestamp="2026-01-01T00:00:09Z")
    assert launcher_pod([new, failed, old], "taco-bench") == "taco-bench-launcher-c"
    found = progress(job(condition("Running")), [old, failed, new, running()], [], 1)
    assert (found.usable, found.stuck, found.waiting) == (True, [], [])
    alone = progress(job(condition("Created")), [failed, running()], [], 1)
    assert (alone.launcher, alone.stuck) == (
        None,
        [
            "taco-bench-launcher-b: it has ended (Failed), and should wait for work: check `kubectl logs taco-bench-launcher-b`"
        ],
    )


def test_stuck_pods_and_starting_ones_are_told_apart():
    pods = [running("launcher"), pod(), pod(number=1, containerStatuses=[waiting("ErrImagePull", "denied")])]
    found = progress(job(condition("Created")), pods, [], 2)
    assert found.waiting == ["taco-bench-worker-0: it is starting"]
    assert [sentence.split(" has ")[0] for sentence in found.stuck] == ["taco-bench-worker-1: its container mpi-worker"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A pod that does not run says why."""

import re

import pytest
from job_status import ended, event, pod, running, waiting

from ansible_collections.taco.train.plugins.module_utils.cluster.failures import MOST_LETTERS
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import is_ready, outline, pod_state

FIX = re.compile(r"\): [a-z`].*$")


def why(one, events=()):
    """Return (stuck, why) of a pod that is not ready, without its name and the fix; the other reasons are in tests/fixtures/kubernetes."""
    state = pod_state(one, "worker", list(events))
    assert not state.ready and state.why.startswith(f"{state.name}: ")
    assert not state.stuck or re.search(r": [a-z`].*[a-z`0-9)]$", state.why.partition(": ")[2]), state.why
    return state.stuck, FIX.sub(")", state.why.partition(": ")[2])


@pytest.mark.parametrize(
    ("status", "stuck", "words"),
    [
        (waiting("CrashLoopBackOff"), True, "its container mpi-worker can't start (CrashLoopBackOff)"),
        (waiting("ContainerCreating"), False, "its container mpi-worker is starting"),
        (
            ended(255, signal=7),
            True,
            "its container mpi-worker ended by SIGBUS: there were fewer hugepages or less of /dev/shm than it uses; raise "
            "mpijob_hugepages or mpijob_shm_size",
        ),
        (
            ended(0, reason="Completed"),
            True,
            "its container mpi-worker ended with exit status 0 (Completed)",
        ),
    ],
)
def test_a_container_says_why_it_does_not_run(status, stuck, words):
    assert why(pod(containerStatuses=[status])) == (stuck, words)


def test_an_init_container_is_named_first_and_a_finished_one_is_not():
    main = waiting("PodInitializing", name="mpi-launcher")
    pulling = waiting("ErrImagePull", "denied", name="kubectl-delivery")
    assert why(pod(initContainerStatuses=[pulling], containerStatuses=[main])) == (
        True,
        "its init container kubectl-delivery has no image (ErrImagePull: denied)",
    )
    done = ended(0, name="kubectl-delivery", reason="Completed")
    assert why(pod(initContainerStatuses=[done], containerStatuses=[main])) == (
        False,
        "its container mpi-launcher is starting",
    )
    broken = ended(1, name="kubectl-delivery", message="no route")
    assert why(pod(initContainerStatuses=[broken], containerStatuses=[main])) == (
        True,
        "its init container kubectl-delivery ended with exit status 1 (no route)",
    )


def test_events_say_why_a_container_is_not_made_and_old_ones_do_not():
    one = pod(containerStatuses=[waiting("ContainerCreating")])
    events = [
        event("FailedMount", "hostPath type check failed", when="2026-01-01T00:00:02Z"),
        event("FailedMount", "older", when="2026-01-01T00:00:01Z"),
        event("FailedScheduling", "0/4 nodes are available", when="2026-01-01T00:00:03Z"),
        event("Failed", "of another pod", "taco-bench-worker-1", when="2026-01-01T00:00:04Z"),
        event("Failed", "of an earlier pod", when="2026-01-01T00:00:05Z", uid="before"),
        {**event("Pulled", "well", when="2026-01-01T00:00:06Z"), "type": "Normal"},
    ]
    assert why(one, events) == (
        True,
        "its container mpi-worker can't start (FailedMount: hostPath type check failed)",
    )
    assert why(one, events[2:]) == (False, "its container mpi-worker is starting")
    newer = {
        **event("FailedCreatePodSandBox", "no network"),
        "lastTimestamp": None,
        "eventTime": "2026-02-01T00:00:00Z",
    }
    assert why(pod(), [*events, newer]) == (True, "it can't start (FailedCreatePodSandBox: no network)")


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (pod(), (False, "it is starting")),
        (
            pod(phase="Succeeded"),
            (True, "it has ended (Succeeded), and should wait for work: check `kubectl logs taco-bench-worker-0`"),
        ),
        (running(deletionTimestamp="2026-01-01T00:00:00Z"), (False, "it is being deleted")),
    ],
)
def test_a_pod_says_why_it_is_not_ready(one, found):
    assert not is_ready(one)
    assert why(one) == found


def test_a_container_that_runs_is_not_what_is_wrong():
    fine = {"name": "sidecar", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    one = pod(phase="Running", containerStatuses=[fine, waiting("CreateContainerError", "no such device")])
    assert why(one) == (True, "its container mpi-worker can't start (CreateContainerError: no such device)")
    assert why(pod(phase="Running", containerStatuses=[fine])) == (False, "it runs and isn't Ready (no reason given)")


def test_what_the_cluster_says_is_one_line_of_bounded_length():
    """The end of a long message stays: it has the first cause."""
    _stuck, words = why(pod(containerStatuses=[waiting("CreateContainerError", "a\n b " + "x" * 2000 + " no space")]))
    assert "\n" not in words and "a b xxx" in words and words.endswith("xxx no space)")
    prefix = "its container mpi-worker can't start (CreateContainerError: "
    for letters in (MOST_LETTERS, MOST_LETTERS + 1):
        _stuck, words = why(pod(containerStatuses=[waiting("CreateContainerError", "x" * letters)]))
        said = words[len(prefix) : -1]
        assert words.startswith(prefix) and MOST_LETTERS - 1 <= len(said) <= MOST_LETTERS
        assert (" ... " in said) == (letters > MOST_LETTERS)


def test_a_pod_that_is_ready_has_nothing_to_say():
    assert pod_state(running(), "worker", [event("BackOff", "once")]) == (
        "taco-bench-worker-0",
        "worker",
        True,
        False,
        "",
    )


def test_a_pod_of_the_controller_that_is_not_ready_says_why():
    waiting = {
        "name": "manager",
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}},
    }
    manager = {
        "metadata": {"name": "mpi-operator-1", "namespace": "mpi-operator"},
        "status": {"phase": "Pending", "containerStatuses": [waiting]},
    }
    found = outline(manager)
    assert found["name"] == "mpi-operator/mpi-operator-1" and not found["ready"] and "ImagePullBackOff" in found["why"]

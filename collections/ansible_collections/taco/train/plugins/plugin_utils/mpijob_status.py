# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Say how far an MPIJob has come, from the objects that the cluster returns. Values in, values out.

The launcher sleeps until it is asked to run something, so the job never succeeds by itself: it is ready for a benchmark
when it is Running, its launcher runs and all of its workers are Ready.
"""

from typing import Any, Iterable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.mpijob_names import role_of, worker_pods
from ansible_collections.taco.train.plugins.plugin_utils.mpijob_pods import (
    PodState,
    is_ready,
    name_of,
    pod_state,
    warning,
)

# Of the conditions that are True the first of these is the phase: older ones stay True when a job goes on.
PHASES = ("Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created")
PENDING = "Pending"
ENDED = ("Failed", "Succeeded")


class Phase(NamedTuple):
    """What the operator says of a job."""

    name: str
    """One of PHASES, or PENDING when the operator has not said anything yet."""
    reason: str
    message: str


class Progress(NamedTuple):
    """How far a job has come."""

    phase: Phase
    launcher: str | None
    """The pod in which mpirun can be started, once it runs."""
    ready: list[str]
    """The workers that are Ready."""
    waiting: list[str]
    """A sentence for each pod that isn't ready yet."""
    stuck: list[str]
    """A sentence for each pod that something is wrong with, and what would help."""
    usable: bool
    """Whether a benchmark can start."""


def job_phase(job: Mapping[str, Any]) -> Phase:
    """Return the phase that an MPIJob's conditions amount to."""
    conditions = (job.get("status") or {}).get("conditions") or []
    true = {condition.get("type"): condition for condition in conditions if condition.get("status") == "True"}
    for name in PHASES:
        if name in true:
            return Phase(name, true[name].get("reason") or "", true[name].get("message") or "")
    return Phase(PENDING, "", "no operator has taken the job up: see that the MPI Operator runs")


def launcher_pod(pods: Iterable[Mapping[str, Any]], job: str) -> str | None:
    """Return the name of the launcher that runs, the newest where a failed one was replaced, or None."""
    running = [
        ((pod.get("metadata") or {}).get("creationTimestamp") or "", name_of(pod))
        for pod in pods
        if role_of(pod, job) == "launcher" and is_ready(pod)
    ]
    return max(running)[1] if running else None


def _missing(names: list[str], pods: list[PodState], said: str) -> list[str]:
    """Return a sentence on each pod that there should be and isn't, with what was said about the job."""
    there = {pod.name for pod in pods}
    missing = [name for name in names if name not in there]
    if not any(pod.role == "launcher" for pod in pods):
        missing.append("the launcher")
    why = f"its operator says {said}" if said else "its operator has not created it yet"
    return [f"{name} doesn't exist: {why}" for name in missing]


def progress(
    job: Mapping[str, Any], pods: list[Mapping[str, Any]], events: list[Mapping[str, Any]], workers: int
) -> Progress:
    """Return how far a job has come; pods may include those of other jobs, events those of other objects."""
    name = name_of(job)
    mine = [pod_state(pod, role_of(pod, name), events) for pod in pods if role_of(pod, name)]
    phase = job_phase(job)
    launcher = launcher_pod(pods, name)
    # A failed launcher that was replaced keeps nobody waiting.
    concerned = [pod for pod in mine if not pod.ready and not (pod.role == "launcher" and launcher)]
    ready = sorted(pod.name for pod in mine if pod.role == "worker" and pod.ready)
    expected = worker_pods(name, workers)
    waiting = [pod.why for pod in concerned if not pod.stuck] + _missing(expected, mine, warning("MPIJob", job, events))
    usable = phase.name == "Running" and launcher is not None and set(expected) <= set(ready)
    return Progress(phase, launcher, ready, waiting, [pod.why for pod in concerned if pod.stuck], usable)

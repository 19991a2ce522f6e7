# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say how far an MPIJob has come, from the objects that the cluster returns. Values in, values out.

The launcher sleeps until it is asked to run something, so the job never succeeds by itself: it is ready for a benchmark
when it is Running, its launcher runs and all of its workers are Ready.
"""

import re
from typing import Any, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.admission import Advice, advice
from ansible_collections.taco.train.plugins.module_utils.cluster.events import last_time, newest, warnings, without
from ansible_collections.taco.train.plugins.module_utils.cluster.names import role_of, worker_pods
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodState, is_ready, name_of, pod_state

# Of the conditions that are True the first of these is the phase: older ones stay True when a job goes on.
PHASES = ("Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created")
PENDING = "Pending"
ENDED = ("Failed", "Succeeded")
MOST_NAMED = 4
LAUNCHER = "the launcher"
NOT_CREATED = "the MPI Operator has not created"
BACKOFF = "the MPI Operator tries again by itself, up to 17 minutes after its last failure; under another mpijob_name it tries at once"
_POD = re.compile(r'[Pp]ods? "(?P<name>[^"]+)"')


class Phase(NamedTuple):
    """What the operator reports of a job."""

    name: str
    """One of PHASES, or PENDING when the operator has not written a status yet."""
    reason: str
    message: str


class Refusal(NamedTuple):
    """A warning about a job, which keeps pods of it from being created."""

    said: str
    fix: str
    """Empty where none is known."""
    passes: bool
    """Whether it may end without a change."""
    earlier: str = ""
    """When the operator last tried, where that was before the wait: it tries again, and the cause may be gone."""


class Progress(NamedTuple):
    """How far a job has come."""

    phase: Phase
    launcher: Optional[str]
    """The pod in which mpirun can be started, once it runs."""
    ready: List[str]
    """The workers that are Ready."""
    waiting: List[str]
    """A sentence for each pod that isn't ready yet."""
    stuck: List[str]
    """A sentence for each pod that something is wrong with, and how to fix it."""
    usable: bool
    """Whether a benchmark can start."""
    refusal: Optional[Refusal] = None
    """Why pods that should exist are not created; None while all exist."""
    backoff: str = ""
    """When the operator last failed with an earlier job of this name; empty once it has reported anything of this one."""


def job_phase(job: Mapping[str, Any]) -> Phase:
    """Return the phase that an MPIJob's conditions amount to."""
    conditions = (job.get("status") or {}).get("conditions") or []
    true = {condition.get("type"): condition for condition in conditions if condition.get("status") == "True"}
    for name in PHASES:
        if name in true:
            return Phase(name, true[name].get("reason") or "", true[name].get("message") or "")
    return Phase(PENDING, "", "no operator has taken the job up: check that the MPI Operator runs")


def launcher_pod(pods: Iterable[Mapping[str, Any]], job: str) -> Optional[str]:
    """Return the name of the launcher that runs, the newest where a failed one was replaced, or None."""
    running = [
        ((pod.get("metadata") or {}).get("creationTimestamp") or "", name_of(pod))
        for pod in pods
        if role_of(pod, job) == "launcher" and is_ready(pod)
    ]
    return max(running)[1] if running else None


def missing_pods(names: List[str], pods: List[PodState]) -> List[str]:
    """Return the pods that should exist and don't."""
    there = {pod.name for pod in pods}
    missing = [name for name in names if name not in there]
    return missing if any(pod.role == "launcher" for pod in pods) else [*missing, LAUNCHER]


def _listed(names: List[str]) -> str:
    """Return names for a sentence, and for many their number: the launcher is the last of them."""
    shown = names if len(names) <= MOST_NAMED else [*names[:2], f"{len(names) - 3} more", names[-1]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _is_over(said: str, pods: List[PodState], missing: List[str]) -> bool:
    """Return whether a refused pod has been created since: its warning stays for an hour."""
    about = _POD.search(said)
    return bool(about and about["name"] in {pod.name for pod in pods}) or (
        "worker pod" in said and missing == [LAUNCHER]
    )


def refusal(
    job: Mapping[str, Any],
    events: List[Mapping[str, Any]],
    pods: List[PodState],
    missing: List[str],
    known: FrozenSet[Tuple[Any, ...]] = frozenset(),
) -> Optional[Refusal]:
    """Return the newest warning about a job that lacks pods, or about the Job that v2beta1 makes of its launcher.

    The operator stops at the first pod that the API server refuses, and writes a status only after that. So a job without
    any status and pods is still one that an operator works on when there is a warning. known are the occurrences of events before the
    wait: what they tell may be repaired, and the operator tries again by itself.
    """
    if not missing:
        return None
    namespace = (job.get("metadata") or {}).get("namespace") or ""
    for recent in (True, False):
        told = without(events, known) if recent else events
        said = newest([text for text in _about(job, told) if not _is_over(text, pods, missing)])
        if said:
            fix = advice(said, namespace) or Advice("", True)
            return Refusal(said, fix.fix, fix.passes or not recent, "" if recent else _last_try(job, events))
    return None


def _about(job: Mapping[str, Any], events: List[Mapping[str, Any]]) -> List[str]:
    """Return the warnings about a job and about the Job of its launcher."""
    metadata = job.get("metadata") or {}
    name, since = name_of(job), metadata.get("creationTimestamp")
    found = warnings("MPIJob", name, metadata.get("uid"), events, since)
    return found + warnings("Job", f"{name}-launcher", None, events, since)


def _last_try(job: Mapping[str, Any], events: List[Mapping[str, Any]]) -> str:
    name, uid = name_of(job), (job.get("metadata") or {}).get("uid")
    tries = last_time("MPIJob", name, uid, events), last_time("Job", f"{name}-launcher", None, events)
    return max(tries) or "an unknown time"


def _missing(names: List[str], refused: Optional[Refusal]) -> str:
    """Return a sentence on the pods that should exist and don't."""
    subject = f"{_listed(names)} {'does' if len(names) == 1 else 'do'}n't exist"
    if refused is None:
        return f"{subject}: {NOT_CREATED} {'it' if len(names) == 1 else 'them'} yet"
    if refused.earlier:
        fix = f"; if this is not repaired: {refused.fix}" if refused.fix else ""
        return f"{subject} (at {refused.earlier}, before this wait: {refused.said}): {BACKOFF}{fix}"
    return f"{subject} ({refused.said})" + (f": {refused.fix}" if refused.fix else "")


def progress(
    job: Mapping[str, Any],
    pods: List[Mapping[str, Any]],
    events: List[Mapping[str, Any]],
    workers: int,
    held: Optional[Mapping[str, str]] = None,
    known: FrozenSet[Tuple[Any, ...]] = frozenset(),
) -> Progress:
    """Return how far a job has come; pods may include those of other jobs, events those of other objects.

    held says of a resource that the scheduler misses which pods hold it, where that is known; known are the occurrences of events that
    were recorded before the wait.
    """
    name = name_of(job)
    mine = [pod_state(pod, role_of(pod, name), events, held) for pod in pods if role_of(pod, name)]
    phase = job_phase(job)
    launcher = launcher_pod(pods, name)
    # A failed launcher that was replaced keeps nobody waiting.
    concerned = [pod for pod in mine if not pod.ready and not (pod.role == "launcher" and launcher)]
    ready = sorted(pod.name for pod in mine if pod.role == "worker" and pod.ready)
    expected = worker_pods(name, workers)
    waiting, stuck = [[pod.why for pod in concerned if pod.stuck is state] for state in (False, True)]
    missing = missing_pods(expected, mine)
    refused = None if phase.name in ENDED else refusal(job, events, mine, missing, known)
    if missing:
        # What is refused comes first: nothing else of the job can be right before.
        (stuck.insert if refused else waiting.insert)(0 if refused else len(waiting), _missing(missing, refused))
    usable = phase.name == "Running" and launcher is not None and set(expected) <= set(ready)
    # The operator counts its failures by namespace and name.
    backoff = last_time("MPIJob", name, None, events) if phase.name == PENDING and not mine and not refused else ""
    return Progress(phase, launcher, ready, waiting, stuck, usable, refused, backoff)

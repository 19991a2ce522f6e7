# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide from look to look whether to go on waiting for a job, and what to tell whoever watches. Values in, values out."""

from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import MOST_NAMES
from ansible_collections.taco.train.plugins.module_utils._process.words import duration
from ansible_collections.taco.train.plugins.module_utils.cluster.names import role_of
from ansible_collections.taco.train.plugins.module_utils.cluster.phase import (
    OPERATOR,
    ended,
    leftover,
    not_taken_up,
    unfinished,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of
from ansible_collections.taco.train.plugins.module_utils.cluster.status import (
    BACKOFF,
    ENDED,
    NOT_CREATED,
    PENDING,
    Progress,
    progress,
)

# The share of the timeout that an operator may take to report anything of a job, and at most so many seconds. What keeps
# its pods from being created may take as long before it counts as lasting.
OPERATOR_SHARE, OPERATOR_SECONDS = 0.25, 60.0
# So long a pod that has ended may stay: an operator that recreates it does so at once.
ENDED_SECONDS = 10.0


class Verdict(NamedTuple):
    """What a look at a job came to."""

    lines: List[str]
    """What is new, for whoever watches."""
    progress: Optional[Progress]
    """None when the job is gone."""
    failure: Optional[str]
    """Why there is nothing to wait for any more."""

    @property
    def usable(self) -> bool:
        return self.failure is None and self.progress is not None and self.progress.usable


def _ended_pods(pods: List[Mapping[str, Any]], job: str) -> Set[str]:
    """Return the workers whose phase is a last one. A launcher may be replaced under another name."""
    return {
        name_of(pod)
        for pod in pods
        if role_of(pod, job) == "worker" and (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")
    }


class Wait:
    """What was seen of a job so far. The time is given with every look, in seconds from any beginning."""

    def __init__(self, job: str, workers: int, timeout: float, start: float) -> None:
        self.job, self.workers, self.timeout, self.start = job, workers, timeout, start
        self.uid: Optional[str] = None
        """Of the job that is waited for."""
        self.said: Optional[Tuple[Any, ...]] = None
        self.told: Set[str] = set()
        self.ended: Dict[str, float] = {}
        self.known: Optional[FrozenSet[Tuple[Any, ...]]] = None
        """The occurrences of events before the wait."""

    def look(
        self,
        now: float,
        job: Optional[Mapping[str, Any]],
        pods: List[Mapping[str, Any]],
        events: List[Mapping[str, Any]],
        held: Optional[Mapping[str, str]] = None,
    ) -> Verdict:
        """Return the meaning of one observation of the cluster; job is None when there is none.

        held says of a resource that the scheduler misses which pods hold it, where that is known.
        """
        if job is None:
            return Verdict(
                [], None, "it was deleted while its pods were waited for; the audit log of the cluster records by whom"
            )
        uid = (job.get("metadata") or {}).get("uid")
        self.uid = self.uid or uid
        if uid != self.uid:
            return Verdict(
                [],
                None,
                "it was deleted and created again while its pods were waited for; the audit log of the cluster records by whom",
            )
        state = progress(job, pods, events, self.workers, held, self.known or frozenset())
        failure = None if state.usable else self._failure(now, job, state, pods)
        return Verdict(self._lines(now, state), state, failure)

    def due(self, now: float) -> float:
        """Return in how many seconds the next look is needed although nothing changes."""
        times = [self.start + self._patience, self.start + self.timeout]
        times += [since + ENDED_SECONDS for since in self.ended.values()]
        return min((time - now for time in times if time > now), default=0.0)

    @property
    def _patience(self) -> float:
        return min(self.timeout * OPERATOR_SHARE, OPERATOR_SECONDS)

    def _lines(self, now: float, state: Progress) -> List[str]:
        """Return a line when the count or the phase is another, and one for each trouble that is new."""
        lines = []
        count = (state.phase.name, len(state.ready), state.launcher)
        if count != self.said:
            self.said = count
            launcher = "launcher runs" if state.launcher else "launcher doesn't run yet"
            lines.append(
                f"{self.job}: {state.phase.name}, {len(state.ready)} of {self.workers} workers ready, {launcher}, "
                f"{duration(now - self.start)} so far"
            )
        new = [why for why in state.stuck if why not in self.told]
        self.told.update(new)
        more = [f"{len(new) - MOST_NAMES} more pods are not ready"] if len(new) > MOST_NAMES else []
        return lines + [f"{self.job}: {why}" for why in new[:MOST_NAMES] + more]

    def _failure(
        self, now: float, job: Mapping[str, Any], state: Progress, pods: List[Mapping[str, Any]]
    ) -> Optional[str]:
        waited = now - self.start
        if state.phase.name in ENDED:
            return _with(ended(job, state.phase), state.stuck)
        over = _ended_pods(pods, self.job)
        self.ended = {name: self.ended.get(name, now) for name in over}
        gone = [name for name, since in self.ended.items() if now - since >= ENDED_SECONDS]
        if gone:
            return _with(f"{', '.join(sorted(gone))} ended and was not started again", state.stuck)
        if waited >= self._patience:
            # A warning is a sign of an operator, also before there is a status or a pod.
            if state.refusal and not state.refusal.passes:
                return _with(f"its pods are refused, also after {duration(waited)}", state.stuck)
            unseen = state.phase.name == PENDING and not any(role_of(pod, self.job) for pod in pods)
            if unseen and not state.refusal and not state.backoff:
                return not_taken_up(job, duration(waited))
        if waited >= self.timeout:
            ready = f"{len(state.ready)} of {self.workers} workers are ready after {duration(waited)}"
            reasons = [*state.stuck, *state.waiting]
            if state.backoff:
                failed = f"the MPI Operator failed with an earlier job of this name, last at {state.backoff}"
                return _with(ready, [*reasons, f"{failed}: {BACKOFF}; if it doesn't, {OPERATOR}"])
            # Who records a warning about a job runs, so that the phase tells nothing more.
            fine = not state.stuck and all(NOT_CREATED in why for why in state.waiting)
            phase = [] if state.refusal and state.phase.name == PENDING else [unfinished(job, state.phase, fine)]
            return _with(ready, [*reasons, *phase])
        return None


def _with(said: str, reasons: List[str]) -> str:
    return "; ".join([said, *dict.fromkeys(reasons)])


class Vanish:
    """Waiting until a job and its pods are gone."""

    def __init__(self, job: str, timeout: float, start: float) -> None:
        self.job, self.timeout, self.start = job, timeout, start
        self.said: Optional[Tuple[bool, int]] = None

    def due(self, now: float) -> float:
        """Return in how many seconds the wait is over."""
        return max(0.0, self.start + self.timeout - now)

    def look(
        self, now: float, job: Optional[Mapping[str, Any]], pods: List[Mapping[str, Any]]
    ) -> Tuple[List[str], Optional[str], bool]:
        """Return what to say, why there is nothing more to wait for, and whether all is gone."""
        left = sorted((pod for pod in pods if role_of(pod, self.job)), key=name_of)
        if job is None and not left:
            return [], None, True
        lines = []
        if (job is not None, len(left)) != self.said:
            self.said = (job is not None, len(left))
            lines.append(f"{self.job}: going, {len(left)} pods left, {duration(now - self.start)} so far")
        if now - self.start < self.timeout:
            return lines, None, False
        return lines, f"after {duration(now - self.start)} {leftover(self.job, job, left)}", False

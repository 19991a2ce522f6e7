# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what `arena get --output=json` prints about a job. Values in, values out.

Its table for people isn't read: it changes from version to version.
"""

import json
import re
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import MOST_NAMES, some
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import OTHER, Trouble, one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.logs import is_waiting
from ansible_collections.taco.train.plugins.module_utils.cluster.names import LABELS, worker_pods
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError

QUEUING, RUNNING, SUCCEEDED, FAILED = "QUEUING", "RUNNING", "SUCCEEDED", "FAILED"
PHASES = ("PENDING", QUEUING, RUNNING, SUCCEEDED, FAILED)
ENDED = (SUCCEEDED, FAILED)
# Arena's own sentences about a job that it doesn't know, those of get, logs and delete in 0.5 and newer. Only whole sentences
# count: the errors of a kubeconfig and of an API server also say that something is not found or does not exist.
_ABSENT = re.compile(
    r"not found training job \S+ in namespace|training job not found,\s*please use|the training job '[^']*' does not exist,\s*skip to"
    r"|failed to find the (?:training )?job (?:for )?\S+",
    re.IGNORECASE,
)
# The configmap in which Arena keeps what it submitted is there without the job: what 0.8 and older say with get, and what all
# versions say with submit.
_LEFT_OVER = re.compile(r"but the trainer config is found|the job configmap \S+ is already exist", re.IGNORECASE)
_NAMES_AN_ERROR = re.compile(
    r"error|exception|fatal|traceback|fail|out of memory|killed|denied|no such file", re.IGNORECASE
)
MOST_LINES = 3
# How Arena lists a pod none of whose containers has run.
NOT_STARTED = ("Pending", "ContainerCreating", "PodInitializing")


class Instance(NamedTuple):
    """A pod of a job, as Arena lists it."""

    name: str
    status: str
    node: str
    chief: bool


class ArenaJob(NamedTuple):
    """A job as Arena prints it."""

    name: str
    namespace: str
    phase: str
    instances: Tuple[Instance, ...]
    uid: str = ""

    @property
    def running(self) -> List[str]:
        return [one.name for one in self.instances if one.status == "Running"]

    @property
    def launcher(self) -> Optional[str]:
        """The pod in which mpirun starts; the newest one where others failed before it."""
        chiefs = [one.name for one in self.instances if one.chief]
        return next((name for name in reversed(chiefs) if name in self.running), chiefs[-1] if chiefs else None)

    @property
    def placement(self) -> Dict[str, str]:
        """The node of each worker, by its pod."""
        return {one.name: one.node for one in self.instances if not one.chief and one.node}


def is_absent(text: str) -> bool:
    """Return whether Arena says with what it printed that there is no such job."""
    return bool(_ABSENT.search(text))


def is_not_found(text: str, job: str) -> bool:
    """Return whether the API server says that the job, or a part of it, is gone: arena delete reads its parts before it deletes them."""
    return bool(re.search(rf'\S+ \\?"{re.escape(job)}(-[^"\\]*)?\\?" not found', text))


def is_left_over(text: str) -> bool:
    """Return whether Arena says that it keeps the record of a job that is not there. Only arena delete removes it."""
    return bool(_LEFT_OVER.search(text))


def objects_of(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects in a text, without those inside of others. Lines of a log, with braces of their own, may be around."""
    reader, begin = json.JSONDecoder(), text.find("{")
    while begin >= 0:
        try:
            thing, end = reader.raw_decode(text, begin)
        except ValueError:
            end = begin + 1
        else:
            yield thing
        begin = text.find("{", end)


def _value(thing: Any, key: str, kind: type, job: str) -> Any:
    value = thing.get(key) if isinstance(thing, Mapping) else thing
    if not isinstance(value, kind):
        raise MpijobError(
            f"arena get printed {value!r} as {key} of {job} or a pod of it: expected the JSON of Arena 0.5 or newer; see arena version"
        )
    return value


def _instance(thing: Any, job: str) -> Instance:
    name, status, chief = (
        _value(thing, key, kind, job) for key, kind in (("name", str), ("status", str), ("chief", bool))
    )
    node = thing.get("node")
    # Of a pod that has no node yet it says N/A, or nothing.
    return Instance(name, status, node if isinstance(node, str) and node != "N/A" else "", chief)


def read(text: str, job: str) -> ArenaJob:
    """Return what Arena printed about a job; unknown fields are passed over, and what is needed must be there."""
    found = list(objects_of(text))
    thing = next((one for one in found if one.get("name") == job), None)
    if thing is None:
        raise MpijobError(f"arena get printed no JSON about {job}, but: {one_line(text) or 'nothing'}")
    # A status that is in none of PHASES is kept: the job is there, whatever it does.
    phase, namespace = _value(thing, "status", str, job), _value(thing, "namespace", str, job)
    instances = _value({"instances": thing.get("instances") or []}, "instances", list, job)
    return ArenaJob(
        job, namespace, phase, tuple(_instance(one, job) for one in instances), str(thing.get("uuid") or "")
    )


def pods(job: ArenaJob, container: str) -> List[Mapping[str, Any]]:
    """Return the pods as the objects that they are in the cluster, as far as Arena says it, with the labels of v1."""
    name, kind = LABELS["v1"][0]
    return [
        {
            "metadata": {"name": one.name, "labels": {name: job.name, kind: "launcher" if one.chief else "worker"}},
            "spec": {"nodeName": one.node, "containers": [{"name": container}]},
        }
        for one in job.instances
    ]


def missing(job: ArenaJob, workers: int) -> List[str]:
    """Return a sentence for each pod that doesn't run, and for a status that isn't known."""
    states = {one.name: one.status for one in job.instances}
    expected = [(name, name) for name in worker_pods(job.name, workers)]
    expected.append((job.launcher or "", job.launcher or "the launcher"))
    unknown = f"arena get says that {job.name} is {job.phase!r}: expected one of {', '.join(PHASES)}"
    return ([] if job.phase in PHASES else [unknown]) + [
        f"{words} is {states[name]}" if name in states else f"{words} doesn't exist yet"
        for name, words in expected
        if states.get(name) != "Running"
    ]


def last_words(log: str) -> str:
    """Return the last lines of a log that name an error, or its last lines where none does. Empty for an empty log."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if _NAMES_AN_ERROR.search(line)]
    return "; ".join(one_line(line) for line in (errors or lines)[-MOST_LINES:])


def has_no_log(job: ArenaJob, message: str) -> bool:
    """Return whether the log of a job's launcher that can't be read doesn't exist, by what Arena printed."""
    status = next((one.status for one in job.instances if one.name == job.launcher), None)
    absent = job.launcher is None or f'pods "{job.launcher}" not found' in message
    return absent or status in NOT_STARTED or is_waiting(Trouble(OTHER, message))


def advice(job: Optional[ArenaJob], trouble: Optional[str]) -> str:
    """Return what to check when a job is not as far as expected in time."""
    if trouble is not None:
        return "Check that the API server answers (arena list), then run it again"
    if job is None:
        return "Check that Arena's operator runs (kubectl get pods --namespace arena-system)"
    described = f"`kubectl describe mpijob {job.name} --namespace {job.namespace}`"
    if job.phase not in PHASES:
        return f"Check {described}, and see arena version"
    if job.phase == QUEUING:
        return "It waits in a queue: check its quota and the jobs before it (arena list)"
    late = [one.name for one in job.instances if one.name not in job.running]
    if late:
        return f"Check `kubectl describe pod {late[0]} --namespace {job.namespace}`. With --gputopology all workers must find room at once"
    if job.phase == RUNNING and job.instances:
        return f"Its pods run, so it may only need more time: raise wait_timeout, or read `arena logs {job.name}`"
    return f"Arena's operator has not created its pods: check {described}"


def left(job: ArenaJob) -> str:
    """Return what is left of a job that should be gone, and what to check."""
    names = some(f"{one.name} ({one.status}{' on ' + one.node if one.node else ''})" for one in job.instances)
    nodes = list(dict.fromkeys(one.node for one in job.instances if one.node))[:MOST_NAMES]
    nodes_answer = f"check that its nodes answer (kubectl get node {' '.join(nodes)})"
    check = nodes_answer if nodes else "check which finalizer keeps the job"
    return f"{names or 'no pods'}: {check}, and `kubectl describe mpijob {job.name} --namespace {job.namespace}`"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what `arena get --output=json` says of a job. Values in, values out.

Its table for people isn't read: it changes from version to version.
"""

import json
import re
from typing import Any, Iterator, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import MOST_NAMES
from ansible_collections.taco.train.plugins.module_utils._process.idle import VARIABLE
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import OTHER, Trouble, one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.logs import is_waiting
from ansible_collections.taco.train.plugins.module_utils.cluster.names import LABELS, worker_pods
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.text import some

PENDING, QUEUING, RUNNING, SUCCEEDED, FAILED = "PENDING", "QUEUING", "RUNNING", "SUCCEEDED", "FAILED"
PHASES = (PENDING, QUEUING, RUNNING, SUCCEEDED, FAILED)
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
# Pauses between the tries of a command, in units of poll. With the default of 2 seconds they take about a minute.
PAUSES = (1, 2, 4, 8, 10)
# How Arena lists a pod none of whose containers has run.
NOT_STARTED = ("Pending", "ContainerCreating", "PodInitializing")


class Instance(NamedTuple):
    """A pod of a job, as Arena lists it."""

    name: str
    status: str
    node: str
    chief: bool


class ArenaJob(NamedTuple):
    """What Arena says of a job."""

    name: str
    namespace: str
    phase: str
    instances: tuple[Instance, ...]
    uid: str = ""

    @property
    def launcher(self) -> str | None:
        """The pod in which mpirun starts; the newest one where others failed before it."""
        chiefs = [one for one in self.instances if one.chief]
        running = [one.name for one in chiefs if one.status == "Running"]
        return running[-1] if running else (chiefs[-1].name if chiefs else None)

    @property
    def placement(self) -> dict[str, str]:
        """The node of each worker, by its pod."""
        return {one.name: one.node for one in self.instances if not one.chief and one.node}


class Progress(NamedTuple):
    """How far a job has come."""

    usable: bool
    """Whether its launcher and all of its workers run."""
    ended: bool
    waiting: list[str]
    """A sentence for each pod that doesn't run, and for a status that isn't known."""


def is_absent(text: str) -> bool:
    """Return whether Arena says with what it printed that there is no such job."""
    return bool(_ABSENT.search(text))


def is_not_found(text: str, job: str) -> bool:
    """Whether the API server says that the job, or a part of it, is gone: arena delete reads its parts before it deletes them."""
    return bool(re.search(rf'\S+ \\?"{re.escape(job)}(-[^"\\]*)?\\?" not found', text))


def object_of(text: str) -> Mapping[str, Any] | None:
    """The object of a job as kubectl prints it, None where it prints none."""
    return next((thing for thing in _objects(text) if thing.get("kind") == "MPIJob"), None)


def is_left_over(text: str) -> bool:
    """Return whether Arena says that it keeps the record of a job that is not there. Only arena delete removes it."""
    return bool(_LEFT_OVER.search(text))


def _text(thing: Mapping[str, Any], key: str, where: str) -> str:
    value = thing.get(key)
    if not isinstance(value, str):
        raise MpijobError(
            f"arena get said no {key} of {where}, but {value!r}: expected the JSON of Arena 0.5 or newer; see arena version"
        )
    return value


def _instance(thing: Any, where: str) -> Instance:
    if not isinstance(thing, Mapping):
        raise MpijobError(f"arena get listed {thing!r} as a pod of {where}: expected a mapping; see arena version")
    name = _text(thing, "name", f"a pod of {where}")
    node = thing.get("node")
    chief = thing.get("chief")
    if not isinstance(chief, bool):
        raise MpijobError(f"arena get didn't say whether {name} is the chief of {where}: see arena version")
    # Of a pod that has no node yet it says N/A, or nothing.
    placed = node if isinstance(node, str) and node != "N/A" else ""
    return Instance(name, _text(thing, "status", name), placed, chief)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
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


def read(text: str, job: str) -> ArenaJob:
    """Return what Arena said of a job; unknown fields are passed over, and what is needed must be there."""
    found = list(_objects(text))
    if not found:
        raise MpijobError(f"arena get printed no JSON about {job}, but: {one_line(text) or 'nothing'}")
    thing = next((one for one in found if one.get("name") == job), found[-1])
    name = _text(thing, "name", job)
    if name != job:
        raise MpijobError(f"arena get was asked about {job} and answered about {name}")
    # A status that is in none of PHASES is kept: the job is there, whatever it does.
    phase = _text(thing, "status", job)
    instances = thing.get("instances")
    if instances is None:
        instances = []
    if not isinstance(instances, list):
        raise MpijobError(f"arena get listed no pods of {job}, but {instances!r}: see arena version")
    pods = tuple(_instance(one, job) for one in instances)
    return ArenaJob(name, _text(thing, "namespace", job), phase, pods, str(thing.get("uuid") or ""))


def pods(job: ArenaJob, container: str) -> list[Mapping[str, Any]]:
    """Return the pods as the objects that they are in the cluster, as far as Arena says it, with the labels of v1."""
    name, kind = LABELS["v1"][0]
    return [
        {
            "metadata": {"name": one.name, "labels": {name: job.name, kind: "launcher" if one.chief else "worker"}},
            "spec": {"nodeName": one.node, "containers": [{"name": container}]},
        }
        for one in job.instances
    ]


def progress(job: ArenaJob, workers: int) -> Progress:
    """Return how far a job has come that is to have so many workers."""
    there = {one.name: one for one in job.instances}
    expected = worker_pods(job.name, workers)
    waiting = [unknown(job)] if job.phase not in PHASES else []
    waiting += [f"{name} doesn't exist yet" for name in expected if name not in there]
    waiting += [
        f"{name} is {there[name].status}" for name in expected if name in there and there[name].status != "Running"
    ]
    chief = there.get(job.launcher or "")
    if chief is None:
        waiting.append("the launcher doesn't exist yet")
    elif chief.status != "Running":
        waiting.append(f"{chief.name} is {chief.status}")
    return Progress(job.phase == RUNNING and not waiting, job.phase in ENDED, waiting)


def unknown(job: ArenaJob) -> str:
    """Say that the status of a job isn't known."""
    return f"arena get says that {job.name} is {job.phase!r}: expected one of {', '.join(PHASES)}"


def last_words(log: str) -> str:
    """Return the last lines of a log that name an error, or its last lines where none does. Empty for an empty log."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if _NAMES_AN_ERROR.search(line)]
    return "; ".join(one_line(line) for line in (errors or lines)[-MOST_LINES:])


def has_no_log(job: ArenaJob, said: str) -> bool:
    """Return whether the log of a job's launcher that can't be read doesn't exist; said is what Arena printed."""
    status = next((one.status for one in job.instances if one.name == job.launcher), None)
    absent = job.launcher is None or f'pods "{job.launcher}" not found' in said
    return absent or status in NOT_STARTED or is_waiting(Trouble(OTHER, said))


def advice(job: ArenaJob | None, trouble: str | None) -> str:
    """Say what to check when a job is not as far as expected in time."""
    if trouble is not None:
        return "Check that the API server answers (arena list), then run it again"
    if job is None:
        return "Check that Arena's operator runs (kubectl get pods --namespace arena-system)"
    if job.phase not in PHASES:
        return f"Check `kubectl describe mpijob {job.name} --namespace {job.namespace}`, and see arena version"
    if job.phase == QUEUING:
        return "It waits in a queue: check its quota and the jobs before it (arena list)"
    late = [one.name for one in job.instances if one.status != "Running"]
    if job.phase == RUNNING and job.instances and not late:
        return f"Its pods run, so it may only need more time: raise wait_timeout, or read `arena logs {job.name}`"
    if not late:
        return f"Arena's operator has not created its pods: check `kubectl describe mpijob {job.name} --namespace {job.namespace}`"
    return f"Check `kubectl describe pod {late[0]} --namespace {job.namespace}`. With --gputopology all workers must find room at once"


def unchecked(host: str, job: ArenaJob, cause: str) -> str:
    """The message that refuses to delete a job whose launcher could not be asked whether it runs work."""
    return (
        f"{host}: the MPIJob {job.name} in the namespace {job.namespace} is not deleted, since whether mpirun runs in its launcher pod "
        f"{job.launcher} was not checked: {cause}. Run it again when `kubectl exec` reaches the pod from {host}, or set {VARIABLE}: true "
        "to delete the job with what runs in it"
    )


def left(job: ArenaJob) -> str:
    """Say what is left of a job that should be gone, and what to check."""
    pods = some(f"{one.name} ({one.status}{' on ' + one.node if one.node else ''})" for one in job.instances)
    nodes = list(dict.fromkeys(one.node for one in job.instances if one.node))
    check = (
        f"check that its nodes answer (kubectl get node {' '.join(nodes[:MOST_NAMES])})"
        if nodes
        else "check which finalizer keeps the job"
    )
    return f"{pods or 'no pods'}: {check}, and `kubectl describe mpijob {job.name} --namespace {job.namespace}`"

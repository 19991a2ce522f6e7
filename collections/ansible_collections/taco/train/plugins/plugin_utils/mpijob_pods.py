# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Say why a pod of an MPIJob doesn't run, and what would help. Values in, values out."""

import re
from typing import Any, Iterable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.mpijob_manifest import GPU, HUGEPAGES, TOPOLOGY_GPU

_INSUFFICIENT = re.compile(r"Insufficient ([A-Za-z0-9./_-]+[A-Za-z0-9])")
_PREEMPTION = re.compile(r"\s*preemption:.*", re.DOTALL)
_PULLING = re.compile(r"Image|Registry", re.IGNORECASE)
SIGBUS = 128 + 7
STARTING = ("ContainerCreating", "PodInitializing", "")
MOST_LETTERS = 400  # of what the cluster says

SCHEDULING_FIXES = {
    HUGEPAGES: "reserve 1 GiB pages on the nodes and restart their kubelets, which count them only when they start",
    GPU: "free GPUs, or set gpu_topology where the nodes carry ack.node.gpu.schedule=topology",
    TOPOLOGY_GPU: "label nodes ack.node.gpu.schedule=topology, or free their GPUs: all workers must fit at once",
    "memory": "lower memory, or free some on the nodes",
}
OTHER_SCHEDULING_FIX = "make a node fit, or change what the job asks for"


class PodState(NamedTuple):
    """A pod of a job."""

    name: str
    role: str | None
    ready: bool
    stuck: bool
    """Whether something is wrong with it. The cluster keeps trying, and mostly it is a person who must mend something."""
    why: str
    """A sentence on why it isn't ready, empty when it is."""


def name_of(thing: Mapping[str, Any]) -> str:
    return (thing.get("metadata") or {}).get("name") or ""


def _deleted(pod: Mapping[str, Any]) -> bool:
    return bool((pod.get("metadata") or {}).get("deletionTimestamp"))


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod runs, is Ready and is to stay."""
    running = (pod.get("status") or {}).get("phase") == "Running"
    return running and not _deleted(pod) and _condition(pod, "Ready").get("status") == "True"


def _cut(text: Any) -> str:
    line = " ".join(str(text or "").split()).rstrip(".")
    return line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 3] + "..."


def warning(kind: str, thing: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> str:
    """Return the newest warning about an object as one line, or nothing. An earlier object may have had its name.

    That a pod found no node isn't among them: its own condition says it, as long as it holds.
    """
    name, uid = name_of(thing), (thing.get("metadata") or {}).get("uid")
    found = []
    for event in events:
        about = event.get("involvedObject") or {}
        same = about.get("kind") == kind and about.get("name") == name and (not uid or about.get("uid") in (None, uid))
        if same and event.get("type") == "Warning" and event.get("reason") != "FailedScheduling":
            when = event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp") or ""
            found.append((str(when), f"{event.get('reason') or 'warning'}: {_cut(event.get('message'))}"))
    return max(found)[1] if found else ""


def _ended(state: Mapping[str, Any], see: str = "kubectl logs") -> str:
    code, reason = state.get("exitCode"), state.get("reason") or ""
    signal = state.get("signal")
    if code == SIGBUS or signal == SIGBUS - 128:
        return (
            "ended by SIGBUS: there were fewer hugepages or less of /dev/shm than it uses; raise hugepages or shm_size"
        )
    if reason == "OOMKilled":
        return "was killed for its memory (OOMKilled): raise memory, which /dev/shm is part of"
    message = _cut(state.get("message"))
    detail = f" ({': '.join(part for part in (reason, message) if part)})" if reason or message else ""
    return f"ended with exit status {code}{detail}: see {see}"


def _container(status: Mapping[str, Any], said: str) -> tuple[bool, str] | None:
    """Return whether a container is stuck, and why it doesn't run; None when it does."""
    state = status.get("state") or {}
    if state.get("terminated"):
        return True, _ended(state["terminated"])
    waiting = state.get("waiting")
    if waiting is None:
        return None
    reason, message = waiting.get("reason") or "", _cut(waiting.get("message"))
    detail = f"{reason}: {message}" if message else reason
    if reason in STARTING:
        return bool(said), f"can't start ({said})" if said else "is starting"
    if _PULLING.search(reason):
        return (
            True,
            f"has no image ({detail}): set image to one that the nodes can pull, here {status.get('image') or 'none'}",
        )
    last = (status.get("lastState") or {}).get("terminated")
    if reason == "CrashLoopBackOff" and last:
        return True, f"keeps ending; it {_ended(last, 'kubectl logs --previous')}"
    return True, f"can't start ({detail})"


def _containers(pod: Mapping[str, Any], said: str) -> tuple[bool, str] | None:
    """Return what the first container that doesn't run waits for, init containers first."""
    status = pod.get("status") or {}
    for part, words in (("initContainerStatuses", "init container"), ("containerStatuses", "container")):
        for container in status.get(part) or []:
            done = (container.get("state") or {}).get("terminated") or {}
            if part == "initContainerStatuses" and done.get("exitCode") == 0:
                continue
            found = _container(container, said)
            if found:
                return found[0], f"its {words} {container.get('name')} {found[1]}"
    return None


def _unscheduled(condition: Mapping[str, Any]) -> tuple[bool, str]:
    message = _cut(_PREEMPTION.sub("", condition.get("message") or ""))
    if condition.get("reason") == "SchedulingGated":
        return True, f"it may not be scheduled yet ({message or 'SchedulingGated'}): see which controller holds it back"
    lacks = dict.fromkeys(_INSUFFICIENT.findall(message))
    fixes = [SCHEDULING_FIXES[name] for name in lacks if name in SCHEDULING_FIXES] or [OTHER_SCHEDULING_FIX]
    return True, f"no node can take it ({message or 'no reason given'}): {'; '.join(fixes)}"


def _trouble(pod: Mapping[str, Any], said: str) -> tuple[bool, str]:
    status = pod.get("status") or {}
    phase = status.get("phase") or "Pending"
    if _deleted(pod):
        return False, "it is being deleted"
    if phase == "Unknown":
        return True, f"its node {(pod.get('spec') or {}).get('nodeName')} doesn't answer: see whether it runs"
    if phase == "Failed" and status.get("reason"):
        return True, f"it failed ({status['reason']}: {_cut(status.get('message')) or 'no message'})"
    containers = _containers(pod, said)
    if containers:
        return containers
    if phase in ("Failed", "Succeeded"):
        return True, f"it has ended ({phase}), and should wait for work"
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return _unscheduled(scheduled)
    if phase == "Running":
        message = _cut(_condition(pod, "Ready").get("message"))
        return False, f"it runs and isn't Ready ({message or 'no reason given'})"
    return bool(said), f"it can't start ({said})" if said else "it is starting"


def pod_state(pod: Mapping[str, Any], role: str | None, events: Iterable[Mapping[str, Any]]) -> PodState:
    """Return whether a pod is ready, and if not why and whether something is wrong with it."""
    name = name_of(pod)
    if is_ready(pod):
        return PodState(name, role, True, False, "")
    stuck, why = _trouble(pod, warning("Pod", pod, events))
    return PodState(name, role, False, stuck, f"{name}: {why}")

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say why a pod of an MPIJob doesn't run, and how to fix it. Values in, values out."""

import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster import scheduling
from ansible_collections.taco.train.plugins.module_utils.cluster.events import newest, warnings
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.fixes import image_fix, pod_fix

_PULLING = re.compile(r"Image|Registry|SignatureValidation", re.IGNORECASE)
_OF_A_PULL = re.compile(
    r"[Ff]ailed to pull|[Ff]ailed to (?:apply default image tag|inspect image)|is not present with pull"
)
SIGBUS = 128 + 7
STARTING = ("ContainerCreating", "PodInitializing", "")
PARTS = (("initContainerStatuses", "init container"), ("containerStatuses", "container"))


def _detail(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part)


def ended(state: Mapping[str, Any], pod: str, node: Optional[str], see: str = "kubectl logs") -> str:
    """Say how a container ended, by its state."""
    code, reason = state.get("exitCode"), state.get("reason") or ""
    if code == SIGBUS or state.get("signal") == SIGBUS - 128:
        return "ended by SIGBUS: there were fewer hugepages or less of /dev/shm than it uses; raise mpijob_hugepages or mpijob_shm_size"
    if reason == "OOMKilled":
        option = "mpijob_launcher_memory" if "-launcher" in pod else "mpijob_memory, which /dev/shm is part of"
        return f"was killed for its memory (OOMKilled): raise {option}"
    detail = _detail(reason, one_line(state.get("message")))
    fix = pod_fix(detail, pod, node)
    check = f"check `{see} {pod}`" if fix.startswith("run `kubectl describe") else fix
    return f"ended with exit status {code}{f' ({detail})' if detail else ''}: {check}"


def _pull(status: Mapping[str, Any], detail: str, pod: str, node: Optional[str], events: List[str]) -> Tuple[bool, str]:
    """Say why there is no image. Kubelets before 1.32 write the cause into an event only."""
    cause = next((event for event in events if _OF_A_PULL.search(event)), "")
    said = f"{detail}; {cause}" if cause and cause.partition(": ")[2] not in detail else detail
    return True, f"has no image ({said}): {image_fix(said, pod, node, status.get('image'))}"


def _container(
    status: Mapping[str, Any], pod: str, node: Optional[str], events: List[str]
) -> Optional[Tuple[bool, str]]:
    """Return whether a container is stuck, and why it doesn't run; None when it does."""
    state = status.get("state") or {}
    if state.get("terminated"):
        return True, ended(state["terminated"], pod, node)
    waiting = state.get("waiting")
    if waiting is None:
        return None
    reason, image = waiting.get("reason") or "", status.get("image")
    detail = _detail(reason, one_line(waiting.get("message")))
    if reason in STARTING:
        said = newest(events)
        return bool(said), f"can't start ({said}): {pod_fix(said, pod, node, image)}" if said else "is starting"
    if _PULLING.search(reason):
        return _pull(status, detail, pod, node, events)
    last = (status.get("lastState") or {}).get("terminated")
    if reason == "CrashLoopBackOff" and last:
        return True, f"keeps ending; it {ended(last, pod, node, 'kubectl logs --previous')}"
    return True, f"can't start ({detail}): {pod_fix(detail, pod, node, image)}"


def containers(pod: Mapping[str, Any], name: str, events: List[str]) -> Optional[Tuple[bool, str]]:
    """Return what the first container that doesn't run waits for, init containers first."""
    status, node = pod.get("status") or {}, (pod.get("spec") or {}).get("nodeName")
    for part, words in PARTS:
        for container in status.get(part) or []:
            done = (container.get("state") or {}).get("terminated") or {}
            if part == "initContainerStatuses" and done.get("exitCode") == 0:
                continue
            found = _container(container, name, node, events)
            if found:
                return found[0], f"its {words} {container.get('name')} {found[1]}"
    return None


class PodState(NamedTuple):
    """A pod of a job."""

    name: str
    role: Optional[str]
    ready: bool
    stuck: bool
    """Whether something is wrong with it. The cluster keeps trying, and mostly a person must fix something."""
    why: str
    """A sentence on why it isn't ready, empty when it is."""


class PodConnection(NamedTuple):
    """How the pods are reached and what runs modules in them."""

    kubeconfig: str = ""
    context: str = ""
    python: str = "/usr/bin/python3"


def name_of(thing: Mapping[str, Any]) -> str:
    return (thing.get("metadata") or {}).get("name") or ""


def node_of(pod: Mapping[str, Any]) -> Optional[str]:
    return (pod.get("spec") or {}).get("nodeName") or None


def _deleted(pod: Mapping[str, Any]) -> bool:
    return bool((pod.get("metadata") or {}).get("deletionTimestamp"))


def _condition(pod: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod runs, is Ready and is to stay."""
    running = (pod.get("status") or {}).get("phase") == "Running"
    return running and not _deleted(pod) and _condition(pod, "Ready").get("status") == "True"


def unscheduled(pod: Mapping[str, Any]) -> Optional[scheduling.Unschedulable]:
    """Return what the scheduler reports of a pod for which it finds no node."""
    condition = _condition(pod, "PodScheduled")
    if _deleted(pod) or condition.get("status") != "False" or condition.get("reason") == "SchedulingGated":
        return None
    return scheduling.read(one_line(condition.get("message")))


def _no_node(pod: Mapping[str, Any], held: Mapping[str, str]) -> Optional[Tuple[bool, str]]:
    condition = _condition(pod, "PodScheduled")
    if condition.get("status") != "False":
        return None
    if condition.get("reason") == "SchedulingGated":
        gates = [gate.get("name") for gate in (pod.get("spec") or {}).get("schedulingGates") or []]
        said = one_line(condition.get("message")) or "SchedulingGated"
        by = f"the gates {', '.join(map(str, gates))}" if gates else "it"
        return True, f"it may not be scheduled yet ({said}): check which controller, such as Kueue, must remove {by}"
    found = scheduling.read(one_line(condition.get("message")))
    fixes = "; ".join(scheduling.fixes(found, held))
    return True, f"no node can take it ({found.said or 'no reason given'}): {fixes}"


def disruption(pod: Mapping[str, Any]) -> str:
    """Return who ends a pod and why, as far as the cluster records it (Kubernetes 1.26 and newer)."""
    condition = _condition(pod, "DisruptionTarget")
    if condition.get("status") != "True":
        return ""
    return ": ".join(filter(None, (condition.get("reason"), one_line(condition.get("message")))))


def _leaving(pod: Mapping[str, Any]) -> Tuple[bool, str]:
    said, node = disruption(pod), node_of(pod)
    if said:
        return True, f"it is being deleted ({said}): {pod_fix(said, name_of(pod), node)}"
    if node and _condition(pod, "Ready").get("status") in ("False", "Unknown"):
        return (
            False,
            f"it is being deleted; if that takes long, check that node {node} answers (kubectl get node {node})",
        )
    return False, "it is being deleted"


def _failed(pod: Mapping[str, Any]) -> Tuple[bool, str]:
    status = pod["status"]
    said = f"{status['reason']}: {one_line(status.get('message')) or 'no message'}"
    return True, f"it failed ({said}): {pod_fix(said, name_of(pod), node_of(pod))}"


def _not_ready(pod: Mapping[str, Any], said: str) -> Tuple[bool, str]:
    name, node = name_of(pod), node_of(pod)
    message = one_line(_condition(pod, "Ready").get("message"))
    detail = "; ".join(filter(None, (message, said))) or "no reason given"
    fix = (
        pod_fix(said, name, node)
        if said
        else f"check its log (kubectl logs {name}) and its node (kubectl get node {node})"
    )
    return False, f"it runs and isn't Ready ({detail}): {fix}"


def _trouble(pod: Mapping[str, Any], events: List[str], held: Mapping[str, str]) -> Tuple[bool, str]:
    status, name = pod.get("status") or {}, name_of(pod)
    phase = status.get("phase") or "Pending"
    said = newest(events)
    if _deleted(pod):
        return _leaving(pod)
    if phase == "Unknown":
        return True, f"its node {node_of(pod)} doesn't answer: check that it runs (kubectl get node {node_of(pod)})"
    if phase == "Failed" and status.get("reason"):
        return _failed(pod)
    found = containers(pod, name, events)
    if found:
        return found
    if phase in ("Failed", "Succeeded"):
        return True, f"it has ended ({phase}), and should wait for work: check `kubectl logs {name}`"
    found = _no_node(pod, held)
    if found:
        return found
    if phase == "Running":
        return _not_ready(pod, said)
    return bool(said), f"it can't start ({said}): {pod_fix(said, name, node_of(pod))}" if said else "it is starting"


def pod_state(
    pod: Mapping[str, Any],
    role: Optional[str],
    events: Iterable[Mapping[str, Any]],
    held: Optional[Mapping[str, str]] = None,
) -> PodState:
    """Return whether a pod is ready, and if not why and whether something is wrong with it.

    held says of a resource that the scheduler misses which pods hold it, where that is known.
    """
    name = name_of(pod)
    if is_ready(pod):
        return PodState(name, role, True, False, "")
    found = warnings("Pod", name, (pod.get("metadata") or {}).get("uid"), events)
    stuck, why = _trouble(pod, found, held or {})
    return PodState(name, role, False, stuck, f"{name}: {why}")


def outline(pod: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the name of a pod, and why it isn't Ready."""
    namespace = (pod.get("metadata") or {}).get("namespace") or ""
    return {"name": f"{namespace}/{name_of(pod)}", "ready": is_ready(pod), "why": pod_state(pod, None, []).why}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say why a container of a pod doesn't run, and how to fix it. Values in, values out."""

import re
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import one_line
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.events import newest
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.fixes import image_fix, pod_fix

_PULLING = re.compile(r"Image|Registry|SignatureValidation", re.IGNORECASE)
_OF_A_PULL = re.compile(
    r"[Ff]ailed to pull|[Ff]ailed to (?:apply default image tag|inspect image)|is not present with pull"
)
SIGBUS = 128 + 7
STARTING = ("ContainerCreating", "PodInitializing", "")
PARTS = (("initContainerStatuses", "init container"), ("containerStatuses", "container"))


def _detail(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part)


def ended(state: Mapping[str, Any], pod: str, node: str | None, see: str = "kubectl logs") -> str:
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


def _pull(status: Mapping[str, Any], detail: str, pod: str, node: str | None, events: list[str]) -> tuple[bool, str]:
    """Say why there is no image. Kubelets before 1.32 write the cause into an event only."""
    cause = next((event for event in events if _OF_A_PULL.search(event)), "")
    said = f"{detail}; {cause}" if cause and cause.partition(": ")[2] not in detail else detail
    return True, f"has no image ({said}): {image_fix(said, pod, node, status.get('image'))}"


def _container(status: Mapping[str, Any], pod: str, node: str | None, events: list[str]) -> tuple[bool, str] | None:
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


def containers(pod: Mapping[str, Any], name: str, events: list[str]) -> tuple[bool, str] | None:
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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide whether the log of a pod that can't be read would be lost with the pod, or never was, and write logs."""

import os
import re
from typing import Any, List, Mapping

from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN, Trouble

OPTION = "mpijob_allow_lost_logs"
# What API server and kubelet answer of a container that has not printed anything. A pod that was scheduled and whose node is gone
# is none of these.
_NOT_STARTED = re.compile(
    r"is waiting to start|does not have a host assigned|ContainerCreating|PodInitializing|trying and failing to pull image"
    r"|image can't be pulled|container \S+ in pod \S+ is not available"
)
# kubernetes.core says so of every 404, also of one that comes from the kubelet.
_ABSENT = re.compile(r"\bnot found", re.IGNORECASE)


def is_waiting(cause: Trouble) -> bool:
    """Return whether the server says that the container has not started."""
    return bool(_NOT_STARTED.search(cause.said))


def may_be_absent(cause: Trouble) -> bool:
    """Return whether the pod itself may be gone."""
    return cause.code == 404 or bool(_ABSENT.search(cause.said))


def never_ran(pod: Mapping[str, Any], container: str) -> bool:
    """Return whether a container has not run yet, by the status of its pod."""
    status = pod.get("status") or {}
    found = next((one for one in status.get("containerStatuses") or [] if one.get("name") == container), None)
    if found is None:
        # A pod that the kubelet rejected or evicted has no statuses, and no files of logs either.
        return status.get("phase") in (None, "Pending", "Failed")
    ran = (found.get("state") or {}).keys() & {"running", "terminated"} or (found.get("lastState") or {}).get(
        "terminated"
    )
    return not ran and not found.get("restartCount")


def why_unreadable(pod: Mapping[str, Any], cause: Trouble) -> str:
    """Return why a log can't be read, and what to check."""
    name = (pod.get("metadata") or {}).get("name")
    node = (pod.get("spec") or {}).get("nodeName")
    if cause.kind == FORBIDDEN:
        return f"{name}: {cause.said}"
    check = f", check that node {node} and its kubelet answer (kubectl get node {node})" if node else ""
    return f"{name}: {cause.said}{check}"


def refusal(job: str, lost: List[str]) -> str:
    """Return the message that refuses to delete a job with logs that can't be kept."""
    return (
        f"the MPIJob {job} is not deleted, since these logs can't be read and would be lost: {'; '.join(lost)}. Run it again when "
        f"they can be read, or set {OPTION}: true to delete the job without them"
    )


def write(path: str, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    temporary = path + ".new"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)

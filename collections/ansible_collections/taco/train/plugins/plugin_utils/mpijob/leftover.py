# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say why objects that are being deleted are still there, and how to end that. Values in, text out."""

from typing import Any, Iterable, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.pods import disruption, name_of, node_of

Thing = Mapping[str, Any]
# The garbage collector keeps it on an object until the objects that belong to it are gone.
FOREGROUND = "foregroundDeletion"
NOT_READY = ("False", "Unknown")


def finalizers(thing: Thing) -> list[str]:
    return [str(name) for name in (thing.get("metadata") or {}).get("finalizers") or []]


def kept_by(thing: Thing, kind: str) -> str:
    """Say which finalizers keep an object, empty where there are none but the garbage collector's."""
    metadata = thing.get("metadata") or {}
    names = [name for name in finalizers(thing) if name != FOREGROUND]
    if not names:
        return ""
    where = f" --namespace {metadata['namespace']}" if metadata.get("namespace") else ""
    return (
        f"the finalizer{'s' * (len(names) > 1)} {', '.join(names)} keep{'s' * (len(names) == 1)} it: check the controller that must "
        f"remove {'it' if len(names) == 1 else 'them'}, or remove {'it' if len(names) == 1 else 'them'} with `kubectl edit "
        f"{kind} {name_of(thing)}{where}`"
    )


def _ready(pod: Thing) -> str:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((str(one.get("status")) for one in conditions if one.get("type") == "Ready"), "")


def pod_stays(pod: Thing) -> str:
    """Say why a pod that should go is still there."""
    metadata, node = pod.get("metadata") or {}, node_of(pod)
    reason = kept_by(pod, "pod")
    if reason:
        return reason
    if not metadata.get("deletionTimestamp"):
        return "nobody deletes it: check that the garbage collector (kube-controller-manager) runs"
    if not node:
        return "the API server has not removed it yet"
    grace = metadata.get("deletionGracePeriodSeconds")
    said = disruption(pod)
    detail = f" ({said})" * bool(said)
    within = f" within its {grace} s of grace" if grace else ""
    answers = "doesn't answer or" if _ready(pod) in NOT_READY else "may not answer, or"
    return (
        f"the kubelet of node {node} has not confirmed its end{within}{detail}: the node {answers} its container doesn't end; check "
        f"`kubectl get node {node}`"
    )


def job_stays(job: Thing, pods: Iterable[Thing]) -> str:
    """Say why a job that should go is still there."""
    reason = kept_by(job, "mpijob")
    if reason:
        return reason
    if not (job.get("metadata") or {}).get("deletionTimestamp"):
        return "it is not being deleted: somebody may have created it again"
    if list(pods):
        return "it goes after its pods"
    return "the garbage collector has not removed it yet: check that the kube-controller-manager runs"


def leftover(name: str, job: Thing | None, pods: list[Thing]) -> str:
    """Name what is still there, each with its reason."""
    things = [f"the MPIJob {name} is still there ({job_stays(job, pods)})"] if job is not None else []
    things += [f"the pod {name_of(pod)} is still there ({pod_stays(pod)})" for pod in pods]
    return ", ".join(things)

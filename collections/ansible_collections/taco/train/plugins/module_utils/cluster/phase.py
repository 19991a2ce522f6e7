# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say what the phase of an MPIJob means for whoever waits for it or for its end, and what to check. Values in, text out.

A wait never ends without a reason: when all pods run, the phase is what keeps the job from being usable.
"""

from typing import Any, Iterable, List, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster.pods import disruption, name_of, node_of
from ansible_collections.taco.train.plugins.module_utils.cluster.status import PENDING, Phase

Resource = Mapping[str, Any]
# The garbage collector keeps it on an object until the objects that belong to it are gone.
FOREGROUND = "foregroundDeletion"
NOT_READY = ("False", "Unknown")


def finalizers(thing: Resource) -> List[str]:
    return [str(name) for name in (thing.get("metadata") or {}).get("finalizers") or []]


def kept_by(thing: Resource, kind: str) -> str:
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


def _ready(pod: Resource) -> str:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((str(one.get("status")) for one in conditions if one.get("type") == "Ready"), "")


def pod_stays(pod: Resource) -> str:
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


def job_stays(job: Resource, pods: Iterable[Resource]) -> str:
    """Say why a job that should go is still there."""
    reason = kept_by(job, "mpijob")
    if reason:
        return reason
    if not (job.get("metadata") or {}).get("deletionTimestamp"):
        return "it is not being deleted: somebody may have created it again"
    if list(pods):
        return "it goes after its pods"
    return "the garbage collector has not removed it yet: check that the kube-controller-manager runs"


def leftover(name: str, job: Optional[Resource], pods: List[Resource]) -> str:
    """Name what is still there, each with its reason."""
    things = [f"the MPIJob {name} is still there ({job_stays(job, pods)})"] if job is not None else []
    things += [f"the pod {name_of(pod)} is still there ({pod_stays(pod)})" for pod in pods]
    return ", ".join(things)


QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
OPERATOR = "check that the MPI Operator runs, and its log (kubectl get deployments --all-namespaces)"
LAUNCHER_LOG = "read the log of the launcher (kubectl logs job/{name}-launcher, with v1 pod/{name}-launcher)"
ENDS = (
    ("DeadlineExceeded", "raise activeDeadlineSeconds of the job's runPolicy"),
    ("BackoffLimitExceeded", f"{LAUNCHER_LOG}, which has failed each time"),
    ("MPIJobEvicted", "check why the node evicted the worker (kubectl describe pod, kubectl describe node)"),
    ("PodFailurePolicy", LAUNCHER_LOG),
)
OTHER_END = f"{LAUNCHER_LOG}, then set mpijob_replace: true"


def _detail(phase: Phase) -> str:
    return ": ".join(part for part in (phase.reason, " ".join(phase.message.split()).rstrip(".")) if part)


def _words(phase: Phase) -> str:
    detail = _detail(phase)
    return f"{phase.name} ({detail})" if detail else phase.name


def _queue(job: Mapping[str, Any]) -> Optional[str]:
    labels = (job.get("metadata") or {}).get("labels") or {}
    return labels.get(QUEUE_LABEL) or None


def _suspended(job: Mapping[str, Any], phase: Phase) -> str:
    metadata = job.get("metadata") or {}
    queue = _queue(job)
    by = (
        f"Kueue has not admitted it in the queue {queue}: check `kubectl describe workloads --namespace "
        f"{metadata.get('namespace') or 'NAMESPACE'}`"
        if queue
        else "set spec.runPolicy.suspend of the job to false, or have the controller that suspended it, such as Kueue, admit it"
    )
    return f"the job is {_words(phase)}: {by}"


def ended(job: Mapping[str, Any], phase: Phase) -> str:
    """Say that a job has ended, why, and what to do."""
    name = (job.get("metadata") or {}).get("name") or ""
    fix = next((fix for reason, fix in ENDS if reason in phase.reason), OTHER_END)
    said = ", ".join(filter(None, (phase.name, _detail(phase))))
    return f"it has ended ({said}): {fix.replace('{name}', name)}"


def unfinished(job: Mapping[str, Any], phase: Phase, all_ready: bool) -> str:
    """Say in which phase a job still is, and what to check when no pod that exists is a reason for it."""
    if phase.name == PENDING:
        manager = ((job.get("spec") or {}).get("runPolicy") or {}).get("managedBy")
        if manager:
            return f"the job has no status: its runPolicy.managedBy leaves it to {manager}, so check that controller"
        return f"the job has no status: {OPERATOR}"
    if phase.name == "Suspended":
        return _suspended(job, phase)
    if phase.name == "Restarting":
        return f"the job is {_words(phase)}: read the log of the launcher's last run (kubectl logs --previous)"
    if all_ready:
        return f"the job is still {_words(phase)} although all of its pods that exist are ready, so nobody works on it: {OPERATOR}"
    return f"the job is {_words(phase)}"


def not_taken_up(job: Mapping[str, Any], waited: str) -> str:
    """Say that no operator works on a job: it has no status, no pods and no warnings."""
    metadata = job.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace") or "default"
    manager = ((job.get("spec") or {}).get("runPolicy") or {}).get("managedBy")
    leaves = f"its runPolicy.managedBy leaves it to {manager}; " * bool(manager)
    return (
        f"no operator has taken it up in {waited}: {leaves}{OPERATOR}, that it works on this version of the job, and the events of the "
        f"job (kubectl describe mpijob {name} --namespace {namespace})"
    )

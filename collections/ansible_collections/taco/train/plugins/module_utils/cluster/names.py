# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which API version of MPIJob a cluster serves, and what its operator calls the pods. Values in, values out.

What each version does is read from its operators' code: https://github.com/kubeflow/mpi-operator, v0.3.0 for v1 and
commit caa3c47f for v2beta1, and https://github.com/kubeflow/training-operator, commit 8875f381, also for v1.
"""

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError

GROUP = "kubeflow.org"
KIND = "MPIJob"
CRD = "mpijobs.kubeflow.org"
# The versions that a manifest is rendered for, and who serves each.
VERSIONS = {
    "v1": "MPI Operator 0.2.3 to 0.3, or Training Operator 1",
    "v2beta1": "MPI Operator 0.3 and newer",
}
ARENA_VERSION = "v1alpha1"
ROLES = ("launcher", "worker")
# The labels that say job and role. Two operators serve v1, and don't agree.
LABELS: Dict[str, Tuple[Tuple[str, str], ...]] = {
    "v1": (
        ("mpi-job-name", "mpi-job-role"),
        ("training.kubeflow.org/job-name", "training.kubeflow.org/replica-type"),
    ),
    "v2beta1": (("training.kubeflow.org/job-name", "training.kubeflow.org/job-role"),),
}
# RFC 1035: v2beta1 names a Service after the job. A pod's name is the name of its host, which ends at 63 letters.
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
MOST_LETTERS = 63


def _who_serves_what() -> str:
    return "; ".join(f"{version} is served by {who}" for version, who in VERSIONS.items())


def served_versions(crd: Mapping[str, Any]) -> Tuple[str, ...]:
    """Return the versions that the cluster serves, the stored one first, from the CRD as the cluster returns it."""
    versions = (crd.get("spec") or {}).get("versions") or []
    served = [version for version in versions if version.get("served")]
    return tuple(version["name"] for version in sorted(served, key=lambda version: not version.get("storage")))


def choose_version(crd: Optional[Mapping[str, Any]], wanted: Optional[str] = None) -> str:
    """Return the version that a manifest should be in, or raise what the cluster lacks.

    Where both are served the stored one is taken: it is the one that the cluster's operator was deployed for.
    """
    if not crd:
        raise MpijobError(f"the cluster has no CRD {CRD}: install the MPI Operator. {_who_serves_what()}.")
    name = (crd.get("metadata") or {}).get("name")
    if name != CRD:
        raise MpijobError(f"expected the CRD {CRD}, found {name}")
    if wanted and wanted not in VERSIONS:
        raise MpijobError(f"api_version is {wanted}: expected one of {', '.join(VERSIONS)}")
    served = served_versions(crd)
    usable = [version for version in served if version in VERSIONS]
    if wanted in usable or (usable and not wanted):
        return wanted or usable[0]
    found = f"the cluster serves MPIJob in {', '.join(served) or 'no version'}"
    expected = f"expected {wanted or ' or '.join(VERSIONS)}"
    if usable:
        raise MpijobError(f"{found}, {expected}: set api_version: {usable[0]}, or leave it out")
    if ARENA_VERSION in served:
        raise MpijobError(
            f"{found}, {expected}: {ARENA_VERSION} is Arena's, so submit the job with Arena (arena submit mpijob), or install "
            f"an operator of another version. {_who_serves_what()}."
        )
    raise MpijobError(f"{found}, {expected}: install an operator that serves it. {_who_serves_what()}.")


def require_version(version: str) -> None:
    """Refuse a version that nothing is known of."""
    if version not in VERSIONS:
        hint = f"; {ARENA_VERSION} jobs are Arena's to submit" if version == ARENA_VERSION else ""
        raise MpijobError(f"api_version is {version!r}: expected one of {', '.join(VERSIONS)}{hint}")


def worker_pods(job: str, workers: int) -> List[str]:
    """Return the names of a job's worker pods, which are the same in every version."""
    return [f"{job}-worker-{index}" for index in range(workers)]


def require_names(job: str, workers: int, namespace: Optional[str] = None) -> None:
    """Refuse a name from which the operators can't make the names of pods and services."""
    if namespace is not None and not (_NAMESPACE.fullmatch(namespace) and len(namespace) <= MOST_LETTERS):
        raise MpijobError(
            f"the namespace {namespace!r} can't be one: expected up to {MOST_LETTERS} small letters, digits and dashes, no dash "
            "first or last"
        )
    if not _NAME.fullmatch(job):
        raise MpijobError(
            f"the name {job!r} can't be an MPIJob's: expected small letters, digits and dashes, a letter first and no dash last"
        )
    longest = max([f"{job}-launcher", *worker_pods(job, workers)[-1:]], key=len)
    over = len(longest) - MOST_LETTERS
    if over > 0:
        raise MpijobError(
            f"the name {job!r} is {over} letter{'s' * (over != 1)} too long: the pod {longest} would have "
            f"{len(longest)}, and {MOST_LETTERS} are possible"
        )


def worker_hosts(
    version: str, job: str, workers: int, slots: int, namespace: Optional[str] = None
) -> List[Dict[str, Any]]:
    """Return mpirun's hosts, as in the operator's own hostfile.

    In v1 mpirun reaches a worker by `kubectl exec`, which takes the pod's name. In v2beta1 it is SSH, and the launcher's
    pod lacks the DNS search domain with which a bare name would be found.
    """
    require_version(version)
    domain = "" if version == "v1" else f".{job}.{namespace or 'default'}.svc"
    return [{"name": f"{pod}{domain}", "slots": slots} for pod in worker_pods(job, workers)]


def job_selectors(version: str, job: str) -> Tuple[str, ...]:
    """Return the label selectors to look for all pods of a job with; at most one of them finds any."""
    require_version(version)
    return tuple(f"{name}={job}" for name, _kind in LABELS[version])


def role_of(pod: Mapping[str, Any], job: str) -> Optional[str]:
    """Return whether a pod is a job's launcher or worker, by the labels of any version, or None."""
    labels = (pod.get("metadata") or {}).get("labels") or {}
    for pairs in LABELS.values():
        for name, kind in pairs:
            if labels.get(name) == job and labels.get(kind) in ROLES:
                return str(labels[kind])
    return None

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manager of an MPIJob by its label, and the refusal to touch a job of another manager. Values in, values out."""

from typing import Any, Mapping, Optional

LABEL = "app.kubernetes.io/managed-by"
MANAGER = "taco.train"
LABELS = {LABEL: MANAGER}
VARIABLE = "mpijob_any_manager"


def _label(thing: Any) -> Optional[str]:
    labels = ((thing or {}).get("metadata") or {}).get("labels") or {}
    return str(labels[LABEL]) if labels.get(LABEL) else None


def manager(job: Mapping[str, Any]) -> Optional[str]:
    """The value of the label of a job, None without one. Arena may write it to the template of the pods only."""
    return _label(job) or _label((job.get("spec") or {}).get("template"))


def is_ours(job: Mapping[str, Any]) -> bool:
    return manager(job) == MANAGER


def described(job: Optional[Mapping[str, Any]]) -> str:
    """The manager of a job in words; None is a job whose labels can't be read."""
    if job is None:
        return f"its label {LABEL} can't be read"
    name = manager(job)
    return f"its label {LABEL} is {name}" if name else f"it has no label {LABEL}"


def uid_of(thing: Mapping[str, Any]) -> Optional[str]:
    return (thing.get("metadata") or {}).get("uid")


def refusal(job: Mapping[str, Any], name: str, namespace: str, doing: str) -> str:
    """The message that refuses to use, replace or delete a job of another manager."""
    return (
        f"the MPIJob {name} in the namespace {namespace} is not managed by {MANAGER} ({described(job)}), so it is not {doing}. "
        f"Set {VARIABLE}: true to permit that, or mpijob_name to another name"
    )


def unread(name: str, namespace: str, doing: str, cause: str) -> str:
    """The message that refuses to touch a job whose manager can't be read."""
    return (
        f"the manager of the MPIJob {name} in the namespace {namespace} can't be read ({cause}), so it is not {doing}. Run it again when "
        f"`kubectl get mpijobs.kubeflow.org {name} --namespace {namespace}` works on this host, or set {VARIABLE}: true to permit that "
        "for any manager"
    )


def recreated(job: Optional[Mapping[str, Any]], name: str, namespace: str) -> str:
    """The message about a job that another client created while the job of the same name was being deleted."""
    created = ((job or {}).get("metadata") or {}).get("creationTimestamp")
    when = f" at {created}" if created else ""
    return (
        f"another client created the MPIJob {name} in the namespace {namespace} again{when}, while it was being deleted "
        f"({described(job)}). Stop that client and run this again, or set mpijob_name to another name"
    )

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller of batch Jobs, as far as launchers need it: one pod, made anew until the limit of failures is reached."""

import copy

from kubelab import status
from kubelab.conditions import is_true, set_condition
from kubelab.events import event
from kubelab.resources import JOB, POD
from kubelab.storage import owned_by, suffix
from kubelab.times import now

BACKOFF_LIMIT = 6
SOURCE = "job-controller"


def owned(storage, resource, owner):
    """Return the objects of a namespace that have this owner."""
    uid = owner["metadata"]["uid"]
    return [
        thing
        for thing in storage.list(resource, owner["metadata"]["namespace"])
        if any(reference["uid"] == uid for reference in thing["metadata"].get("ownerReferences") or [])
    ]


def phase(pod):
    return (pod.get("status") or {}).get("phase") or "Pending"


def _pod(job):
    metadata, template = job["metadata"], copy.deepcopy(job["spec"]["template"])
    labels = {**((template.get("metadata") or {}).get("labels") or {}), "job-name": metadata["name"]}
    labels["controller-uid"] = metadata["uid"]
    return {
        "metadata": {
            "name": f"{metadata['name']}-{suffix()}",
            "labels": labels,
            "annotations": (template.get("metadata") or {}).get("annotations") or {},
            "ownerReferences": [owned_by(job)],
        },
        "spec": template["spec"],
    }


def tick(storage, create_pod):
    """Bring every Job on by a step."""
    for job in storage.list(JOB):
        metadata = job["metadata"]
        if metadata.get("deletionTimestamp") or is_true(job, "Complete") or is_true(job, "Failed"):
            continue
        pods = owned(storage, POD, job)
        failed = [pod for pod in pods if phase(pod) == "Failed"]
        succeeded = [pod for pod in pods if phase(pod) == "Succeeded"]
        active = [pod for pod in pods if pod not in failed and pod not in succeeded]
        limit = job["spec"].get("backoffLimit", BACKOFF_LIMIT)
        if not active and not succeeded and len(failed) <= limit:
            try:
                active = [create_pod(metadata["namespace"], _pod(job))]
            except status.Refused as refused:
                event(storage, job, "Warning", "FailedCreate", f"Error creating: {refused}", SOURCE)
        storage.update(JOB, metadata["namespace"], metadata["name"], _status(active, succeeded, failed, limit))


def _status(active, succeeded, failed, limit):
    def change(job):
        found = job.setdefault("status", {})
        found.update(active=len(active), succeeded=len(succeeded), failed=len(failed))
        found.setdefault("startTime", now())
        if succeeded:
            set_condition(job, "Complete", "True")
        elif len(failed) > limit:
            set_condition(job, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")

    return change

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status that the MPI Operator writes at the end of a sync, in each version. Values in, values out."""

from typing import NamedTuple

from kubelab import operator_pods
from kubelab.batch import phase
from kubelab.conditions import condition, is_true, set_condition
from kubelab.times import now

COUNTED = {"Running": "active", "Succeeded": "succeeded", "Failed": "failed"}


class Outcome(NamedTuple):
    """The state that a job is found in: Running, Succeeded or Failed, each a type of condition."""

    state: str
    reason: str
    message: str


def _failure(version, name, launchers, batch_job):
    """The reason of a launcher's final failure, or None."""
    said = f"MPIJob {name} has failed"
    failed = [pod for pod in launchers if phase(pod) == "Failed"]
    last = (failed[-1].get("status") or {}) if failed else {}
    if version == "v1":
        reason = last.get("reason") or "MPIJobFailed"
        return Outcome("Failed", "MPIJobEvicted" if reason == "Evicted" else reason, said) if failed else None
    if not is_true(batch_job or {}, "Failed"):
        return None
    found = condition(batch_job, "Failed")
    if not failed:
        return Outcome("Failed", found["reason"], found["message"])
    # The reason and the message of a pod are empty where its container ended by itself.
    reason, message = f"{found['reason']}/{last.get('reason', '')}", f"{found['message']}: {last.get('message', '')}"
    return Outcome("Failed", reason, message)


def outcome(version, job, workers, launchers, batch_job):
    """The final state of a job, or None before one of the three states."""
    name = f"{job['metadata']['namespace']}/{job['metadata']['name']}"
    ended = (
        any(phase(pod) == "Succeeded" for pod in launchers) if version == "v1" else is_true(batch_job or {}, "Complete")
    )
    if ended:
        return Outcome("Succeeded", "MPIJobSucceeded", f"MPIJob {name} successfully completed.")
    failure = _failure(version, name, launchers, batch_job)
    if failure:
        return failure
    evicted = [pod for pod in workers if phase(pod) == "Failed" and pod["status"].get("reason") == "Evicted"]
    if evicted and version != "v1alpha1":
        return Outcome("Failed", "MPIJobEvicted", f"{len(evicted)}/{len(workers)} workers are evicted")
    running = all(phase(pod) == "Running" for pod in workers) and any(phase(pod) == "Running" for pod in launchers)
    if running and not operator_pods.suspended(job):
        return Outcome("Running", "MPIJobRunning", f"MPIJob {name} is running.")
    return None


def _counts(pods):
    counts = {}
    for name in filter(None, (COUNTED.get(phase(pod)) for pod in pods)):
        counts[name] = counts.get(name, 0) + 1
    return counts


def _without_conditions(thing, found, workers, launchers):
    """Write the status of Arena's version, which has no conditions."""
    status = thing["status"]
    status["workerReplicas"] = sum(phase(pod) == "Running" for pod in workers)
    if found and found.state != "Running":
        status.update(launcherStatus=found.state, completionTime=now())
    elif launchers:
        status["launcherStatus"] = "Active"


def write(version, thing, found, workers, launchers, created):
    """Write the status into a job; found is its outcome, created the message of its first condition."""
    status = thing.setdefault("status", {})
    if not operator_pods.suspended(thing):
        status.setdefault("startTime", now())
    if version == "v1alpha1":
        _without_conditions(thing, found, workers, launchers)
        return
    set_condition(thing, "Created", "True", "MPIJobCreated", created)
    status["replicaStatuses"] = {"Launcher": _counts(launchers), "Worker": _counts(workers)}
    if operator_pods.suspended(thing):
        set_condition(thing, "Suspended", "True", "MPIJobSuspended", "MPIJob suspended")
        set_condition(thing, "Running", "False", "MPIJobSuspended", f"MPIJob {created.split()[1]} is suspended.")
    if found is None:
        return
    if found.state != "Running":
        status["completionTime"] = now()
        set_condition(thing, "Running", "False", "MPIJobRunning", f"MPIJob is {found.state.lower()}.")
    set_condition(thing, found.state, "True", found.reason, found.message)

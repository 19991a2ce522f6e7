# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The MPI Operator: makes the pods of every MPIJob and says in its status how far it has come.

As the operators of https://github.com/kubeflow do: v1 as MPI Operator 0.3, v2beta1 as the newer ones, v1alpha1 as the one
that Arena brings. Each looks at a job's spec when it makes a pod, and never at one that it has made: templates can be
changed in the API, and nothing comes of it. A sync ends with the status: where a part can't be created, it stops there, the
status stays as it was, and the sync is tried again later and later.
"""

import time

from kubelab import operator_pods, operator_status, status
from kubelab.batch import owned, phase
from kubelab.conditions import is_true
from kubelab.events import event
from kubelab.resources import CONFIG_MAP, JOB, POD, SECRET, SERVICE, mpijobs
from kubelab.storage import owned_by

SOURCE = "mpi-job-controller"
# Of the operator's queue, in seconds.
FIRST_PAUSE, MOST_PAUSE = 0.005, 1000


class SyncError(Exception):
    """A sync that ended before its status was written."""


class Operator:
    def __init__(self, storage, create_pod, versions):
        self.storage = storage
        self.create_pod = create_pod
        self.versions = versions
        self.alive = True
        self._failures = {}
        """By the job's namespace and name, which outlive it: how many syncs have failed in a row, and when the next may begin."""

    def tick(self):
        for job in self.storage.list(mpijobs(self.versions[0])) if self.versions and self.alive else []:
            # All versions share their objects; the one that a job was created in is in the storage.
            version = self._version(job)
            key = job["metadata"]["namespace"], job["metadata"]["name"]
            count, pause = self._failures.get(key, (0, 0))
            if not version or job["metadata"].get("deletionTimestamp") or time.monotonic() < pause:
                continue
            try:
                self._sync(version, job)
                self._failures.pop(key, None)
            except SyncError:
                self._failures[key] = (count + 1, time.monotonic() + min(FIRST_PAUSE * 2**count, MOST_PAUSE))

    def _version(self, job):
        metadata = job["metadata"]
        found = self.storage.stored_version(mpijobs(self.versions[0]), metadata["namespace"], metadata["name"])
        version = found.split("/")[1] if found else None
        return version if version in self.versions else None

    def _sync(self, version, job):
        problem = operator_pods.problem(version, job)
        if problem:
            self._event(job, "Warning", "ValidationError", problem)
            return
        resource, metadata = mpijobs(version), job["metadata"]
        job = self.storage.get(resource, metadata["namespace"], metadata["name"])
        message = f"MPIJob {metadata['namespace']}/{metadata['name']} is created."
        if not self._is_known(job):
            self._event(job, "Normal", "MPIJobCreated", message)
        if is_true(job, "Succeeded") or is_true(job, "Failed") or (job.get("status") or {}).get("completionTime"):
            self._clean(version, job)
            return
        workers, launchers = [], self._launchers(version, job)
        if not self._done(version, job, launchers):
            self._parts(version, job)
            if not operator_pods.suspended(job):
                workers = self._workers(version, job)
                launchers = self._launcher(version, job)
        self._status(version, resource, job, workers, launchers, message)

    @staticmethod
    def _is_known(job):
        return is_true(job, "Created") or "startTime" in (job.get("status") or {})

    def _event(self, job, kind, reason, message):
        event(self.storage, job, kind, reason, message, SOURCE)

    def _ensure(self, resource, job, thing, create=None):
        """Create a part of the job that isn't there; one of another's ends the sync."""
        namespace, name = job["metadata"]["namespace"], thing["metadata"]["name"]
        found = self.storage.find(resource, namespace, name)
        if found is None:
            thing["metadata"]["ownerReferences"] = [owned_by(job)]
            try:
                return create(namespace, thing) if create else self.storage.create(resource, namespace, thing)
            except status.Refused as refused:
                if resource == POD:
                    # The operator says nothing of its other parts but in its own log.
                    role = operator_pods.role(thing)
                    self._event(job, "Warning", "MPIJobFailed", f"{role} pod created failed: {refused}")
                raise SyncError(str(refused)) from refused
        owners = found["metadata"].get("ownerReferences") or []
        if not any(owner["uid"] == job["metadata"]["uid"] for owner in owners):
            text = f'Resource "{name}" of Kind "{resource.kind}" already exists and is not managed by MPIJob'
            self._event(job, "Warning", "ErrResourceExists", text)
            raise SyncError(text)
        return found

    def _parts(self, version, job):
        if version == "v2beta1":
            self._ensure(SERVICE, job, operator_pods.service(job))
        self._ensure(CONFIG_MAP, job, operator_pods.config_map(version, job))
        if version == "v2beta1":
            self._ensure(SECRET, job, operator_pods.ssh_secret(job))

    def _workers(self, version, job):
        return [self._ensure(POD, job, pod, self.create_pod) for pod in operator_pods.workers(version, job)]

    def _launchers(self, version, job):
        """Return the launcher's pods that there are."""
        namespace, name = job["metadata"]["namespace"], f"{job['metadata']['name']}-launcher"
        if version == "v1":
            found = self.storage.find(POD, namespace, name)
            return [found] if found else []
        batch_job = self.storage.find(JOB, namespace, name)
        return owned(self.storage, POD, batch_job) if batch_job else []

    def _done(self, version, job, launchers):
        """Return whether the launcher has ended for good, after which nothing is created any more."""
        if version == "v1":
            return any(phase(pod) in ("Succeeded", "Failed") for pod in launchers)
        found = self.storage.find(JOB, job["metadata"]["namespace"], f"{job['metadata']['name']}-launcher") or {}
        return is_true(found, "Complete") or is_true(found, "Failed")

    def _launcher(self, version, job):
        """Create the launcher where there is none, and return its pods."""
        if version == "v1":
            self._ensure(POD, job, operator_pods.launcher(version, job), self.create_pod)
        else:
            self._ensure(JOB, job, operator_pods.launcher_job(version, job))
        return self._launchers(version, job)

    def _status(self, version, resource, job, workers, launchers, created):
        """Write the status of a sync that came to its end, and say what is new in it."""
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        batch_job = self.storage.find(JOB, namespace, f"{name}-launcher") if version != "v1" else None
        outcome = operator_status.outcome(version, job, workers, launchers, batch_job)

        def change(thing):
            operator_status.write(version, thing, outcome, workers, launchers, created)

        self.storage.update(resource, namespace, name, change)
        if outcome and not is_true(job, outcome.state) and version != "v1alpha1":
            self._event(job, "Warning" if outcome.state == "Failed" else "Normal", outcome.reason, outcome.message)

    def _clean(self, version, job):
        """Delete the pods of a job that has ended, as its policy says; workers that run hold what others could have."""
        policy = operator_pods.clean_pod_policy(version, job)
        if policy not in ("Running", "All"):
            return
        for pod in owned(self.storage, POD, job):
            role = operator_pods.role(pod)
            going = phase(pod) in ("Running", "Pending") or policy == "All"
            if role == "worker" and going and not pod["metadata"].get("deletionTimestamp"):
                self.storage.delete(POD, pod["metadata"]["namespace"], pod["metadata"]["name"])

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The MPI Operator: makes the pods of every MPIJob and says in its status how far it has come.

As the operators of https://github.com/kubeflow do: v1 as MPI Operator 0.3, v2beta1 as the newer ones, v1alpha1 as the one
that Arena brings. Each looks at a job's spec when it makes a pod, and never at one that it has made: templates can be
changed in the API, and nothing comes of it.
"""

from kubelab import operator_pods, status
from kubelab.batch import owned, phase
from kubelab.conditions import is_true, set_condition
from kubelab.events import event
from kubelab.resources import CONFIG_MAP, JOB, POD, SECRET, SERVICE, mpijobs
from kubelab.storage import owned_by
from kubelab.times import now

SOURCE = "mpi-job-controller"
ACTIVE, SUCCEEDED, FAILED = "active", "succeeded", "failed"


class Operator:
    def __init__(self, storage, create_pod, versions):
        self.storage = storage
        self.create_pod = create_pod
        self.versions = versions

    def tick(self):
        for job in self.storage.list(mpijobs(self.versions[0])) if self.versions else []:
            # All versions share their objects; the one that a job was created in is in the storage.
            version = self._version(job)
            if version and not job["metadata"].get("deletionTimestamp"):
                self._reconcile(version, job)

    def _version(self, job):
        metadata = job["metadata"]
        found = self.storage.stored_version(mpijobs(self.versions[0]), metadata["namespace"], metadata["name"])
        version = found.split("/")[1] if found else None
        return version if version in self.versions else None

    def _reconcile(self, version, job):
        resource = mpijobs(version)
        problem = operator_pods.problem(version, job)
        if problem:
            event(self.storage, job, "Warning", "ValidationError", problem, SOURCE)
            return
        metadata = job["metadata"]
        name = metadata["name"]
        if not self._said(job, "Created"):
            message = f"MPIJob {metadata['namespace']}/{name} is created."
            self._set(resource, job, lambda thing: self._created(version, thing, message))
            event(self.storage, job, "Normal", "MPIJobCreated", message, SOURCE)
            return
        job = self.storage.get(resource, metadata["namespace"], name)
        if is_true(job, "Succeeded") or is_true(job, "Failed") or (job.get("status") or {}).get("completionTime"):
            self._clean(version, job)
            return
        if ((job.get("spec") or {}).get("runPolicy") or {}).get("suspend"):
            return
        self._parts(version, job)
        workers = self._workers(version, job)
        launchers = self._launcher(version, job)
        self._status(version, resource, job, workers, launchers)

    @staticmethod
    def _said(job, kind):
        return is_true(job, kind) or "startTime" in (job.get("status") or {})

    @staticmethod
    def _created(version, thing, message):
        thing.setdefault("status", {})["startTime"] = now()
        if version != "v1alpha1":
            set_condition(thing, "Created", "True", "MPIJobCreated", message)

    def _set(self, resource, job, change):
        self.storage.update(resource, job["metadata"]["namespace"], job["metadata"]["name"], change)

    def _ensure(self, resource, job, thing, create=None):
        """Create a part of the job that isn't there; one of another's is an error that the operator tells."""
        namespace, name = job["metadata"]["namespace"], thing["metadata"]["name"]
        found = self.storage.find(resource, namespace, name)
        if found is None:
            thing["metadata"]["ownerReferences"] = [owned_by(job)]
            try:
                found = create(namespace, thing) if create else self.storage.create(resource, namespace, thing)
            except status.Refused as refused:
                text = f"{resource.kind.lower()} failed to create: {refused}"
                event(self.storage, job, "Warning", "MPIJobFailed", text, SOURCE)
                return None
        elif not any(
            owner["uid"] == job["metadata"]["uid"] for owner in found["metadata"].get("ownerReferences") or []
        ):
            text = f'Resource "{name}" of Kind "{resource.kind}" already exists and is not managed by MPIJob'
            event(self.storage, job, "Warning", "ErrResourceExists", text, SOURCE)
            return None
        return found

    def _parts(self, version, job):
        self._ensure(CONFIG_MAP, job, operator_pods.config_map(version, job))
        if version == "v2beta1":
            self._ensure(SERVICE, job, operator_pods.service(job))
            if self.storage.find(SECRET, job["metadata"]["namespace"], f"{job['metadata']['name']}-ssh") is None:
                self._ensure(SECRET, job, operator_pods.ssh_secret(job))

    def _workers(self, version, job):
        pods = [self._ensure(POD, job, pod, self.create_pod) for pod in operator_pods.workers(version, job)]
        return [pod for pod in pods if pod]

    def _launcher(self, version, job):
        """Return the launcher's pods."""
        if version == "v1":
            found = self._ensure(POD, job, operator_pods.launcher(version, job), self.create_pod)
            return [found] if found else []
        batch_job = self._ensure(JOB, job, operator_pods.launcher_job(version, job))
        return owned(self.storage, POD, batch_job) if batch_job else []

    def _status(self, version, resource, job, workers, launchers):
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        launcher_failed = any(phase(pod) == "Failed" for pod in launchers)
        message = f"MPIJob {namespace}/{name} has failed"
        if version != "v1":
            batch_job = self.storage.find(JOB, namespace, f"{name}-launcher") or {}
            launcher_failed = is_true(batch_job, "Failed")
        evicted = [pod for pod in workers if phase(pod) == "Failed" and pod["status"].get("reason") == "Evicted"]
        state, reason = None, ""
        if any(phase(pod) == "Succeeded" for pod in launchers):
            state, reason, message = (
                "Succeeded",
                "MPIJobSucceeded",
                f"MPIJob {namespace}/{name} successfully completed.",
            )
        elif launcher_failed:
            state, reason = "Failed", "MPIJobFailed" if version == "v1" else "BackoffLimitExceeded"
        elif evicted and version != "v1alpha1":
            state, reason, message = "Failed", "MPIJobEvicted", f"{len(evicted)}/{len(workers)} workers are evicted"
        elif all(phase(pod) == "Running" for pod in workers) and any(phase(pod) == "Running" for pod in launchers):
            wanted = operator_pods.replicas(version, job)
            if len(workers) == wanted:
                state, reason, message = "Running", "MPIJobRunning", f"MPIJob {namespace}/{name} is running."
        counts = {"Launcher": _counts(launchers), "Worker": _counts(workers)}

        def change(thing):
            if version == "v1alpha1":
                _v1alpha1(thing, launchers, workers, state)
            else:
                _conditions(thing, state, reason, message, counts)

        before = self.storage.get(resource, namespace, name)
        self._set(resource, job, change)
        if state and not is_true(before, state) and version != "v1alpha1":
            event(self.storage, job, "Warning" if state == "Failed" else "Normal", reason, message, SOURCE)

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


def _counts(pods):
    names = {"Running": ACTIVE, "Succeeded": SUCCEEDED, "Failed": FAILED}
    counts = {}
    for pod in pods:
        name = names.get(phase(pod))
        if name:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _conditions(thing, state, reason, message, counts):
    thing.setdefault("status", {})["replicaStatuses"] = counts
    if state in ("Succeeded", "Failed"):
        thing["status"]["completionTime"] = now()
        set_condition(thing, "Running", "False", "MPIJobRunning", f"MPIJob is {state.lower()}.")
    if state:
        set_condition(thing, state, "True", reason, message)


def _v1alpha1(thing, launchers, workers, state):
    """Write the status of Arena's version, which has no conditions."""
    found = thing.setdefault("status", {})
    found["workerReplicas"] = sum(phase(pod) == "Running" for pod in workers)
    if state in ("Succeeded", "Failed"):
        found.update(launcherStatus=state, completionTime=now())
    elif launchers:
        found["launcherStatus"] = "Active"

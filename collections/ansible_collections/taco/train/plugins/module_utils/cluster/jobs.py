# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what a cluster has of one MPIJob, and keep what its pods printed."""

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster import logs
from ansible_collections.taco.train.plugins.module_utils.cluster.client import (
    Client,
    KubernetesError,
    Request,
    Resource,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import FORBIDDEN, Trouble, one_line
from ansible_collections.taco.train.plugins.module_utils.cluster.fixes import log_fix
from ansible_collections.taco.train.plugins.module_utils.cluster.holders import holders, large_enough, requested
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import container_of
from ansible_collections.taco.train.plugins.module_utils.cluster.names import (
    CRD,
    GROUP,
    KIND,
    VERSIONS,
    choose_version,
    job_selectors,
    role_of,
    served_versions,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of, unscheduled
from ansible_collections.taco.train.plugins.module_utils.cluster.scheduling import UNNAMED_TAINTS, taints
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import watched
from ansible_collections.taco.train.plugins.module_utils.cluster.watch import wait_for_change


def has_ended(pod: Mapping[str, Any]) -> bool:
    """Return whether a container of a pod has ended by itself, and so may have printed why."""
    states = [
        (one.get(part) or {}).get("terminated") or {}
        for one in (pod.get("status") or {}).get("containerStatuses") or []
        for part in ("state", "lastState")
    ]
    # A container that could not be started has printed nothing.
    return any(state and state.get("reason") not in ("StartError", "ContainerCannotRun") for state in states)


def last_lines(job: str, pod: str, text: str) -> str:
    """Return with what a log ends, and what helps where that is known; empty for an empty log."""
    lines = [line for line in text.splitlines() if line.strip()]
    fix = log_fix(text, job)
    end = f"the log of {pod} ends with: {one_line(' | '.join(lines[-MOST_LINES:]))}" + (f": {fix}" if fix else "")
    return end if lines else ""


# Whose pods are listed to tell who holds a resource: each node is a request.
MOST_NODES = 8
# Pods that ended whose logs are read for the cause: mostly all have the same.
MOST_LOGS, MOST_LINES = 2, 3


class JobError(Exception):
    """The job is not as wanted, and can't be made so."""


class JobOptions(NamedTuple):
    """How a job is to be brought to its state."""

    api_version: Optional[str] = None
    replace: bool = False
    any_manager: bool = False
    """Whether a job of another manager may be replaced or deleted."""
    wait_timeout: float = 600
    """Seconds."""
    poll: float = 2
    """The least seconds between two looks."""
    logs_dir: Optional[str] = None
    check_mode: bool = False
    interrupt_running_work: bool = False
    """Whether running work may be ended."""
    allow_lost_logs: bool = False
    """Whether a job may be deleted although the log of a pod can't be read."""


class JobSnapshot(NamedTuple):
    """What there is of a job at one time."""

    job: Optional[Resource]
    pods: List[Resource]


class Jobs:
    """The MPIJob of one name in one namespace."""

    def __init__(self, cluster: Client, name: str, namespace: str) -> None:
        self.cluster, self.name, self.namespace = cluster, name, namespace
        self.version = "v1"
        self.served: Tuple[str, ...] = ()
        """The versions of MPIJobs that the cluster serves, once they were looked for."""
        self.warnings: List[str] = []
        self._selectors: Tuple[str, ...] = ()

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def choose_version(self, wanted: Optional[str]) -> str:
        """Return the version to speak to the cluster in, or raise MpijobError on what the cluster lacks."""
        self.version = choose_version(self._crd(), wanted)
        return self.version

    def find_version(self) -> bool:
        """Take any version in which the job can be read, and return whether there is one."""
        self.served = served_versions(self._crd() or {})
        known = [version for version in self.served if version in VERSIONS]
        self.version = (known or [self.version])[0]
        return bool(known)

    def _crd(self) -> Optional[Mapping[str, Any]]:
        try:
            return self.cluster.find("CustomResourceDefinition", "apiextensions.k8s.io/v1", CRD)
        except KubernetesError as error:
            if error.trouble.kind != FORBIDDEN:
                raise
        # Whoever may not read the definition still sees which versions answer, though not which of them is stored.
        served = [{"name": version, "served": True} for version in VERSIONS if self._served(version)]
        return {"metadata": {"name": CRD}, "spec": {"versions": served}} if served else None

    def _served(self, version: str) -> bool:
        return self.cluster.read(KIND, f"{GROUP}/{version}", self.name, self.namespace) is not None

    def find(self) -> Optional[Resource]:
        return self.cluster.find(KIND, f"{GROUP}/{self.version}", self.name, self.namespace)

    def pods(self) -> List[Resource]:
        """Return the job's pods, by whichever labels its operator gives them."""
        for selector in self._selectors or job_selectors(self.version, self.name):
            found = self.cluster.read("Pod", "v1", namespace=self.namespace, labels=selector) or []
            mine = [pod for pod in found if role_of(pod, self.name)]
            if mine:
                self._selectors = (selector,)
                return mine
        return []

    def look(self) -> JobSnapshot:
        return JobSnapshot(self.find(), self.pods())

    def wait_for_change(self, looked: JobSnapshot, seconds: float, pause: float) -> None:
        """Return when the job or its pods change, or when the time is over."""
        job = [looked.job] if looked.job else []
        things = [watched(KIND, f"{GROUP}/{self.version}", job, self.namespace, self.name)]
        for selector in self._selectors or job_selectors(self.version, self.name):
            things.append(watched("Pod", "v1", looked.pods, self.namespace, labels=selector))
        wait_for_change(self.cluster, things, seconds, pause)

    def events(self) -> List[Resource]:
        """Return the warnings of the namespace; they explain, so without the right to read them there are none."""
        try:
            return self.cluster.read("Event", "v1", namespace=self.namespace, fields="type=Warning") or []
        except KubernetesError as error:
            if error.trouble.kind != FORBIDDEN:
                raise
            self.warn(f"Why pods are refused or don't start stays unknown: {error}")
        return []

    def nodes(self) -> Optional[List[Resource]]:
        """Return the cluster's nodes, or None when who asks may not see them."""
        try:
            return self.cluster.read("Node", "v1") or []
        except KubernetesError as error:
            if error.trouble.kind != FORBIDDEN:
                raise
            self.warn(f"Whether the nodes could hold the job was not checked: {error}")
        return None

    def node_labels(self) -> Dict[str, Dict[str, str]]:
        """Return the labels of each node, or nothing when who asks may not list nodes."""
        try:
            nodes = self.cluster.read("Node", "v1") or []
        except KubernetesError as error:
            if error.trouble.kind != FORBIDDEN:
                raise
            return {}
        return {name_of(node): node["metadata"].get("labels") or {} for node in nodes}

    def held(self, pods: List[Resource]) -> Dict[str, str]:
        """Return what the nodes and their pods tell of what the scheduler misses, as far as one may list them."""
        found = [(pod, what) for pod, what in ((pod, unscheduled(pod)) for pod in pods) if what]
        missed: Dict[str, Resource] = {}
        for pod, what in found:
            missed.update({resource: missed.get(resource, pod) for resource in what.resources})
        tainted = any(UNNAMED_TAINTS in what.said for _pod, what in found)
        nodes = (self.nodes() if missed or tainted else None) or []
        known = {UNNAMED_TAINTS: taints(nodes)} if tainted else {}
        for resource, pod in missed.items():
            large = large_enough(nodes, resource, requested(pod, resource))[:MOST_NODES]
            own = [name_of(one) for one in pods]
            known[resource] = holders(resource, pod, large, self._pods_on([name_of(node) for node in large]), own) or ""
        return known

    def _pods_on(self, nodes: List[str]) -> Optional[List[Resource]]:
        """Return the pods of all namespaces on nodes, or None when who asks may not list them."""
        try:
            return [
                pod for node in nodes for pod in self.cluster.read("Pod", "v1", fields=f"spec.nodeName={node}") or []
            ]
        except KubernetesError as error:
            if error.trouble.kind != FORBIDDEN:
                raise
            self.warn(f"Which pods hold what the job waits for stays unknown: {error}")
        return None

    def printed(self, pods: List[Resource]) -> List[str]:
        """Return what the logs of pods that ended tell of the cause, the launcher's first."""
        over = sorted(filter(has_ended, pods), key=lambda pod: (role_of(pod, self.name) != "launcher", name_of(pod)))
        found = []
        for pod in over[:MOST_LOGS]:
            name = name_of(pod)
            text, _cause = self.cluster.log(
                name, self.namespace, container_of(pod, role_of(pod, self.name) or "worker")
            )
            found.append(last_lines(self.name, name, text or ""))
        return list(filter(None, found))

    def keep_logs(self, pods: List[Resource], folder: Optional[str], allow_lost: bool = False) -> Dict[str, str]:
        """Write the log of each pod into a folder and return the files; raise JobError on logs that would be lost."""
        kept, unread, lost = {}, {}, []
        for pod in pods if folder else []:
            name = name_of(pod)
            container = container_of(pod, role_of(pod, self.name) or "worker")
            text, cause = self.cluster.log(name, self.namespace, container)
            if cause is not None and not self._has_no_log(pod, container, cause):
                if cause.kind == FORBIDDEN and not allow_lost:
                    request = Request("get", "Pod", "v1", self.namespace, name, "log")
                    raise self.cluster.error(f"keep the log of the pod {name}, so nothing was deleted", cause, request)
                lost.append(logs.why_unreadable(pod, cause))
            kept[name] = _free_path(str(folder), pod)
            if cause:
                unread[name] = f"There is no log: {cause.said}\n"
            else:
                logs.write(kept[name], text or "")
        if lost and not allow_lost:
            raise JobError(logs.refusal(self.name, lost))
        for name, said in unread.items():
            logs.write(kept[name], said)
        for reason in lost:
            self.warn(f"The log of a pod was lost with the MPIJob {self.name}: {reason}")
        return kept

    def _has_no_log(self, pod: Resource, container: str, cause: Trouble) -> bool:
        """Return whether a log that can't be read doesn't exist: nothing has run, or the pod is gone."""
        if logs.is_waiting(cause) or logs.never_ran(pod, container):
            return True
        if not logs.may_be_absent(cause):
            return False
        found = self.cluster.find("Pod", "v1", name_of(pod), self.namespace)
        return found is None or found["metadata"].get("uid") != pod["metadata"].get("uid")

    def left(self, pods: List[Resource], unknown: bool = False) -> str:
        """Return what is left in the cluster, or may be, and how to remove it."""
        names = some(name_of(pod) for pod in pods)
        things = f"the MPIJob {self.name}{f' and its pods {names}' if names else ''}"
        return (
            f"{'Possibly left' if unknown else 'Left'} in the namespace {self.namespace}: {things}. To remove them, run the role "
            f"taco.train.mpijob with mpijob_state: absent, or `kubectl delete mpijob {self.name} --namespace {self.namespace}`"
        )


def _free_path(folder: str, pod: Resource) -> str:
    """Return the file for the log of a pod. The log of an earlier pod of the same name stays."""
    name, uid = name_of(pod), str(pod["metadata"].get("uid") or "")
    path = os.path.join(os.path.expanduser(folder), f"{name}.log")
    return os.path.join(os.path.expanduser(folder), f"{name}-{uid[:8]}.log") if uid and os.path.exists(path) else path

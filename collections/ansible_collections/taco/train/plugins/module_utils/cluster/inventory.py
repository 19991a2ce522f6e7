# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describe the pods of a job as hosts of an inventory, in which the benchmark runs as it does anywhere. Values in, values out."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster.names import role_of, worker_hosts, worker_pods
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection, name_of, node_of

GROUPS = {"worker": "taco_workers", "launcher": "taco_launcher"}
CONTAINERS = {"worker": "mpi-worker", "launcher": "mpi-launcher"}
CONNECTION = "kubernetes.core.kubectl"


class JobPods(NamedTuple):
    """A job as it was submitted."""

    name: str
    namespace: str
    version: str
    workers: int
    slots: int
    launcher: str
    """The pod that runs."""


def container_of(pod: Mapping[str, Any], role: str) -> str:
    """Return the container that the work is done in; whoever else made the job may call its only one otherwise."""
    names = [container.get("name") for container in (pod.get("spec") or {}).get("containers") or []]
    return names[0] if names and CONTAINERS[role] not in names else CONTAINERS[role]


def image_of(pod: Mapping[str, Any], container: str) -> Optional[str]:
    """Return the digest of the image that a container of a pod runs, None where the cluster doesn't say it."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    found = next((one.get("imageID") for one in statuses if one.get("name") == container), None)
    return str(found).rpartition("://")[2] if found else None


def _seen(pod: Mapping[str, Any]) -> Dict[str, Any]:
    status = pod.get("status") or {}
    return {"pod": name_of(pod), "node": node_of(pod), "ip": status.get("podIP"), "node_ip": status.get("hostIP")}


def pods_in_use(pods: List[Mapping[str, Any]], made: JobPods) -> List[Mapping[str, Any]]:
    """Return the workers in the order of their ranks, then the launcher; none of those that were replaced."""
    by_name = {name_of(pod): pod for pod in pods if role_of(pod, made.name)}
    wanted = [*worker_pods(made.name, made.workers), made.launcher]
    return [by_name[name] for name in wanted if name in by_name]


def placement(pods: List[Mapping[str, Any]], made: JobPods) -> Dict[str, Optional[str]]:
    """Return the node of each worker."""
    return {name_of(pod): node_of(pod) for pod in pods_in_use(pods, made) if name_of(pod) != made.launcher}


def workers(pods: List[Mapping[str, Any]], made: JobPods) -> List[Dict[str, Any]]:
    """Return where each worker is."""
    return [_seen(pod) for pod in pods_in_use(pods, made) if name_of(pod) != made.launcher]


def hosts(
    pods: List[Mapping[str, Any]],
    made: JobPods,
    reached: PodConnection,
    nodes: Mapping[str, str],
    shared: Mapping[str, Any],
    labels: Optional[Mapping[str, Mapping[str, str]]] = None,
) -> List[Dict[str, Any]]:
    """Return name, groups and variables of each pod, as ansible.builtin.add_host takes them.

    nodes holds, for each host of the play, what the cluster calls it; an empty name means the host's own. shared are variables
    that every pod has besides. labels are those of the nodes, by their names in the cluster.
    """
    host_of = {node or host: host for host, node in nodes.items()}
    benchmark = {
        "benchmark_exec_prefix": [],
        "benchmark_launcher": made.launcher,
        "benchmark_hosts": worker_hosts(made.version, made.name, made.workers, made.slots, made.namespace),
    }
    found = []
    for pod in pods_in_use(pods, made):
        name, node = name_of(pod), node_of(pod)
        role = "launcher" if name == made.launcher else "worker"
        variables = {
            **shared,
            **benchmark,
            "ansible_connection": CONNECTION,
            "ansible_kubectl_pod": name,
            "ansible_kubectl_namespace": made.namespace,
            "ansible_kubectl_container": container_of(pod, role),
            "ansible_kubectl_kubeconfig": reached.kubeconfig,
            "ansible_kubectl_context": reached.context,
            "ansible_python_interpreter": reached.python,
            "ansible_become": False,
            "ansible_pipelining": True,
            "taco_pod": {
                "name": name,
                "node": node,
                "role": role,
                "job": made.name,
                "namespace": made.namespace,
                "node_host": host_of.get(node or ""),
                "node_labels": dict((labels or {}).get(node or "", {})),
                "image": image_of(pod, container_of(pod, role)),
            },
        }
        found.append({"name": name, "groups": [GROUPS[role]], "variables": variables})
    return found

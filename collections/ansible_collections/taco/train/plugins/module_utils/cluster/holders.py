# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell which pods hold a resource that a node has and a pod of a job waits for. Values in, values out."""

from fractions import Fraction
from typing import Any, Collection, Iterable, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import allocatable, words
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    GPU,
    HUGEPAGES,
    TOPOLOGY_GPU,
    amount,
)

ENDED = ("Succeeded", "Failed")
MOST_NODES, MOST_PODS = 4, 4
LOWER = {
    HUGEPAGES: "lower mpijob_hugepages",
    GPU: "lower mpijob_gpus_per_worker",
    TOPOLOGY_GPU: "lower mpijob_gpus_per_worker",
    "memory": "lower mpijob_memory",
    "cpu": "lower mpijob_launcher_cpu",
}

Resource = Mapping[str, Any]


def _of(container: Resource, resource: str) -> Fraction:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return amount(asked.get(resource, 0), f"request of {resource}")


def requested(pod: Resource, resource: str) -> Fraction:
    """Return what a pod takes of a node: what its containers request together, or one init container if that is more."""
    spec = pod.get("spec") or {}
    containers = sum((_of(one, resource) for one in spec.get("containers") or []), Fraction(0))
    return max([containers, *(_of(one, resource) for one in spec.get("initContainers") or [])])


def _on(node: Resource, pods: Iterable[Resource]) -> List[Resource]:
    return [
        pod
        for pod in pods
        if (pod.get("spec") or {}).get("nodeName") == name_of(node)
        and (pod.get("status") or {}).get("phase") not in ENDED
    ]


def _free(node: Resource, pods: Iterable[Resource], resource: str) -> Fraction:
    taken = sum((requested(pod, resource) for pod in _on(node, pods)), Fraction(0))
    return max(Fraction(0), allocatable(node, resource) - taken)


def large_enough(nodes: Iterable[Resource], resource: str, need: Fraction) -> List[Resource]:
    """Return the nodes that could hold a pod if nothing else ran on them."""
    return [node for node in nodes if need and allocatable(node, resource) >= need]


def _listed(pods: List[Tuple[Fraction, str]], resource: str) -> str:
    named = [f"{name} ({words(resource, value)})" for value, name in sorted(pods, key=lambda one: (-one[0], one[1]))]
    return some(named, MOST_PODS)


def _of_node(node: Resource, pods: Iterable[Resource], resource: str) -> str:
    pods = list(pods)
    holding = [
        (value, f"{(pod.get('metadata') or {}).get('namespace') or 'default'}/{name_of(pod)}")
        for pod, value in ((pod, requested(pod, resource)) for pod in _on(node, pods))
        if value
    ]
    free, total = words(resource, _free(node, pods, resource)), words(resource, allocatable(node, resource))
    return f"{name_of(node)} has {free} of {total} free, held by {_listed(holding, resource)}"


def _release(resource: str, pod: Resource, need: Fraction, others: bool) -> str:
    lower = f"{LOWER.get(resource, 'request less')} from the {words(resource, need)} that {name_of(pod)} requests"
    if others:
        return f"wait until these pods have ended, delete those that are no longer needed, or {lower}"
    return f"they are all of this job, so lower mpijob_workers, add nodes, or {lower}"


def holders(
    resource: str,
    pod: Resource,
    nodes: Iterable[Resource],
    pods: Optional[Iterable[Resource]],
    own: Collection[str] = (),
) -> Optional[str]:
    """Return which pods hold a resource and what helps, or None when no node has as much of it as the pod requests.

    pods are those on the nodes, None where who asks may not list them; own are the names of the job's pods.
    """
    need, large = requested(pod, resource), large_enough(nodes, resource, requested(pod, resource))
    running = None if pods is None else list(pods)
    if running is not None:
        # What has room for the pod is left out by the scheduler for another reason.
        large = [node for node in large if _free(node, running, resource) < need]
    if not large:
        return None
    shown = large[:MOST_NODES]
    more = f" and {len(large) - MOST_NODES} more" if len(large) > MOST_NODES else ""
    if running is None:
        by = f"{', '.join(map(name_of, shown))}{more}: run `kubectl describe node` as somebody who may list the pods of all namespaces"
    else:
        by = "; ".join(_of_node(node, running, resource) for node in shown) + (f";{more} nodes" if more else "")
    namespace = (pod.get("metadata") or {}).get("namespace")
    there = [one for node in large for one in _on(node, running or []) if requested(one, resource)]
    mine = [one for one in there if name_of(one) in own and (one.get("metadata") or {}).get("namespace") == namespace]
    others = len(mine) < len(there) or not there
    return f"the nodes have {resource}, and other pods hold it ({by}): {_release(resource, pod, need, others)}"

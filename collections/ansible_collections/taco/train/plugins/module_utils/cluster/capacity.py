# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say before a job is submitted whether the nodes could ever hold its workers. Values in, values out.

What other pods take is not looked at: a job may wait for them, but it can't wait for what a node doesn't have.
"""

from fractions import Fraction
from typing import Any, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._process.words import gib, grouped
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    GPU,
    HUGEPAGES,
    TOPOLOGY_GPU,
    amount,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.scheduling import CONTROL_PLANE, condition_fix

FIXES = {
    HUGEPAGES: "reserve them with the role taco.train.hugepages, reboot, and restart the node's kubelet if they came without "
    "a reboot: it counts them only when it starts",
    "memory": "lower memory, or use nodes with more; the hugepages of a node are not part of it",
    GPU: "check that the device plugin runs on the node, or leave it out of the job",
    TOPOLOGY_GPU: "label the node ack.node.gpu.schedule=topology and wait until it offers them",
}
OTHER_FIX = "lower the request, or use nodes with more"
BYTES = (HUGEPAGES, "memory")
BLOCKING = ("NoSchedule", "NoExecute")
# What these taints say is said of the node in other words.
SAID_TAINTS = tuple(f"node.kubernetes.io/{word}" for word in ("unschedulable", "not-ready", "unreachable"))


class Capacity(NamedTuple):
    """What nodes could hold."""

    room: int
    """How many workers would fit if nothing else ran on the nodes."""
    shortfalls: List[str]
    """Return what the nodes that can't hold a worker lack, grouped by shortfall."""
    problem: Optional[str]
    """Why the job could never start, or None."""


def words(name: str, value: Fraction) -> str:
    if name in BYTES:
        return gib(int(value))
    return str(value) if value.denominator == 1 else f"{float(value):g}"


def allocatable(node: Mapping[str, Any], resource: str) -> Fraction:
    found = ((node.get("status") or {}).get("allocatable") or {}).get(resource, 0)
    return amount(found, f"allocatable {resource} of {_name(node)}")


def _name(node: Mapping[str, Any]) -> str:
    return (node.get("metadata") or {}).get("name") or "a node without a name"


def _not_ready(node: Mapping[str, Any]) -> List[str]:
    found = []
    for condition in (node.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            why = condition.get("message") or condition.get("reason") or "no reason given"
            found.append(f"{_name(node)} is not Ready ({why}): check the node's kubelet")
    return found


def _closed(node: Mapping[str, Any], wanted: Mapping[str, Fraction]) -> List[str]:
    """Return why the scheduler leaves the node out, whatever it has. A taint named as a requested resource does not block the pod."""
    name, spec = _name(node), node.get("spec") or {}
    found = []
    if spec.get("unschedulable"):
        found.append(f"{name} is cordoned: run kubectl uncordon {name}, or leave the node out of the job")
    found += _not_ready(node)
    for taint in spec.get("taints") or []:
        key = taint.get("key", "")
        if taint.get("effect") in BLOCKING and key not in SAID_TAINTS and key not in wanted:
            fix = "use other nodes" if key in CONTROL_PLANE else condition_fix(key) or "remove it, or use other nodes"
            found.append(f"{name} has the taint {key}, which the workers don't tolerate: {fix}")
    return found


def _short(node: Mapping[str, Any], wanted: Mapping[str, Fraction]) -> List[str]:
    name, found = _name(node), []
    for resource, value in wanted.items():
        has = allocatable(node, resource)
        if has >= value:
            continue
        fix = FIXES.get(resource, OTHER_FIX)
        other = {GPU: TOPOLOGY_GPU, TOPOLOGY_GPU: GPU}.get(resource)
        if resource == GPU and allocatable(node, TOPOLOGY_GPU) >= value:
            fix = f"it offers its GPUs as {other}, so set gpu_topology, or label it ack.node.gpu.schedule=default"
        if resource == TOPOLOGY_GPU and allocatable(node, GPU) >= value:
            fix = f"it offers its GPUs as {other}, so {FIXES[TOPOLOGY_GPU]}, or unset gpu_topology"
        found.append(
            f"{name} can allocate {words(resource, has)} of {resource}, and a worker asks for {words(resource, value)}: {fix}"
        )
    return found


def lacks(node: Mapping[str, Any], resources: Mapping[str, Any]) -> List[str]:
    """Return why a returning node is not usable yet: it is not Ready, or resources are missing."""
    return _not_ready(node) + _short(node, {resource: amount(value, resource) for resource, value in resources.items()})


def _room(node: Mapping[str, Any], wanted: Mapping[str, Fraction]) -> int:
    return min(int(allocatable(node, resource) // value) for resource, value in wanted.items())


def capacity(nodes: List[Mapping[str, Any]], limits: Mapping[str, Any], workers: int) -> Capacity:
    """Hold what each worker asks for against what nodes can allocate.

    limits are as mpijob_manifest.worker_limits gives them: there are some, and all are more than nothing.
    """
    wanted = {resource: amount(value, resource) for resource, value in limits.items()}
    room, found = 0, []
    for node in nodes:
        lacks = _closed(node, wanted) + _short(node, wanted)
        found += [(_name(node), sentence[len(_name(node)) + 1 :]) for sentence in lacks]
        room += 0 if lacks else _room(node, wanted)
    shortfalls = grouped(found, " ")
    if room >= workers:
        return Capacity(room, shortfalls, None)
    asked = ", ".join(f"{words(resource, value)} of {resource}" for resource, value in wanted.items())
    count = f"{len(nodes)} node{'s' * (len(nodes) != 1)}"
    problem = (
        f"{count} could hold {room} of {workers} workers, each asking for {asked}: lower the number of workers, or add nodes"
        + " or fix those that lack something" * bool(shortfalls)
    )
    return Capacity(room, shortfalls, problem)

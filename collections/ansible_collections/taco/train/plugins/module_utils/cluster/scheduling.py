# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read why the scheduler finds no node for a pod, clause by clause. Text in, values out.

The scheduler of Kubernetes writes "0/3 nodes are available: " and one clause for each reason, with the number of nodes that it
holds for. What follows the first full stop is of plugins that try to make room: preemption, claims of devices. A user can act on
the reasons only.
"""

import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import GPU, HUGEPAGES, TOPOLOGY_GPU

_NODES = re.compile(r"^(?P<total>\d+/\d+ nodes are available): (?P<rest>.*)$", re.DOTALL)
# Of schedulers up to 1.23 there is no full stop between a reason and what plugins add.
_PLUGINS = re.compile(
    r"(?:[.,]\s+|^)(?:no new claims to deallocate|still not schedulable|plugin disabled|preemption:|Preemption is not helpful).*",
    re.DOTALL,
)
_NEXT = re.compile(r",\s+(?=\d+ )")
_COUNTED = re.compile(r"^(?P<nodes>\d+) (?P<reason>.*)$", re.DOTALL)
_INSUFFICIENT = re.compile(r"Insufficient (?P<resource>[A-Za-z0-9./_-]+[A-Za-z0-9])")
_TAINT = re.compile(r"taints? \{(?P<key>[^:}]*)(?::\s*(?P<value>[^}]*))?\}")

RESOURCE_FIXES = {
    HUGEPAGES: "wait for or delete the pods that hold 1 GiB pages, or lower mpijob_hugepages; where `kubectl describe node` shows none "
    "as allocatable, reserve 1 GiB pages on the nodes and restart their kubelets, which count them only when they start",
    GPU: "free GPUs, or set mpijob_gpu_topology where the nodes carry ack.node.gpu.schedule=topology",
    TOPOLOGY_GPU: "label nodes ack.node.gpu.schedule=topology, or free their GPUs: all workers must fit at once",
    "memory": "lower mpijob_memory, or free memory on the nodes",
    "cpu": "lower mpijob_launcher_cpu, or free CPUs on the nodes",
    "ephemeral-storage": "free disk space on the nodes, or use nodes with more",
}
NODE_TAINTS = {
    "node.kubernetes.io/not-ready": "check the kubelets of the nodes that are not Ready (kubectl get nodes)",
    "node.kubernetes.io/unreachable": "check that the unreachable nodes run (kubectl get nodes)",
    "node.kubernetes.io/unschedulable": "run `kubectl uncordon` for the cordoned nodes",
    "node.kubernetes.io/disk-pressure": "free disk space on the nodes with DiskPressure",
    "node.kubernetes.io/memory-pressure": "free memory on the nodes with MemoryPressure",
    "node.kubernetes.io/pid-pressure": "end processes on the nodes with PIDPressure",
    "node.kubernetes.io/network-unavailable": "check the network plugin of the nodes",
    "node.cloudprovider.kubernetes.io/uninitialized": "check that the cloud controller manager runs",
}
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
# The first that fits a reason counts.
REASON_FIXES = (
    (r"were unschedulable", "run `kubectl uncordon` for the cordoned nodes"),
    (
        r"didn't match (Pod's )?node (affinity|selector)|didn't satisfy plugin\(s\) \[NodeAffinity\]",
        "label a node as the pods' nodeSelector or affinity requires, or find what adds these to the pods (`kubectl get pod`)",
    ),
    (
        r"had volume node affinity conflict|no available volume zone",
        "use nodes in the zone of the volume, or another volume",
    ),
    (r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim", "create or bind the PersistentVolumeClaim"),
    (r"exceed max volume count", "use nodes with fewer volumes attached"),
    (r"didn't have free ports", "end the pods that use the same ports of the nodes, or unset mpijob_network_mode"),
    (
        r"untolerated taint\(s\)",
        "list the taints (kubectl describe node), run `kubectl uncordon` for cordoned nodes and remove taints of your own that should not "
        "keep the job out, or use other nodes",
    ),
    (r"Too many pods", "delete pods on the nodes, or raise maxPods of their kubelets"),
    (
        r"(anti-)?affinity( rules)?|topology spread constraints",
        "use more nodes, or find what adds the rule to the pods",
    ),
    (
        r"node\(s\) were not ready|node\(s\) had condition",
        "check the kubelets of the nodes that are not Ready (kubectl get nodes)",
    ),
    (r"disk pressure", "free disk space on the nodes with DiskPressure"),
    (r"memory pressure", "free memory on the nodes with MemoryPressure"),
    (r"cannot allocate all claims|resourceclaim", "check the ResourceClaims of the pod (kubectl get resourceclaims)"),
    (
        r"pod group|PodGroup|gang|minAvailable|minMember",
        "make room for all pods of the job at once (kubectl get podgroups)",
    ),
)
MOST_NODES = 4
OTHER_FIX = "change the nodes or what the job requests"


class Reason(NamedTuple):
    """Why some nodes can't take a pod."""

    nodes: Optional[int]
    """How many; None where the scheduler gives no number."""
    text: str

    @property
    def resource(self) -> Optional[str]:
        """The resource that is insufficient."""
        found = _INSUFFICIENT.search(self.text)
        return found["resource"] if found else None

    @property
    def taint(self) -> Optional[str]:
        """The key of a taint that the pod doesn't tolerate."""
        found = _TAINT.search(self.text)
        return found["key"].strip() if found else None


class Unschedulable(NamedTuple):
    """What the scheduler reports of a pod."""

    said: str
    """Its message without what plugins add."""
    reasons: List[Reason]

    @property
    def resources(self) -> List[str]:
        """The resources that are insufficient on some nodes."""
        return list(dict.fromkeys(reason.resource for reason in self.reasons if reason.resource))


def read(message: str) -> Unschedulable:
    """Return the parts of a scheduler's message."""
    said = _PLUGINS.sub("", " ".join(message.split())).rstrip(". ")
    match = _NODES.match(said)
    clauses = _NEXT.split(match["rest"] if match else said)
    reasons = []
    for clause in filter(None, clauses):
        counted = _COUNTED.match(clause)
        reasons.append(Reason(int(counted["nodes"]), counted["reason"]) if counted else Reason(None, clause))
    return Unschedulable(said, reasons)


def _taint_fix(key: str) -> str:
    if key in CONTROL_PLANE:
        return "use other nodes, since those of the control plane are kept for it"
    return (
        condition_fix(key)
        or f"remove the taint {key} from the nodes (kubectl taint nodes NODE {key}-), or use other nodes"
    )


def condition_fix(key: str) -> str:
    """Return what helps against a taint that Kubernetes sets, and removes with its cause; empty for one of somebody else."""
    known = NODE_TAINTS.get(key, "")
    other = key.startswith("node.kubernetes.io/") and f"check the nodes with the taint {key} (kubectl describe node)"
    return known or other or ""


# Kubernetes 1.35, and 1.34 in its later releases, leaves the keys out.
UNNAMED_TAINTS = "untolerated taint(s)"


def taints(nodes: "Iterable[Mapping[str, Any]]") -> str:
    """Return what helps against taints that the scheduler doesn't name; empty where no node for training has any."""
    own: Dict[str, List[str]] = {}
    conditions: Dict[str, List[str]] = {}
    for node in nodes:
        name = str((node.get("metadata") or {}).get("name"))
        for taint in (node.get("spec") or {}).get("taints") or []:
            key = str(taint.get("key"))
            if taint.get("effect") == "PreferNoSchedule" or key in CONTROL_PLANE:
                continue
            if condition_fix(key):
                conditions.setdefault(condition_fix(key), []).append(name)
            else:
                value = f"={taint['value']}" if taint.get("value") else ""
                own.setdefault(name, []).append(f"{key}{value}:{taint.get('effect')}")
    helps = [f"{fix}: {', '.join(names[:MOST_NODES])}{_more(names)}" for fix, names in conditions.items()]
    if own:
        listed = [f"{name} has {', '.join(keys)}" for name, keys in own.items()]
        shown = "; ".join(listed[:MOST_NODES]) + _more(listed)
        helps.append(f"remove the taints ({shown}) with `kubectl taint nodes NODE KEY-`, or use other nodes")
    return "; ".join(helps)


def _more(names: List[str]) -> str:
    return f" and {len(names) - MOST_NODES} more nodes" if len(names) > MOST_NODES else ""


def _fix(reason: Reason) -> Optional[str]:
    if reason.resource:
        return RESOURCE_FIXES.get(reason.resource, f"free {reason.resource} on the nodes, or request less of it")
    if reason.taint:
        return _taint_fix(reason.taint)
    return next((fix for words, fix in REASON_FIXES if re.search(words, reason.text)), None)


def fixes(found: Unschedulable, held: Optional[Mapping[str, str]] = None) -> List[str]:
    """Return what helps; held says of a resource who has it, and of taints which there are, where that is known."""
    # The control plane is not for training, as long as there are other nodes.
    workers = [reason for reason in found.reasons if reason.taint not in CONTROL_PLANE] or found.reasons
    known = held or {}
    listed = [
        known.get(UNNAMED_TAINTS if UNNAMED_TAINTS in reason.text else reason.resource or "") or _fix(reason)
        for reason in workers
    ]
    return list(dict.fromkeys(fix for fix in listed if fix)) or [OTHER_FIX]

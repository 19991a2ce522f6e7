# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Binds pods to nodes that have what they ask for, and says of the others why not."""

from collections import Counter
from fractions import Fraction

from kubelab.conditions import has_ended, set_condition
from kubelab.events import event
from kubelab.quantities import amount, requests_of
from kubelab.resources import NODE, POD

SOURCE = "default-scheduler"
BLOCKING = ("NoSchedule", "NoExecute")
GANG, GANG_SIZE, GANG_RESOURCE = "gpu-topology", "gpu-topology-replica", "aliyun.com/gpu"


def _tolerates(pod, taint):
    for toleration in (pod.get("spec") or {}).get("tolerations") or []:
        key, effect = toleration.get("key"), toleration.get("effect")
        if effect and effect != taint.get("effect"):
            continue
        if toleration.get("operator") == "Exists" and (not key or key == taint["key"]):
            return True
        if key == taint["key"] and toleration.get("value", "") == taint.get("value", ""):
            return True
    return False


def _refusals(pod, node, wanted, used):
    """The scheduler's reason why a node cannot run a pod."""
    spec, found = node.get("spec") or {}, []
    if spec.get("unschedulable"):
        return ["node(s) were unschedulable"]
    for taint in spec.get("taints") or []:
        if taint.get("effect") in BLOCKING and not _tolerates(pod, taint):
            return [f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"]
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in ((pod.get("spec") or {}).get("nodeSelector") or {}).items()):
        return ["node(s) didn't match Pod's node affinity/selector"]
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    for name, value in sorted(wanted.items()):
        if used[name] + value > amount(allocatable.get(name, 0), name):
            found.append(f"Insufficient {name}")
    if used["pods"] + 1 > amount(allocatable.get("pods", 110), "pods"):
        found.append("Too many pods")
    return found


def _message(refusals):
    """Return the scheduler's sentence on all nodes."""
    total = len(refusals)
    counts = Counter(why for found in refusals for why in found)
    said = ", ".join(sorted(f"{count} {why}" for why, count in counts.items()))
    victims = f"{total} No preemption victims found for incoming pod"
    if any("unschedulable" in why or "taint" in why or "affinity" in why for why in counts):
        victims = f"{total} Preemption is not helpful for scheduling"
    none = f"0/{total} nodes are available"
    return f"{none}: {said}. preemption: {none}: {victims}." if total else "no nodes available to schedule pods"


class Scheduler:
    def __init__(self, storage, scripts):
        self.storage = storage
        self.scripts = scripts

    def tick(self):
        pods = self.storage.list(POD)
        nodes = self.storage.list(NODE)
        used = {node["metadata"]["name"]: Counter() for node in nodes}
        waiting = []
        for pod in pods:
            place = (pod.get("spec") or {}).get("nodeName")
            if place and not has_ended(pod):
                self._take(used.setdefault(place, Counter()), requests_of(pod))
            elif not place and not pod["metadata"].get("deletionTimestamp") and not has_ended(pod):
                waiting.append(pod)
        for group in self._groups(waiting):
            self._schedule(group, nodes, used)

    @staticmethod
    def _take(used, wanted, sign=1):
        for name, value in {**wanted, "pods": Fraction(1)}.items():
            used[name] += sign * value

    @staticmethod
    def _groups(waiting):
        """Return the pods that are scheduled together: those of ACK's topology all at once, once all are there."""
        groups = {}
        for pod in sorted(waiting, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])):
            labels = pod["metadata"].get("labels") or {}
            ganged = GANG in labels and GANG_RESOURCE in requests_of(pod)
            key = (pod["metadata"]["namespace"], labels[GANG]) if ganged else pod["metadata"]["uid"]
            groups.setdefault(key, []).append(pod)
        return groups.values()

    def _schedule(self, group, nodes, used):
        labels = group[0]["metadata"].get("labels") or {}
        ganged = GANG in labels and GANG_RESOURCE in requests_of(group[0])
        if ganged and len(group) < int(labels.get(GANG_SIZE) or 1):
            return
        placed = []
        for pod in group:
            held = self.scripts.held(pod)
            place, refusals = (None, [held]) if held else self._place(pod, nodes, used)
            if place is None:
                for done, where in placed:
                    self._take(used[where], requests_of(done), -1)
                for each in group:
                    self._refuse(each, held if held else _message(refusals))
                return
            self._take(used[place], requests_of(pod))
            placed.append((pod, place))
        for pod, place in placed:
            self._bind(pod, place, ganged)

    @staticmethod
    def _place(pod, nodes, used):
        wanted, refusals, fitting = requests_of(pod), [], []
        for node in nodes:
            name = node["metadata"]["name"]
            found = _refusals(pod, node, wanted, used[name])
            refusals.append(found)
            if not found:
                fitting.append((used[name]["pods"], name))
        return (min(fitting)[1] if fitting else None), refusals

    def _refuse(self, pod, message):
        def change(found):
            found["status"].setdefault("phase", "Pending")
            set_condition(found, "PodScheduled", "False", "Unschedulable", message)

        before = [condition.get("message") for condition in (pod.get("status") or {}).get("conditions") or []]
        changed = self.storage.update(POD, pod["metadata"]["namespace"], pod["metadata"]["name"], change)
        if changed and message not in before:
            event(self.storage, changed, "Warning", "FailedScheduling", message, SOURCE)

    def _bind(self, pod, node, ganged):
        metadata = pod["metadata"]

        def change(found):
            found["spec"]["nodeName"] = node
            set_condition(found, "PodScheduled", "True")
            if ganged:
                notes = found["metadata"].setdefault("annotations", {})
                count = int(requests_of(pod)[GANG_RESOURCE])
                notes["topology.kubernetes.io/gpu-group"] = metadata["labels"][GANG]
                notes["topology.kubernetes.io/gpu-visible"] = ",".join(map(str, range(count)))

        bound = self.storage.update(POD, metadata["namespace"], metadata["name"], change)
        if bound:
            message = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node}"
            event(self.storage, bound, "Normal", "Scheduled", message, SOURCE)

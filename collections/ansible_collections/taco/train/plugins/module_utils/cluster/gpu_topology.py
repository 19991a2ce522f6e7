# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide how nodes of ACK come to schedule their GPUs otherwise, and back. Values in, values out.

The node's label says which device plugin serves its GPUs, and so under which name a pod asks for them. What the label was
is kept on the node itself, so that it can be put back by anybody and from anywhere, also when the run that changed it was
killed.
"""

import json
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import name_of
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    GPU,
    TOPOLOGY_GPU,
    MpijobError,
    amount,
    from_version,
    version_of,
)

LABEL = "ack.node.gpu.schedule"
# Holds the label's value as JSON, null where there was no label.
BEFORE = "taco.train/gpu-schedule-before"
TOPOLOGY, DEFAULT, RESTORED = "topology", "default", "restored"
STATES = (TOPOLOGY, DEFAULT, RESTORED)
SHARED_MEMORY = "aliyun.com/gpu-mem"
# What a node offers with each value of the label, and the daemonset that makes it do so.
RESOURCES = {TOPOLOGY: TOPOLOGY_GPU, DEFAULT: GPU, "share": SHARED_MEMORY, "cgpu": SHARED_MEMORY}
DAEMONSETS = {TOPOLOGY: "gputopo-device-plugin-ds", DEFAULT: "nvidia-device-plugin-recover"}
# A pod that asks for one of these holds a GPU, or a part of one.
GPU_RESOURCES = (GPU, TOPOLOGY_GPU)
GPU_PREFIX = "aliyun.com/gpu"
ENDED = ("Succeeded", "Failed")


class Step(NamedTuple):
    """What is to be done to a node."""

    node: str
    before: Optional[str]
    """The label's value as it is; None where there is none."""
    during: Optional[str]
    """The value to put, and then to wait for what it makes the node offer; None leaves the label as it is."""
    after: Optional[str]
    """The value in the end; None where there is to be no label."""
    remember: Optional[str]
    """The annotation to write together with the label, or None."""
    forget: bool
    """Whether the annotation is to be removed in the end."""
    resource: Optional[str]
    """What the node must offer before the step is done; None where that isn't known."""
    version: Optional[str] = None
    """The version of the node that the step was decided on: of another version it may be wrong."""

    @property
    def changes(self) -> bool:
        return self.during is not None or self.after != self.before or self.forget


class Plan(NamedTuple):
    """What is to be done to all nodes, or why nothing may be."""

    steps: List[Step]
    problems: List[str]
    gone: List[str] = []
    """Sentences on nodes that can't be restored, as the cluster has them no more. They keep no other node from it."""


def _part(node: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    return (node.get("metadata") or {}).get(part) or {}


def offered(node: Mapping[str, Any], resource: str) -> int:
    """Return how much of a resource a node can allocate."""
    found = ((node.get("status") or {}).get("allocatable") or {}).get(resource, 0)
    return int(amount(found, f"allocatable {resource} of {name_of(node)}"))


def _asks_for_gpus(container: Mapping[str, Any]) -> bool:
    resources = container.get("resources") or {}
    asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return any(
        (name in GPU_RESOURCES or name.startswith(GPU_PREFIX)) and amount(value, name) > 0
        for name, value in asked.items()
    )


def holds_gpus(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod has GPUs and has not ended."""
    spec = pod.get("spec") or {}
    if (pod.get("status") or {}).get("phase") in ENDED:
        return False
    return any(_asks_for_gpus(one) for part in ("containers", "initContainers") for one in spec.get(part) or [])


def holders(pods: Iterable[Mapping[str, Any]], node: str) -> List[str]:
    """Return the pods that have GPUs of a node, as namespace/name."""
    return sorted(
        f"{(pod.get('metadata') or {}).get('namespace') or 'default'}/{name_of(pod)}"
        for pod in pods
        if (pod.get("spec") or {}).get("nodeName") == node and holds_gpus(pod)
    )


def remembered(node: Mapping[str, Any]) -> Tuple[bool, Optional[str]]:
    """Return whether something is to be put back on a node, and the label's value before it was changed."""
    text = _part(node, "annotations").get(BEFORE)
    if text is None:
        return False, None
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if value is not None and not (isinstance(value, str) and text == json.dumps(value)):
        raise MpijobError(
            f"{name_of(node)} has the annotation {BEFORE}={text!r}, which taco.train did not write: put the label {LABEL} as it "
            "should be and remove the annotation"
        )
    return True, value


def _put(node: Mapping[str, Any], state: str) -> Step:
    name, now = name_of(node), _part(node, "labels").get(LABEL)
    known, _before = remembered(node)
    resource = RESOURCES[state]
    # A node without the label is one that schedules as usual, as long as it offers its GPUs.
    if now == state or (now is None and state == DEFAULT and offered(node, resource)):
        return Step(name, now, None, now, None, False, resource, version_of(node))
    return Step(name, now, state, state, None if known else json.dumps(now), False, resource, version_of(node))


def _restore(node: Mapping[str, Any]) -> Step:
    name, now = name_of(node), _part(node, "labels").get(LABEL)
    known, before = remembered(node)
    if not known:
        return Step(name, now, None, now, None, False, None, version_of(node))
    if now is None and before is not None:
        raise MpijobError(
            f"{name} has no label {LABEL} any more, something else has removed it: put back {LABEL}={before} yourself (kubectl label "
            f"node {name} {LABEL}={before}), or remove the annotation {BEFORE}"
        )
    if now not in (before, TOPOLOGY, DEFAULT):
        raise MpijobError(
            f"{name} has {LABEL}={now}, which taco.train did not put there: put back {before or 'no label'} yourself, or remove the "
            f"annotation {BEFORE}"
        )
    # Without the label nothing would bring the usual device plugin back, so it goes by way of the usual one.
    way = DEFAULT if before is None else before
    as_it_was = now == before or (before is None and now == way)
    return Step(name, now, None if as_it_was else way, before, None, True, RESOURCES.get(way), version_of(node))


def plan(
    nodes: Sequence[Mapping[str, Any]], pods: Sequence[Mapping[str, Any]], wanted: Sequence[str], state: str
) -> Plan:
    """Return the steps that bring all wanted nodes to a state. When there are problems, nothing may be done to any node."""
    if state not in STATES:
        raise MpijobError(f"state is {state!r}: expected one of {', '.join(STATES)}")
    if not wanted:
        raise MpijobError("there are no nodes to label: expected the names of the cluster's nodes")
    there = {name_of(node): node for node in nodes}
    known = some(sorted(there)) or "none"
    # When it has none of them, it is rather another cluster than that all have left this one.
    some_may_be_gone = state == RESTORED and any(name in there for name in wanted)
    steps: List[Step] = []
    problems: List[str] = []
    gone: List[str] = []
    for name in dict.fromkeys(wanted):
        if name not in there:
            said = f"the cluster has no node {name}, it has {known}: set taco_node_name for the host"
            (gone if some_may_be_gone else problems).append(said)
            continue
        try:
            step = _restore(there[name]) if state == RESTORED else _put(there[name], state)
        except MpijobError as error:
            problems.append(str(error))
            continue
        steps.append(step)
        found = holders(pods, name) if step.during is not None else []
        if found:
            problems.append(
                f"{name} can't be labelled {LABEL}={step.during} while pods have its GPUs ({some(found)}): let them end, or "
                "delete them"
            )
    return Plan(steps, problems, gone)


def patch(step: Step) -> Optional[Dict[str, Any]]:
    """Return the first change to a node, the label with what it was, or None. A null in it removes what it names."""
    if step.during is None:
        return None
    metadata: Dict[str, Any] = {"name": step.node, "labels": {LABEL: step.during}}
    if step.remember is not None:
        metadata["annotations"] = {BEFORE: step.remember}
    return from_version({"apiVersion": "v1", "kind": "Node", "metadata": metadata}, step.version)


def last_patch(step: Step) -> Optional[Dict[str, Any]]:
    """Return the change to a node once it offers what it should, or None. The step is decided on the node as it is then."""
    if not step.forget:
        return None
    # Without its label and the mark nothing would know any more what is to be put back.
    if step.during is not None:
        raise MpijobError(
            f"{step.node} got the label {LABEL}={step.before} from something else while it was restored: let that end, and run this "
            "again"
        )
    metadata: Dict[str, Any] = {"name": step.node, "annotations": {BEFORE: None}}
    if step.after is None:
        metadata["labels"] = {LABEL: None}
    return from_version({"apiVersion": "v1", "kind": "Node", "metadata": metadata}, step.version)


def waiting(nodes: Sequence[Mapping[str, Any]], steps: Sequence[Step]) -> Dict[str, str]:
    """Return a sentence for each node, by its name, that doesn't offer yet what its label should make it offer."""
    there = {name_of(node): node for node in nodes}
    said = {}
    for step in steps:
        if step.resource is None or (step.node in there and offered(there[step.node], step.resource)):
            continue
        value = step.during if step.during is not None else step.after
        daemonset = DAEMONSETS.get(value or DEFAULT, "device plugin")
        said[step.node] = (
            f"{step.node} doesn't offer {step.resource} yet: check the pod of the daemonset {daemonset} on it (kubectl get pods "
            f"--all-namespaces --field-selector spec.nodeName={step.node})"
        )
    return said


def shown(steps: Sequence[Step]) -> Tuple[Dict[str, Optional[str]], Dict[str, Optional[str]]]:
    """Return the labels before and after, by node."""
    return {step.node: step.before for step in steps}, {step.node: step.after for step in steps}

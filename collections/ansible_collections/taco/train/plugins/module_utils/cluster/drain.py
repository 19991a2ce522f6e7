# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pods have to leave a node before its reboot, what keeps them, and whose cordon it is. Values in, values out."""

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import from_version, version_of

Resource = Mapping[str, Any]

# The node remembers by it that the cordon is ours, over runs and machines: one by somebody else is theirs to take away.
CORDONED = "taco.train/cordoned"
MIRROR = "kubernetes.io/config.mirror"
ENDED = ("Succeeded", "Failed")
MOST_NAMED = 10


def name_of(thing: Resource) -> str:
    """Return namespace and name of an object, or the name of one that has no namespace."""
    metadata = thing.get("metadata") or {}
    return "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))


def _owners(pod: Resource) -> List[Resource]:
    return list((pod.get("metadata") or {}).get("ownerReferences") or [])


def leaving(pods: Iterable[Resource]) -> List[Resource]:
    """Return the pods that have to leave: all but those that belong to the node, and those that have ended."""
    return [
        pod
        for pod in pods
        if MIRROR not in ((pod.get("metadata") or {}).get("annotations") or {})
        and not any(owner.get("kind") == "DaemonSet" for owner in _owners(pod))
        and (pod.get("status") or {}).get("phase") not in ENDED
    ]


def _with_owner(pod: Resource) -> str:
    owners = [f"{owner.get('kind')} {owner.get('name')}" for owner in _owners(pod)]
    return name_of(pod) + (f" (of {', '.join(owners)})" if owners else "")


def obstacles(pods: Iterable[Resource], force: bool, delete_emptydir_data: bool) -> List[str]:
    """Return why a node must not be drained as it is, whatever time is left for it."""
    pods = leaving(pods)
    found = []
    unmanaged = [name_of(pod) for pod in pods if not _owners(pod)]
    if unmanaged and not force:
        found.append(
            f"nothing would start {some(unmanaged, MOST_NAMED)} again elsewhere: delete what is no longer needed, or set "
            "kubernetes_node_force: true"
        )
    local = [
        _with_owner(pod)
        for pod in pods
        if any("emptyDir" in volume for volume in (pod.get("spec") or {}).get("volumes") or [])
    ]
    if local and not delete_emptydir_data:
        found.append(
            f"{some(local, MOST_NAMED)} would lose what is in an emptyDir: wait until they are done, remove them (an MPIJob with "
            "mpijob_state: absent), or set kubernetes_node_delete_emptydir_data: true"
        )
    return found


def _holds_requirement(requirement: Resource, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(requirement.get("key", "")), requirement.get("values") or []
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }.get(requirement.get("operator", ""), False)


def selects(selector: Optional[Resource], labels: Mapping[str, str]) -> bool:
    """Return whether a selector of labels takes these. An empty one takes all, none takes none."""
    if selector is None:
        return False
    pairs = (selector.get("matchLabels") or {}).items()
    return all(labels.get(key) == value for key, value in pairs) and all(
        _holds_requirement(requirement, labels) for requirement in selector.get("matchExpressions") or []
    )


def _budgets_of(pod: Resource, budgets: Iterable[Resource]) -> List[Resource]:
    metadata = pod.get("metadata") or {}
    return [
        budget
        for budget in budgets
        if (budget.get("metadata") or {}).get("namespace") == metadata.get("namespace")
        and selects((budget.get("spec") or {}).get("selector"), metadata.get("labels") or {})
    ]


def _budget_words(budget: Resource) -> str:
    status = budget.get("status") or {}
    counts = (status.get("desiredHealthy"), status.get("currentHealthy"))
    detail = "" if None in counts else f" (it wants {counts[0]} healthy pods, and {counts[1]} are)"
    return f"the PodDisruptionBudget {budget['metadata'].get('name')}{detail}"


def _is_exhausted(budget: Resource) -> bool:
    return int((budget.get("status") or {}).get("disruptionsAllowed", 0)) <= 0


def _leaves_late(pod: Resource) -> str:
    """Say what keeps a pod that is being deleted."""
    metadata = pod["metadata"]
    finalizers = ", ".join(map(str, metadata.get("finalizers") or []))
    if finalizers:
        return f"is being deleted and has the finalizers {finalizers}: check the controller that must remove them"
    grace = metadata.get("deletionGracePeriodSeconds")
    within = f", for which its grace period gives it {grace} s: set kubernetes_node_grace to fewer" if grace else ""
    return f"is being deleted and has not ended yet{within}"


def held(pods: Iterable[Resource], budgets: Iterable[Resource]) -> List[str]:
    """Return, for each pod that is still on the node, what keeps it there."""
    budgets, found = list(budgets), []
    for pod in leaving(pods):
        name, mine = _with_owner(pod), _budgets_of(pod, budgets)
        exhausted = [_budget_words(budget) for budget in mine if _is_exhausted(budget)]
        if (pod.get("metadata") or {}).get("deletionTimestamp"):
            found.append(f"{name} {_leaves_late(pod)}")
        elif exhausted:
            found.append(f"{name} is held by {' and '.join(exhausted)}")
        elif len(mine) > 1:
            names = ", ".join(str(budget["metadata"].get("name")) for budget in mine)
            found.append(
                f"{name} has more than one PodDisruptionBudget ({names}), with which it can't be evicted: remove one"
            )
        else:
            found.append(f"{name} is still there, and no eviction of it was accepted: check `kubectl describe pod`")
    return found


def is_cordoned(node: Resource) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def mark_of(node: Resource) -> Optional[str]:
    """Return when the collection last cordoned the node, as the node remembers it; None where it remembers nothing."""
    return ((node.get("metadata") or {}).get("annotations") or {}).get(CORDONED)


def _wrote(entry: Resource, *fields: str) -> bool:
    found: Any = entry.get("fieldsV1") or {}
    for field in fields:
        found = found.get(f"f:{field}") if isinstance(found, Mapping) else None
    return found is not None


def _cordoned_by_others(node: Resource) -> bool:
    """Return whether the API server says that the cordon was written by another client than the mark.

    Both are one change. A mark that stayed when somebody uncordoned the node by hand says nothing of the cordon that came next.
    """
    entries = (node.get("metadata") or {}).get("managedFields") or []
    return any(
        _wrote(entry, "spec", "unschedulable") and not _wrote(entry, "metadata", "annotations", CORDONED)
        for entry in entries
    )


def is_ours(node: Resource) -> bool:
    """Return whether the collection has cordoned the node, in this run or in an earlier one, as far as the cluster knows."""
    return is_cordoned(node) and mark_of(node) is not None and not _cordoned_by_others(node)


def _patch(node: Resource, mark: Optional[str], **spec: Optional[bool]) -> Dict[str, Any]:
    metadata = {"name": name_of(node), "annotations": {CORDONED: mark}}
    changed = {"spec": spec} if spec else {}
    # Of this version only: a cordon that somebody sets meanwhile must neither be marked nor be taken away.
    return from_version({"apiVersion": "v1", "kind": "Node", "metadata": metadata, **changed}, version_of(node))


def _unmark(node: Resource) -> Optional[Dict[str, Any]]:
    """Return the change that removes a mark without a cordon of ours: the next cordon would be taken for ours."""
    return None if mark_of(node) is None else _patch(node, None)


def cordon(node: Resource, when: str) -> Optional[Dict[str, Any]]:
    """Return the change that cordons a node and marks the cordon as ours, both or nothing; None where it is cordoned."""
    if is_ours(node):
        return None
    return _unmark(node) if is_cordoned(node) else _patch(node, when, unschedulable=True)


def uncordon(node: Resource) -> Optional[Dict[str, Any]]:
    """Return the change that takes a cordon of ours away, with its mark; None where there is neither."""
    return _patch(node, None, unschedulable=None) if is_ours(node) else _unmark(node)


def left(name: str) -> str:
    """Say how a node of ours is left when it didn't come back, and how to have it back."""
    return (
        f"node {name} stays cordoned: repair it and run this again, or uncordon it with "
        f"`kubectl uncordon {name} && kubectl annotate node {name} {CORDONED}-`"
    )


def no_such_node(name: str, names: Sequence[str]) -> str:
    has = f"it has {some(sorted(names), MOST_NAMED)}" if names else "it has none"
    return f"the cluster has no node {name}; {has}: set taco_node_name of this host to the name of its node"

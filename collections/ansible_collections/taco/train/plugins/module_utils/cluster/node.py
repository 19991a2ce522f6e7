# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a node out of its cluster for a reboot, and back.

This is not kubernetes.core.k8s_drain: that module fails at the first pod whose budget refuses the eviction, leaves the node cordoned then,
only warns about pods that have not left in time, evicts by name whatever has that name now, and can't tell its cordon from another one.
"""

from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster import drain, readiness
from ansible_collections.taco.train.plugins.module_utils.cluster.change import settle
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Deadline
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import watched
from ansible_collections.taco.train.plugins.module_utils.cluster.watch import wait_for_change

MOST_PAUSE = 30.0


class NodeError(Exception):
    """The node can't be brought to its state."""


class Node:
    """A node by the options of module kubernetes_node."""

    def __init__(self, cluster: Client, options: Mapping[str, Any], check_mode: bool) -> None:
        self.cluster, self.options, self.check_mode = cluster, options, check_mode
        self.name: str = options["name"]
        # Without a name all nodes are read, and the first would be taken.
        if not self.name.strip():
            raise NodeError("the name of the node is empty: set taco_node_name of this host to the name of its node")
        if options["grace"] is not None and options["grace"] < 1:
            raise NodeError(
                f"node {self.name}: grace is {options['grace']}: expected 1 or more, since 0 deletes a pod before its containers have "
                "ended: set kubernetes_node_grace to 1 or more, or leave it unset for the pods' own"
            )

    def result(self) -> Dict[str, Any]:
        """Bring the node to its state."""
        return dict(getattr(self, "_" + self.options["state"])())

    def _node(self) -> Mapping[str, Any]:
        node = self.cluster.find("Node", "v1", self.name)
        if node is None:
            names = [drain.name_of(one) for one in self.cluster.read("Node", "v1") or []]
            raise NodeError(drain.no_such_node(self.name, names))
        return node

    def _deadline(self) -> Deadline:
        return Deadline(0 if self.check_mode else self.options["timeout"], self.cluster.clock, self.cluster.say)

    def _pods(self) -> List[Mapping[str, Any]]:
        return self.cluster.read("Pod", "v1", fields=f"spec.nodeName={self.name}") or []

    def _settle(
        self, patch: Callable[[Mapping[str, Any]], Optional[Dict[str, Any]]], doing: str
    ) -> Tuple[List[Mapping[str, Any]], Mapping[str, Any]]:
        """Change the node as far as it needs it; return the node at each look, and as it is then."""
        if self.check_mode:
            return [self._node()], self._node()
        looks: List[Mapping[str, Any]] = []

        def look() -> Tuple[Mapping[str, Any], Optional[Dict[str, Any]]]:
            looks.append(self._node())
            return looks[-1], patch(looks[-1])

        looked, changed = settle(self.cluster, look, f"{doing} node {self.name}")
        return looks, changed or looked

    def _answer(self, node: Mapping[str, Any], changed: bool, **more: Any) -> Dict[str, Any]:
        return dict(changed=changed, node=readiness.outline(node), pages=readiness.pages(node), **more)

    # Out of the cluster.

    def _drained(self) -> Dict[str, Any]:
        looks = [self._node()]
        pods = self._pods() if self.options["drain"] else []
        self._refuse(pods)
        mark = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        if not self.check_mode:
            looks, _node = self._settle(lambda node: drain.cordon(node, mark), "cordon")
        # The mark is that of this very call where the answer to the change was lost, and the node was read again.
        cordons = not drain.is_cordoned(looks[-1]) or drain.mark_of(looks[-1]) == mark
        leaving = sorted(map(drain.name_of, drain.leaving(pods)))
        changed = bool(leaving) or any(drain.cordon(node, mark) for node in looks)
        ours = cordons or drain.is_ours(looks[-1])
        answer = self._answer(looks[0], changed, ours=ours, pods=leaving)
        if self.check_mode:
            return answer
        try:
            if self.options["drain"]:
                self._drain()
        except (KubernetesError, NodeError) as error:
            raise NodeError(f"{error}. {self._given_back(cordons)}") from error
        return dict(answer, left=drain.left(self.name) if ours else None)

    def _refuse(self, pods: List[Mapping[str, Any]]) -> None:
        found = drain.obstacles(pods, self.options["force"], self.options["delete_emptydir_data"])
        if found:
            raise NodeError(f"node {self.name} can't be drained: {'; '.join(found)}")

    def _given_back(self, cordoned: bool) -> str:
        """Uncordon the node if this call cordoned it, because it is not rebooted. Return the state of the node in words."""
        if not cordoned:
            return f"Node {self.name} was cordoned before, and stays cordoned"
        try:
            _looks, node = self._settle(drain.uncordon, "uncordon")
        except KubernetesError as error:
            return f"It could not be uncordoned either ({error}); {drain.left(self.name)}"
        if drain.is_cordoned(node):
            return (
                f"Nothing was rebooted. Node {self.name} was meanwhile cordoned by another client, and stays cordoned"
            )
        return f"Nothing was rebooted, and node {self.name} is uncordoned again"

    def _drain(self) -> None:
        """Evict the pods, those that a budget holds again and again, until none is left."""
        deadline, pause, refused = self._deadline(), self.options["poll"], ""
        pods = self._pods()
        while drain.leaving(pods):
            self._refuse(pods)
            # One that was evicted before is only waited for.
            waiting = [pod for pod in drain.leaving(pods) if not pod["metadata"].get("deletionTimestamp")]
            causes = [self.cluster.evict(pod, self.options["grace"]) for pod in waiting]
            refused = next((cause.said for cause in causes if cause), "")
            pods = self._pods()
            if not drain.leaving(pods):
                return
            if pause > deadline.left:
                raise NodeError(self._not_drained(pods, refused))
            if refused:
                self.cluster.say(f"{refused}; retrying the drain in {pause:.0f} s")
            deadline.sleep(pause)
            pause = min(MOST_PAUSE, pause * 2)

    def _not_drained(self, pods: List[Mapping[str, Any]], said: str) -> str:
        try:
            budgets = self.cluster.read("PodDisruptionBudget", "policy/v1") or []
        except KubernetesError as error:
            unread = f"the blocking PodDisruptionBudget can't be read: {error}"
            budgets, said = [], f"{said}; {unread}" if said else unread
        found = drain.held(pods, budgets)
        return (
            f"node {self.name} was not drained within {self.options['timeout']} s: {'; '.join(found)}"
            + (f" (API server: {said})" if said else "")
            + ": start more of these pods elsewhere, change the budget, or raise kubernetes_node_drain_timeout"
        )

    # Back in it.

    def _uncordoned(self) -> Dict[str, Any]:
        looks, node = self._settle(drain.uncordon, "uncordon")
        ours = any(map(drain.is_ours, looks))
        if drain.is_cordoned(looks[-1]) and not drain.is_ours(looks[-1]):
            self.cluster.say(f"node {self.name} was cordoned by another client, and stays cordoned")
        return self._answer(node, any(map(drain.uncordon, looks)), ours=ours)

    def _ready(self) -> Dict[str, Any]:
        counts = readiness.wanted_pages(self.options["pages"])
        deadline = self._deadline()
        # A node that never was there has another name. One that was may come back: some kubelets register theirs anew.
        node: Optional[Mapping[str, Any]] = self._node()
        while True:
            found = (
                readiness.problems(node, self.options["resources"], counts, self.options["boot_id"])
                if node
                else [readiness.gone(self.name)]
            )
            if not found or self.options["poll"] > deadline.left:
                break
            thing = watched("Node", "v1", [node] if node else [], name=self.name)
            wait_for_change(self.cluster, [thing], deadline.left, self.options["poll"])
            node = self.cluster.find("Node", "v1", self.name)
        if node is None or (found and self.options["gate"] and not self.check_mode):
            waited = f" after {self.options['timeout']} s" if self.options["timeout"] else ""
            raise NodeError(f"node {self.name} is not back{waited}: {'; '.join(found)}")
        return self._answer(node, False, problems=found)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a node out of its cluster for a reboot, and back, by the modules of kubernetes.core."""

import random
from datetime import datetime, timezone
from typing import Any, Callable, Mapping

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import drain, readiness
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import ACCESS, cluster_of
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.change import settle
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import KubernetesError, watched
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.clock import Deadline
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import (
    CERTIFICATE,
    CONFIG,
    FORBIDDEN,
    LIBRARY,
    UNAUTHORIZED,
    trouble,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

DRAIN = "kubernetes.core.k8s_drain"
# These don't pass, however long they are waited for.
HOPELESS = (CERTIFICATE, CONFIG, FORBIDDEN, LIBRARY, UNAUTHORIZED)
FIRST_PAUSE, MOST_PAUSE = 1.0, 30.0
ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["drained", "uncordoned", "ready"], "required": True},
    "drain": {"type": "bool", "default": True},
    "force": {"type": "bool", "default": False},
    "delete_emptydir_data": {"type": "bool", "default": False},
    "grace": {"type": "int"},
    "resources": {"type": "dict", "default": {}},
    "pages": {"type": "dict", "default": {}},
    "boot_id": {"type": "str"},
    "gate": {"type": "bool", "default": True},
    "timeout": {"type": "int", "default": 300},
    "poll": {"type": "float", "default": 2.0},
    **ACCESS,
}


class ActionModule(ActionBase):
    """The shell: reads the node and its pods, has k8s_drain work until none is left, waits."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        require_role_values(self, task_vars)
        task_vars = task_vars or {}
        _ignored, self.options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        self.host = task_vars.get("inventory_hostname", "this host")
        self.cluster = cluster_of(self, self.options, task_vars, self.host)
        self.name = self.options["name"]
        try:
            self._require_options()
            return getattr(self, "_" + self.options["state"])()
        # From None, since ansible-core 2.19 shows the words of every cause once more.
        except MpijobError as error:
            raise AnsibleActionFail(f"{self.host}: node {self.name}: {error}") from None
        except KubernetesError as error:
            raise AnsibleActionFail(str(error)) from None

    def _require_options(self) -> None:
        # Without a name all nodes are read, and the first would be taken.
        if not self.name.strip():
            raise KubernetesError(
                f"{self.host}: the name of the node is empty: set taco_node_name of this host to the name of its node"
            )
        grace = self.options["grace"]
        if grace is not None and grace < drain.LEAST_GRACE:
            raise MpijobError(
                f"grace is {grace}: expected {drain.LEAST_GRACE} or more, since kubernetes.core.k8s_drain takes 0 for not set: set "
                f"kubernetes_node_grace to {drain.LEAST_GRACE} or more, or leave it unset for the pods' own"
            )

    def _node(self) -> Mapping[str, Any]:
        node = self.cluster.find("Node", "v1", self.name)
        if node is None:
            names = [drain.name_of(one) for one in self.cluster.read("Node", "v1") or []]
            raise KubernetesError(f"{self.host}: {drain.no_such_node(self.name, names)}")
        return node

    def _deadline(self) -> Deadline:
        seconds = 0 if self._task.check_mode else self.options["timeout"]
        return Deadline(seconds, self.cluster.clock, self._display.display)

    def _pods(self) -> list[Mapping[str, Any]]:
        return self.cluster.read("Pod", "v1", fields=[f"spec.nodeName={self.name}"]) or []

    def _settle(
        self, patch: Callable[[Mapping[str, Any]], dict[str, Any] | None], doing: str
    ) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
        """Change the node as far as it needs it; return the node at each look, and as it is then."""
        looks: list[Mapping[str, Any]] = []

        def look() -> tuple[Mapping[str, Any], dict[str, Any] | None]:
            looks.append(self._node())
            return looks[-1], patch(looks[-1])

        looked, changed = settle(self.cluster, look, f"{doing} node {self.name}")
        return looks, changed or looked

    def _answer(self, node: Mapping[str, Any], changed: bool, **more: Any) -> dict[str, Any]:
        return dict(changed=changed, node=readiness.outline(node), pages=readiness.pages(node), **more)

    # Out of the cluster.

    def _drained(self) -> dict[str, Any]:
        looks = [self._node()]
        pods = self._pods() if self.options["drain"] else []
        self._refuse(pods)
        mark = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        if not self._task.check_mode:
            looks, _node = self._settle(lambda node: drain.cordon(node, mark), "cordon")
        # The mark is that of this very call where the answer to the change was lost, and the node was read again.
        cordons = not drain.is_cordoned(looks[-1]) or drain.mark_of(looks[-1]) == mark
        leaving = sorted(map(drain.name_of, drain.leaving(pods)))
        changed = bool(leaving) or any(drain.cordon(node, mark) for node in looks)
        ours = cordons or drain.is_ours(looks[-1])
        answer = self._answer(looks[0], changed, ours=ours, pods=leaving)
        if self._task.check_mode:
            return answer
        try:
            if self.options["drain"]:
                self._drain()
        except KubernetesError as error:
            raise KubernetesError(f"{error}. {self._given_back(cordons)}") from error
        return dict(answer, left=drain.left(self.name) if ours else None)

    def _refuse(self, pods: list[Mapping[str, Any]]) -> None:
        found = drain.obstacles(pods, self.options["force"], self.options["delete_emptydir_data"])
        if found:
            raise KubernetesError(f"{self.host}: node {self.name} can't be drained: {'; '.join(found)}")

    def _given_back(self, cordoned: bool) -> str:
        """Take back a cordon of this very call: a node that is not rebooted may as well serve. Says how it is left."""
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
        """Have pods evicted until none is left. The module gives up when the first is refused."""
        attempts, said, deadline = 0, "", self._deadline()
        while True:
            delete = {name: self.options[name] for name in ("force", "delete_emptydir_data")}
            delete.update(
                ignore_daemonsets=True,
                wait_timeout=max(1, int(deadline.left)),
                wait_sleep=max(1, int(self.options["poll"])),
            )
            if self.options["grace"] is not None:
                delete["terminate_grace_period"] = self.options["grace"]
            arguments = {"name": self.name, "state": "drain", "delete_options": delete}
            arguments["pod_selectors"] = [drain.NO_DAEMON_PODS]
            result = self.cluster.execute(DRAIN, {**self.cluster.access, **arguments})
            cause = trouble(result)
            if cause is not None and cause.kind in HOPELESS:
                raise self.cluster.error(f"drain node {self.name}", cause)
            said = cause.said if cause else said
            pods = self._pods()
            # Also when the module saw nothing wrong: of pods that stay it only warns.
            if not drain.leaving(pods):
                return
            self._refuse(pods)
            attempts += 1
            pause = min(MOST_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1)) * (1 + random.random() / 2)
            if pause > deadline.left:
                raise KubernetesError(self._not_drained(pods, said))
            self._display.display(f"{self.host}: {said or 'pods are still there'}; retrying the drain in {pause:.0f} s")
            deadline.sleep(pause)

    def _not_drained(self, pods: list[Mapping[str, Any]], said: str) -> str:
        try:
            budgets = self.cluster.read("PodDisruptionBudget", "policy/v1") or []
        except KubernetesError as error:
            unread = f"the blocking PodDisruptionBudget can't be read: {error}"
            budgets, said = [], f"{said}; {unread}" if said else unread
        found = drain.held(pods, budgets)
        return (
            f"{self.host}: node {self.name} was not drained within {self.options['timeout']} s: {'; '.join(found)}"
            + (f" (API server: {said})" if said else "")
            + ": start more of these pods elsewhere, change the budget, or raise kubernetes_node_drain_timeout"
        )

    # Back in it.

    def _uncordoned(self) -> dict[str, Any]:
        looks, node = self._settle(drain.uncordon, "uncordon")
        ours = any(map(drain.is_ours, looks))
        if drain.is_cordoned(looks[-1]) and not drain.is_ours(looks[-1]):
            self._display.display(f"{self.host}: node {self.name} was cordoned by another client, and stays cordoned")
        return self._answer(node, any(map(drain.uncordon, looks)), ours=ours)

    def _ready(self) -> dict[str, Any]:
        counts = readiness.wanted_pages(self.options["pages"])
        deadline = self._deadline()
        # A node that never was there has another name. One that was may come back: some kubelets register theirs anew.
        node: Mapping[str, Any] | None = self._node()
        while True:
            found = (
                readiness.problems(node, self.options["resources"], counts, self.options["boot_id"])
                if node
                else [readiness.gone(self.name)]
            )
            if not found or self.options["poll"] > deadline.left:
                break
            thing = watched("Node", "v1", [node] if node else [], name=self.name)
            self.cluster.wait_for_change([thing], deadline.left, self.options["poll"])
            node = self.cluster.find("Node", "v1", self.name)
        if node is None or (found and self.options["gate"] and not self._task.check_mode):
            waited = f" after {self.options['timeout']} s" if self.options["timeout"] else ""
            raise KubernetesError(f"{self.host}: node {self.name} is not back{waited}: {'; '.join(found)}")
        return self._answer(node, False, problems=found)

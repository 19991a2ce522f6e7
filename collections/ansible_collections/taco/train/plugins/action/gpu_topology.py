# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change how nodes of ACK schedule their GPUs, and wait until they do; kubernetes.core does the calls."""

from __future__ import annotations

import json
from typing import Any, Callable

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import gpu_topology
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import ACCESS, cluster_of, host_of
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.change import settle
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import Cluster, KubernetesError, watched
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.clock import Deadline
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.text import some
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "state": {"type": "str", "choices": list(gpu_topology.STATES), "required": True},
    "wait_timeout": {"type": "int", "default": 300},
    "poll": {"type": "float", "default": 2.0},
    **ACCESS,
}


class ActionModule(ActionBase):
    """Look, decide for all nodes, change, wait."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        require_role_values(self, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        host, cluster = host_of(self, task_vars), cluster_of(self, options, task_vars)
        try:
            plan = self._plan(cluster, options)
            before, after = gpu_topology.shown(plan.steps)
            changed = any(step.changes for step in plan.steps)
            result.update(changed=changed, before=before, after=after, diff=_diff(before, after))
            if plan.gone:
                result["warnings"] = [f"{host}: not restored: {said}" for said in plan.gone]
            if changed and not self._task.check_mode:
                self._apply(cluster, options, plan.steps)
            elif not self._task.check_mode:
                self._wait(cluster, options, plan.steps)
        except MpijobError as error:
            raise AnsibleActionFail(f"{host}: the nodes can't be labelled: {error}.") from None
        except KubernetesError as error:
            raise AnsibleActionFail(str(error)) from None
        return result

    def _plan(self, cluster: Cluster, options: dict[str, Any]) -> gpu_topology.Plan:
        """Return what is to be done once no pods with GPUs are about to leave, or raise why nothing may be."""
        names = list(dict.fromkeys(options["nodes"]))
        seconds = 0 if self._task.check_mode else options["wait_timeout"]
        deadline = Deadline(seconds, cluster.clock, self._display.display)
        while True:
            nodes = cluster.read("Node", "v1") or []
            pods = [pod for name in names for pod in cluster.read("Pod", "v1", fields=[f"spec.nodeName={name}"]) or []]
            plan = gpu_topology.plan(nodes, pods, names, options["state"])
            if not plan.problems:
                return plan
            # Pods that are being deleted only have to be waited for.
            staying = [pod for pod in pods if not (pod.get("metadata") or {}).get("deletionTimestamp")]
            leaves = not gpu_topology.plan(nodes, staying, names, options["state"]).problems
            if not leaves or not deadline.left:
                raise MpijobError(f"no node was changed, since {some(plan.problems, separator='; ')}")
            pod = next(pod for pod in pods if pod not in staying)
            where = {name: pod["metadata"][name] for name in ("name", "namespace")}
            cluster.wait_for_change([watched("Pod", "v1", [pod], **where)], deadline.left, options["poll"])

    def _apply(self, cluster: Cluster, options: dict[str, Any], steps: list[gpu_topology.Step]) -> None:
        steps = [self._settle(cluster, options, step, gpu_topology.patch) for step in steps]
        nodes = self._wait(cluster, options, steps)
        names = [step.node for step in steps if step.forget]
        # Decided anew, since a node has another version once it offers something else.
        for step in gpu_topology.plan(nodes, [], names, options["state"]).steps if names else []:
            self._settle(cluster, options, step, gpu_topology.last_patch)

    def _settle(
        self,
        cluster: Cluster,
        options: dict[str, Any],
        step: gpu_topology.Step,
        patch: Callable[[gpu_topology.Step], dict[str, Any] | None],
    ) -> gpu_topology.Step:
        """Do a step, decided again as often as something else has changed the node since; return the one that was done."""
        steps = [step]

        def look() -> tuple[gpu_topology.Step, dict[str, Any] | None]:
            found = steps.pop() if steps else self._again(cluster, options, step.node)
            return found, patch(found)

        return settle(cluster, look)[0]

    def _again(self, cluster: Cluster, options: dict[str, Any], name: str) -> gpu_topology.Step:
        node = cluster.find("Node", "v1", name)
        if node is None:
            raise MpijobError(f"node {name} left the cluster while it was to be labelled: run this again")
        pods = cluster.read("Pod", "v1", fields=[f"spec.nodeName={name}"]) or []
        plan = gpu_topology.plan([node], pods, [name], options["state"])
        if plan.problems:
            raise MpijobError(
                f"another client changed node {name} at the same time, and then {some(plan.problems, 3, '; ')}. Other nodes may be "
                "labelled already: run this again"
            )
        return plan.steps[0]

    def _wait(self, cluster: Cluster, options: dict[str, Any], steps: list[gpu_topology.Step]) -> list[Any]:
        """Return the nodes when every one offers what its label should make it offer, or raise what is missing."""
        deadline = Deadline(options["wait_timeout"], cluster.clock, self._display.display)
        while True:
            nodes = cluster.read("Node", "v1") or []
            missing = gpu_topology.waiting(nodes, steps)
            if not missing:
                return nodes
            if not deadline.left:
                raise MpijobError(
                    f"after {options['wait_timeout']} s {'; '.join(missing.values())}. The label stays. Run the playbook "
                    "again, or set gpu_topology_state: restored, with ack.yml ack_state: restored"
                )
            first = next(iter(missing))
            deadline.say(f"Waiting for {len(missing)} of {len(steps)} nodes: {missing[first]}")
            known = [node for node in nodes if node["metadata"]["name"] == first]
            cluster.wait_for_change([watched("Node", "v1", known, name=first)], deadline.left, options["poll"])


def _diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    texts = {"before": before, "after": after}
    return {name: json.dumps(value, indent=1, sort_keys=True) + "\n" for name, value in texts.items()}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change how nodes of ACK schedule their GPUs, and wait until they do."""

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster import gpu_topology
from ansible_collections.taco.train.plugins.module_utils.cluster.change import settle
from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import Deadline
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.module_utils.cluster.transport import watched
from ansible_collections.taco.train.plugins.module_utils.cluster.watch import wait_for_change


class Nodes:
    """Nodes by the options of module gpu_topology."""

    def __init__(self, cluster: Client, options: Mapping[str, Any], check_mode: bool) -> None:
        self.cluster, self.options, self.check_mode = cluster, options, check_mode
        self.warnings: List[str] = []

    def result(self) -> Dict[str, Any]:
        """Look, decide for all nodes, change, wait."""
        plan = self._plan()
        before, after = gpu_topology.shown(plan.steps)
        changed = any(step.changes for step in plan.steps)
        self.warnings = [f"not restored: {reason}" for reason in plan.gone]
        if changed and not self.check_mode:
            self._apply(plan.steps)
        elif not self.check_mode:
            self._wait(plan.steps)
        return dict(changed=changed, before=before, after=after, diff=_diff(before, after))

    def _deadline(self, seconds: float) -> Deadline:
        return Deadline(seconds, self.cluster.clock, self.cluster.say)

    def _plan(self) -> gpu_topology.Plan:
        """Return what is to be done once no pods with GPUs are about to leave, or raise why nothing may be."""
        names = list(dict.fromkeys(self.options["nodes"]))
        deadline = self._deadline(0 if self.check_mode else self.options["wait_timeout"])
        while True:
            nodes = self.cluster.read("Node", "v1") or []
            pods = [
                pod for name in names for pod in self.cluster.read("Pod", "v1", fields=f"spec.nodeName={name}") or []
            ]
            plan = gpu_topology.plan(nodes, pods, names, self.options["state"])
            if not plan.problems:
                return plan
            # Pods that are being deleted only have to be waited for.
            staying = [pod for pod in pods if not (pod.get("metadata") or {}).get("deletionTimestamp")]
            leaves = not gpu_topology.plan(nodes, staying, names, self.options["state"]).problems
            if not leaves or not deadline.left:
                raise MpijobError(f"no node was changed, since {some(plan.problems, separator='; ')}")
            pod = next(pod for pod in pods if pod not in staying)
            one = watched("Pod", "v1", [pod], pod["metadata"]["namespace"], pod["metadata"]["name"])
            wait_for_change(self.cluster, [one], deadline.left, self.options["poll"])

    def _apply(self, steps: List[gpu_topology.Step]) -> None:
        steps = [self._settle(step, gpu_topology.patch) for step in steps]
        nodes = self._wait(steps)
        names = [step.node for step in steps if step.forget]
        # Decided anew, since a node has another version once it offers something else.
        for step in gpu_topology.plan(nodes, [], names, self.options["state"]).steps if names else []:
            self._settle(step, gpu_topology.last_patch)

    def _settle(
        self,
        step: gpu_topology.Step,
        patch: Callable[[gpu_topology.Step], Optional[Dict[str, Any]]],
    ) -> gpu_topology.Step:
        """Do a step, decided again as often as something else has changed the node since; return the one that was done."""
        steps = [step]

        def look() -> Tuple[gpu_topology.Step, Optional[Dict[str, Any]]]:
            found = steps.pop() if steps else self._again(step.node)
            return found, patch(found)

        return settle(self.cluster, look)[0]

    def _again(self, name: str) -> gpu_topology.Step:
        node = self.cluster.find("Node", "v1", name)
        if node is None:
            raise MpijobError(f"node {name} left the cluster while it was to be labelled: run this again")
        pods = self.cluster.read("Pod", "v1", fields=f"spec.nodeName={name}") or []
        plan = gpu_topology.plan([node], pods, [name], self.options["state"])
        if plan.problems:
            raise MpijobError(
                f"another client changed node {name} at the same time, and then {some(plan.problems, 3, '; ')}. Other nodes may be "
                "labelled already: run this again"
            )
        return plan.steps[0]

    def _wait(self, steps: List[gpu_topology.Step]) -> List[Any]:
        """Return the nodes when every one offers what its label should make it offer, or raise what is missing."""
        deadline = self._deadline(self.options["wait_timeout"])
        while True:
            nodes = self.cluster.read("Node", "v1") or []
            missing = gpu_topology.waiting(nodes, steps)
            if not missing:
                return nodes
            if not deadline.left:
                raise MpijobError(
                    f"after {self.options['wait_timeout']} s {'; '.join(missing.values())}. The label stays. Run the playbook "
                    "again, or set gpu_topology_state: restored, with ack.yml ack_state: restored"
                )
            first = next(iter(missing))
            deadline.say(f"Waiting for {len(missing)} of {len(steps)} nodes: {missing[first]}")
            known = [node for node in nodes if node["metadata"]["name"] == first]
            wait_for_change(
                self.cluster, [watched("Node", "v1", known, name=first)], deadline.left, self.options["poll"]
            )


def _diff(before: Dict[str, Any], after: Dict[str, Any]) -> Dict[str, str]:
    texts = {"before": before, "after": after}
    return {name: json.dumps(value, indent=1, sort_keys=True) + "\n" for name, value in texts.items()}

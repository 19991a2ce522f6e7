# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change how nodes of ACK schedule their GPUs, and wait until they do; kubernetes.core does the calls."""

from __future__ import annotations

import json
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils import gpu_schedule
from ansible_collections.taco.train.plugins.plugin_utils.mpijob_names import MpijobError

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "state": {"type": "str", "choices": list(gpu_schedule.STATES), "required": True},
    "wait_timeout": {"type": "int", "default": 300},
    "poll": {"type": "float", "default": 2.0},
    "kubeconfig": {"type": "str"},
    "context": {"type": "str"},
    "access": {"type": "dict", "default": {}},
}
# Seconds between two lines that say what is waited for.
SAY_EVERY = 15


class ActionModule(ActionBase):
    """Look, decide for all nodes, change, wait."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        names = list(dict.fromkeys(options["nodes"]))
        try:
            nodes = self._nodes(options, task_vars)
            pods = [pod for name in names for pod in self._pods(options, name, task_vars)]
            plan = gpu_schedule.plan(nodes, pods, names, options["state"])
        except MpijobError as error:
            raise AnsibleActionFail(f"The nodes can't be labelled: {error}.") from None
        if plan.problems:
            raise AnsibleActionFail(
                f"No node was changed to {gpu_schedule.LABEL}={options['state']}: {'; '.join(plan.problems)}."
            )
        before, after = gpu_schedule.shown(plan.steps)
        result.update(
            changed=any(step.changes for step in plan.steps), before=before, after=after, diff=_diff(before, after)
        )
        if not self._task.check_mode:
            self._apply(options, plan.steps, task_vars)
        return result

    def _apply(self, options: dict[str, Any], steps: list[gpu_schedule.Step], task_vars: Any) -> None:
        for step in steps:
            self._patch(options, gpu_schedule.patch(step), task_vars)
        self._wait(options, steps, task_vars)
        for step in steps:
            self._patch(options, gpu_schedule.last_patch(step), task_vars)

    def _wait(self, options: dict[str, Any], steps: list[gpu_schedule.Step], task_vars: Any) -> None:
        """Return when every node offers what its label should make it offer, or fail with what is missing."""
        end, said_at = time.monotonic() + options["wait_timeout"], 0.0
        while True:
            missing = gpu_schedule.waiting(self._nodes(options, task_vars), steps)
            if not missing:
                return
            now = time.monotonic()
            if now >= end:
                raise AnsibleActionFail(
                    f"After {options['wait_timeout']} s: {'; '.join(missing)}. The label stays; run it again, or put it back with "
                    "state restored."
                )
            if now - said_at >= SAY_EVERY:
                self._display.display(f"Waiting for {len(missing)} of {len(steps)} nodes: {missing[0]}")
                said_at = now
            time.sleep(min(options["poll"], max(0.0, end - now)))

    def _access(self, options: dict[str, Any]) -> dict[str, Any]:
        given = {name: options[name] for name in ("kubeconfig", "context") if options[name]}
        return {**given, **options["access"]}

    def _call(self, module: str, arguments: dict[str, Any], options: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        answer = self._execute_module(
            module_name=f"kubernetes.core.{module}",
            module_args={**self._access(options), **arguments},
            task_vars=task_vars,
        )
        if answer.get("failed"):
            what = arguments.get("name") or (arguments.get("definition") or {}).get("metadata", {}).get("name") or ""
            kind = arguments.get("kind") or "Node"
            raise AnsibleActionFail(f"{kind} {what} of the cluster: {answer.get('msg') or answer}".replace("  ", " "))
        return answer

    def _nodes(self, options: dict[str, Any], task_vars: Any) -> list[dict[str, Any]]:
        answer = self._call("k8s_info", {"api_version": "v1", "kind": "Node"}, options, task_vars)
        found = answer.get("resources") or []
        if not found:
            raise AnsibleActionFail(
                f"The cluster has no nodes, or may not be reached: {answer.get('msg') or 'none were returned'}."
            )
        return found

    def _pods(self, options: dict[str, Any], node: str, task_vars: Any) -> list[dict[str, Any]]:
        arguments = {"api_version": "v1", "kind": "Pod", "field_selectors": [f"spec.nodeName={node}"]}
        return self._call("k8s_info", arguments, options, task_vars).get("resources") or []

    def _patch(self, options: dict[str, Any], definition: dict[str, Any] | None, task_vars: Any) -> None:
        if definition is not None:
            arguments = {"definition": definition, "state": "patched"}
            self._call("k8s", arguments, options, task_vars)


def _diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    texts = {"before": before, "after": after}
    return {name: json.dumps(value, indent=1, sort_keys=True) + "\n" for name, value in texts.items()}

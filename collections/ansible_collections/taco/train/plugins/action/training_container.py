# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a training container as a profile says, by one call of community.docker.docker_container."""

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.container_errors import explain
from ansible_collections.taco.train.plugins.plugin_utils.container_options import (
    OPTIONS,
    harp_refusal,
    module_options,
    spec_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.training_spec import SpecError, docker_run_argv

MODULE = "community.docker.docker_container"


def trouble_after_start(result: dict[str, Any]) -> str | None:
    """Return what the started container died of, or None when it runs."""
    state = (result.get("container") or {}).get("State") or {}
    if state.get("Status") in (None, "running"):
        return None
    return f"it is {state['Status']} instead of running, exit status {state.get('ExitCode')}: {state.get('Error') or 'see docker logs'}"


class ActionModule(ActionBase):
    """Turn the options into a spec, the spec into the options of docker_container, and its errors into advice."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        host = task_vars.get("inventory_hostname", "this host")
        _ignored, options = self.validate_argument_spec(**OPTIONS)

        if options["state"] == "absent":
            wanted = {"name": options["name"], "state": "absent"}
        else:
            try:
                spec = spec_of(options)
            except SpecError as error:
                raise AnsibleActionFail(f"{host}: {error}") from error
            refusal = harp_refusal(options, host)
            # Under check mode the role harp has not really run, so a missing configuration proves nothing.
            if refusal and not self._task.check_mode:
                raise AnsibleActionFail(refusal)
            if refusal:
                result.setdefault("warnings", []).append(refusal)
            wanted = module_options(spec, options["pull"])
            result["docker_run"] = docker_run_argv(spec)

        answer = self._execute_module(module_name=MODULE, module_args=wanted, task_vars=task_vars)
        problem = answer.get("msg", "") if answer.get("failed") else None
        if problem is None and options["state"] == "started" and not self._task.check_mode:
            problem = trouble_after_start(answer)
        if problem is not None:
            answer.update(failed=True, msg=explain(host, options["name"], options["image"] or "", str(problem)))
        # The traceback is of the error in the words of docker_container, and would be shown in place of ours.
        for key in ("invocation", "exception"):
            answer.pop(key, None)
        warnings = result.pop("warnings", []) + answer.pop("warnings", [])
        result.update(answer)
        if warnings:
            result["warnings"] = warnings
        return result

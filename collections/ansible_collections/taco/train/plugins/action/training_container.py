# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a training container as a profile says, by one call of community.docker.docker_container."""

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.module_utils._node.engine import image_of
from ansible_collections.taco.train.plugins.plugin_utils.container.change import (
    ends_processes,
    engine_problem,
    foreign_refusal,
    interruption,
    is_foreign,
    left,
    may_interrupt,
)
from ansible_collections.taco.train.plugins.plugin_utils.container.convergence import is_known
from ansible_collections.taco.train.plugins.plugin_utils.container.errors import explain
from ansible_collections.taco.train.plugins.plugin_utils.container.options import (
    OPTIONS,
    harp_refusal,
    module_options,
    spec_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import SpecError, docker_run_argv, mount_folders
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import take_desired
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

MODULE = "community.docker.docker_container"
FOLDERS = "taco.train.host_folders"
RUNNING_WORK = "taco.train.running_work"
COMMAND = "ansible.legacy.command"
CONTAINER_INFO = "community.docker.docker_container_info"
IMAGE_INFO = "community.docker.docker_image_info"


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
        take_desired(self)
        require_role_values(self, task_vars)
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

        if self._task.check_mode and is_known(options, options["node"] or {}):
            return {**result, "changed": False}
        unmanaged = self._without_module(options, host, task_vars)
        if unmanaged is not None:
            return {**result, **unmanaged}
        # A plan has the difference also without --diff. Ansible shows it only with --diff.
        self._task.diff = True
        self._prediction: dict[str, Any] | None = None
        foreign = self._foreign(options, wanted, task_vars)
        if foreign is not None:
            return {**result, **self._refused(options, foreign, host)}
        warnings, refused = self._running_work(options, wanted, task_vars)
        if refused is not None:
            return {**result, **refused}
        result.setdefault("warnings", []).extend(warnings)

        if options["state"] == "started" and not self._task.check_mode:
            # The engine creates the folders of its mounts where the host lacks them.
            noted = {"paths": mount_folders(spec), "state_dir": options["state_dir"]}
            recorded = (
                self._execute_module(module_name=FOLDERS, module_args=noted, task_vars=task_vars)
                if noted["paths"]
                else {}
            )
            if recorded.get("failed"):
                return dict(result, **recorded)
        if self._task.check_mode and self._prediction is not None:
            answer = self._prediction
        else:
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

    def _without_module(self, options: dict[str, Any], host: str, task_vars: dict[str, Any]) -> dict[str, Any] | None:
        """The result on a host on which docker_container can't work, None elsewhere."""
        node = options["node"]
        problem = engine_problem(node)
        if problem is None:
            return None
        there = node.get("training_container")
        if there and there["options_sha256"] is None and not options["take_over"]:
            return self._refused(options, foreign_refusal(options["name"], there["image"]), host)
        if options["state"] == "started":
            # The role container_engine would have corrected that. Without check mode docker_container reports the problem.
            said = f"The container {options['name']} would be started, but now {problem}."
            return {"changed": True, "msg": said} if self._task.check_mode else None
        if not there or self._task.check_mode:
            return {"changed": bool(there)}
        if not node["container_engine"]["running"]:
            return self._refused(options, left(options["name"], problem), host)
        warnings, refused = self._running_work(options, {}, task_vars)
        if refused is not None:
            return refused
        argv = ["docker", "rm", "--force", options["name"]]
        answer = self._execute_module(module_name=COMMAND, module_args={"argv": argv}, task_vars=task_vars)
        if answer.get("failed"):
            raise AnsibleActionFail(explain(host, options["name"], "", str(answer.get("stderr") or answer.get("msg"))))
        return {"changed": True, "warnings": warnings}

    def _refused(self, options: dict[str, Any], message: str, host: str) -> dict[str, Any]:
        """The result for a container that stays as it is: a failure, or where it may stay a warning."""
        if not options["may_stay"]:
            raise AnsibleActionFail(f"{host}: {message}")
        return {"changed": False, "left": message, "warnings": [f"{host}: {message}"]}

    def _foreign(self, options: dict[str, Any], wanted: dict[str, Any], task_vars: dict[str, Any]) -> str | None:
        """Why the task must not change the container with this name, None where it may or would not."""
        if options["take_over"] or is_known(options, options["node"] or {}):
            return None
        answer = self._execute_module(
            module_name=CONTAINER_INFO, module_args={"name": options["name"]}, task_vars=task_vars
        )
        if not answer.get("exists"):
            return None
        container = answer["container"]
        images = self._execute_module(
            module_name=IMAGE_INFO, module_args={"name": container["Image"]}, task_vars=task_vars
        )
        if not is_foreign(container, next(iter(images.get("images") or []), {})):
            return None
        self._prediction = self._predicted(wanted, task_vars)
        harmless = not self._prediction.get("changed") and not self._prediction.get("failed")
        return None if harmless else foreign_refusal(options["name"], image_of(container))

    def _running_work(
        self, options: dict[str, Any], wanted: dict[str, Any], task_vars: dict[str, Any]
    ) -> tuple[list[str], dict[str, Any] | None]:
        """Warnings about processes that the task would end, and the failure where it must not end them."""
        if not may_interrupt(options, options["node"]):
            return [], None
        if options["state"] == "started":
            self._prediction = self._predicted(wanted, task_vars)
            if not ends_processes(self._prediction):
                return [], None
        asked = {
            "interruption": interruption(options["name"], options["state"]),
            "container": options["name"],
            "gpus": False,
        }
        found = self._execute_module(module_name=RUNNING_WORK, module_args=asked, task_vars=task_vars)
        if found.get("failed"):
            found.pop("invocation", None)
            return [], found
        return list(found.get("warnings", [])), None

    def _predicted(self, wanted: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """The result of docker_container in check mode."""
        check_mode, self._task.check_mode = self._task.check_mode, True
        try:
            predicted: dict[str, Any] = self._execute_module(
                module_name=MODULE, module_args=wanted, task_vars=task_vars
            )
        finally:
            self._task.check_mode = check_mode
        return predicted

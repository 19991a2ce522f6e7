# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Submit a job through Arena, wait for it, and take it down with its logs kept; ansible.builtin.command runs Arena."""

from __future__ import annotations

import os
from typing import Any, Mapping

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.arena_client import Arena, ArenaError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.arena_lifecycle import Lifecycle
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

ARGUMENT_SPEC = {
    "job": {"type": "dict", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "until": {"type": "str", "choices": ["running", "succeeded", "ended"], "default": "running"},
    "wait_timeout": {"type": "int", "default": 600},
    "interrupt_running_work": {"type": "bool", "default": False},
    "allow_lost_logs": {"type": "bool", "default": False},
    "any_manager": {"type": "bool", "default": False},
    "poll": {"type": "float", "default": 2.0},
    "logs_dir": {"type": "str"},
    # No path: it is a file of the host that the task is for, where the home folder can be another one.
    "kubeconfig": {"type": "str"},
    "context": {"type": "str"},
    "arena": {"type": "str", "default": "arena"},
    "python": {"type": "path", "default": "/usr/bin/python3"},
    "pod_variables": {"type": "dict", "default": {}},
}


class ActionModule(ActionBase):
    """Ask Arena how things are, and tell it what is missing."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        self.task_vars = task_vars or {}
        host = str(self._task.delegate_to or self.task_vars.get("inventory_hostname", "this host"))
        present = options["state"] == "present"
        try:
            job, reached = job_of(options["job"]), self._pods_reached(options, host)
            options["kubeconfig"] = options["kubeconfig"] and self._remote_expand_user(options["kubeconfig"])
            arena = Arena(job, options, host, self._command, self._display.display)
            lifecycle = Lifecycle(arena, reached, self._task.check_mode)
            arena.require_context()
            result.update(lifecycle.present() if present else lifecycle.absent())
        except InvalidValueError as error:
            doing = "submitted" if present else "removed"
            raise AnsibleActionFail(f"{host}: the job can't be {doing} through Arena: {error}.") from None
        except (ArenaError, RecordError) as error:
            raise AnsibleActionFail(str(error)) from None
        return result

    def _command(self, argv: list[str]) -> dict[str, Any]:
        """Run a command, in check mode as well: what runs there only reads, and the module would skip it."""
        checking, self._task.check_mode = self._task.check_mode, False
        try:
            return self._execute_module(
                module_name="ansible.builtin.command", module_args={"argv": argv}, task_vars=self.task_vars
            )
        finally:
            self._task.check_mode = checking

    def _pods_reached(self, options: Mapping[str, Any], host: str) -> PodConnection:
        """Return how kubectl, which runs on the controller, reaches the pods; raise when only the task's host has the kubeconfig."""
        path = os.path.expanduser(options["kubeconfig"] or "")
        is_remote = self._connection.transport != "local"
        if is_remote and options["state"] == "present" and path and not os.path.exists(path):
            raise AnsibleActionFail(
                f"{host}: the controller has no kubeconfig {path}. Arena runs on {host}, and the pods are reached by kubectl on the "
                "controller: copy the kubeconfig to the same path there, or set taco_kubeconfig to a path that both have"
            )
        return PodConnection(path, options["context"] or "", options["python"])

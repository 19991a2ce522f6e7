# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lock a host for this playbook; the lock of a playbook that has ended on this controller is taken over."""

import getpass
import os
from datetime import datetime, timezone
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import lock_path
from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity, is_of_another, playbook

STATE_DIR = "/var/lib/taco-train"


def user() -> str:
    """The user who runs the playbook; a container may have none of that number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


class ActionModule(ActionBase):
    """The shell: add who the playbook is."""

    _supports_check_mode = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        own = {**identity(playbook()), "user": user(), "since": now}
        arguments = {**self._task.args, "owner": own}
        result.update(self._execute_module(module_args=arguments, task_vars=task_vars))
        # A lock that was made by hand may name no process.
        other = result.get("other") or {}
        if other and (not str(other.get("pid")).isdecimal() or not is_of_another(other, own)):
            result.update(self._execute_module(module_args={**arguments, "ended": other}, task_vars=task_vars))
            other = result.get("other") or {}
        if other and arguments.get("state") == "held":
            path = lock_path(arguments.get("state_dir") or STATE_DIR)
            result["refusal"] = wording.locked(task_vars["inventory_hostname"], other, path)
        return result

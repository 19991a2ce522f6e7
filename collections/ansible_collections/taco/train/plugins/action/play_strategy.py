# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that the play runs each task on all hosts before the next one, as the roles of the collection require."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.variables.play import require_linear


class ActionModule(ActionBase):
    """Read the strategy of the play that the task belongs to. Nothing runs on the host."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        self.validate_argument_spec(argument_spec={})
        host = (task_vars or {}).get("inventory_hostname", "localhost")
        result.update(changed=False, strategy=require_linear(self._task, host))
        return result

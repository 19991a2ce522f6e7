# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the variables of a role before its first task, and the strategy of the play."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.variables.play import require_linear
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import plain
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

ARGUMENT_SPEC = {
    "hosts": {"type": "list", "elements": "str", "default": []},
    "variables": {"type": "bool", "default": True},
}


class ActionModule(ActionBase):
    """Check on the controller. Nothing runs on the host."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        if options["variables"]:
            require_role_values(self, task_vars, plain(options["hosts"]))
        else:
            require_linear(self._task, (task_vars or {}).get("inventory_hostname", "localhost"))
        result.update(changed=False)
        return result

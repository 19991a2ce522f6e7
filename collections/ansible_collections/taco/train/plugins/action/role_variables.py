# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the variables of a role before its first task, and the strategy of the play."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.variables.play import require_linear
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import plain
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values
from ansible_collections.taco.train.plugins.plugin_utils.variables.runs import run_findings

ARGUMENT_SPEC = {
    "hosts": {"type": "list", "elements": "str", "default": []},
    "variables": {"type": "bool", "default": True},
    "runs": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Check on the controller. Nothing runs on the host."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)
        own, hosts = (task_vars or {}).get("inventory_hostname", "localhost"), plain(options["hosts"])
        if options["variables"]:
            require_role_values(self, task_vars, hosts)
        else:
            require_linear(self._task, own)
        result.update(changed=False)
        if options["runs"]:
            # Many hosts name the same script.
            result["findings"] = run_findings(self, hosts or [own], lru_cache(maxsize=None)(self._find_script))
        return result

    def _find_script(self, script: str) -> str | None:
        """Return the path of a file on the controller as Ansible finds it, or None."""
        try:
            found = self._find_needle("files", script)
        except AnsibleError:
            return None
        return found if os.path.isfile(found) else None

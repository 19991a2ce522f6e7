# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge the ENIs of a host that has been observed on the controller; look at the host only when it has not been."""

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.module_utils._node.enis import OPTIONS, refusal
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import take_desired
from ansible_collections.taco.train.plugins.plugin_utils.convergence.enis import judged
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values


class ActionModule(ActionBase):
    """Take the interfaces that are given, or those that the module finds."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        take_desired(self)
        require_role_values(self, task_vars)
        variables = task_vars or {}
        if self._task.args.get("nics") is None:
            result.update(self._execute_module(task_vars=variables))
            return result
        _ignored, options = self.validate_argument_spec(**OPTIONS)
        enis, problems = judged(options)
        result.update(changed=False, enis=enis, problems=problems)
        if problems:
            result.update(failed=True, msg=f"{variables['inventory_hostname']}: {refusal(problems)}")
        return result

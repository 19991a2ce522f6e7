# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reserve hugepages; a host that was observed to have them is not asked."""

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import run_unless_known, take_desired
from ansible_collections.taco.train.plugins.plugin_utils.convergence.hugepages import KNOWN
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values


class ActionModule(ActionBase):
    """The shell: what is known is decided in plugin_utils."""

    _supports_async = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        take_desired(self)
        require_role_values(self, task_vars)
        result.update(run_unless_known(self, KNOWN, task_vars, only_here=["node"]))
        return result

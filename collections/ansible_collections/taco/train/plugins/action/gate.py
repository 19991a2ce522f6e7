# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fail each host that failed a check, on the controller."""

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.preflight.host_failures import outcome

ARGUMENTS = {"failures": {"type": "dict", "required": True}}


class ActionModule(ActionBase):
    """The shell around the outcome of a host."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _result, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        found = outcome(task_vars["inventory_hostname"], task_vars["ansible_play_batch"], arguments["failures"])
        if found is None or self._task.check_mode:
            return {"changed": False}
        return {"changed": False, "unreachable" if found["unreachable"] else "failed": True, "msg": found["msg"]}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan a comparison, plan further rounds of it, and compute its verdicts. Works on the controller only."""

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.comparison import states
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import check_limits
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError

STATES = {"continued": states.continued, "decided": states.decided}


class ActionModule(ActionBase):
    """Read, decide, write on the controller."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(
            argument_spec=states.ARGUMENTS, required_if=states.REQUIRED_IF
        )
        try:
            check_limits(options)
            if options["state"] == "planned":
                result = states.planned(options, not self._task.check_mode, self._display.warning)
            else:
                result = STATES[options["state"]](options, write=not self._task.check_mode)
        except (ComparisonError, RecordError) as error:
            return {"failed": True, "msg": str(error)}
        if options["state"] != "decided":
            self._display.display(result["msg"])
        return result

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compute the verdicts of a comparison. Works on the controller only."""

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.comparison import evaluation, regression, store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import check_limits
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError, absolute

ARGUMENTS = {
    **evaluation.ARGUMENTS,
    "line_rate_gbps": {"type": "float"},
    "against": {"type": "list", "elements": "str", "default": []},
    "day_spread": {"type": "float", "default": 0.1},
}


class ActionModule(ActionBase):
    """Read, decide, write on the controller."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        try:
            check_limits(options)
            return self.verdicts(absolute(options["run_dir"]), options)
        except (ComparisonError, RecordError) as error:
            return {"failed": True, "msg": str(error)}

    def verdicts(self, run_dir, options):
        """Return the verdicts, as a failure if an arm became slower than in an earlier comparison."""
        state = evaluation.evaluate(run_dir, options)
        result = state.result
        if options["against"]:
            # The verdicts of these runs are kept even where an earlier comparison can't be used.
            self.keep(run_dir, result)
            earlier = store.earlier([absolute(path) for path in options["against"]])
            result["regression"] = regression.regression(
                result, earlier, options["day_spread"], refuse_unlike=not options["allow_unlike"]
            )
        self.keep(run_dir, result)
        problems = state.problems
        answer = {"changed": False, "comparison": result, "problems": problems, "msg": result["sentence"]}
        slower = (result["regression"] or {}).get("fails")
        if slower:
            answer["failed"] = True
            answer["msg"] = f"Slower than in {', '.join(options['against'])}: " + "; ".join(slower) + "."
        return answer

    def keep(self, run_dir, result):
        if not self._task.check_mode:
            store.keep(run_dir, result)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan further rounds for the undecided cases of a comparison. Works on the controller only."""

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.comparison import evaluation, repeats, segments, store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import check_limits
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError, absolute

ARGUMENTS = {
    **evaluation.ARGUMENTS,
    "records": {"type": "int", "default": 0},
    "witnesses": {"type": "bool", "default": True},
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
            return self.further_rounds(absolute(options["run_dir"]), options)
        except (ComparisonError, RecordError) as error:
            return {"failed": True, "msg": str(error)}

    def further_rounds(self, run_dir, options):
        """Return the runs of the rounds that undecided cases get."""
        state = evaluation.evaluate(run_dir, options)
        after = repeats.decide(
            *(state.current, state.result["cases"], state.cases),
            segments.given_up(state.records[options["records"] :]),
            repeats.time_of(state.records),
            not options["allow_unlike"],
        )
        comparison = repeats.with_rounds(state.planned, after)
        result = dict(state.result, auto=repeats.part(state.planned, after))
        if not self._task.check_mode:
            store.keep(run_dir, result)
        left = repeats.added(comparison, state.cases, state.records)
        runs = segments.remaining_runs(comparison, left, options["witnesses"])
        said = " ".join(result["auto"]["said"])
        self._display.display(said)
        return dict(runs, changed=False, run_dir=run_dir, msg=said)

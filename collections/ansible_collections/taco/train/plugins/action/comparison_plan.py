# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan the runs of a comparison. Works on the controller only."""

import os

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.comparison import regression, repeats, store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.evaluation import require_statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import check_limits, checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.segments import remaining_runs
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import DEFAULT_REPEATS, KEYS, ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import detectable_text
from ansible_collections.taco.train.plugins.plugin_utils.run import store as records
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

ARGUMENTS = {
    "name": {"type": "str", "default": "comparison"},
    "preset": {"type": "str"},
    "results_dir": {"type": "str", "required": True},
    "arms": {"type": "list", "elements": "raw", "default": []},
    "baseline": {"type": "str"},
    "workloads": {"type": "list", "elements": "dict", "default": []},
    "node_counts": {"type": "list", "elements": "int", "default": []},
    "batch_sizes": {"type": "list", "elements": "int", "default": []},
    "single_device": {"type": "bool", "default": False},
    "repeats": {"type": "raw", "default": DEFAULT_REPEATS},
    "budget_minutes": {"type": "float"},
    "warmup_runs": {"type": "int", "default": 1},
    "control": {"type": "bool", "default": False},
    "hosts": {"type": "list", "elements": "dict", "default": []},
    "defaults": {"type": "dict", "default": {}},
    "fresh": {"type": "bool", "default": False},
    "min_effect": {"type": "float", "default": 0.03},
    "confidence": {"type": "float", "default": 0.95},
    "against": {"type": "list", "elements": "str", "default": []},
    "verdict": {"type": "str"},
    "witnesses": {"type": "bool", "default": True},
    "places": {"type": "bool", "default": False},
    "place_changes": {"type": "list", "elements": "str", "default": []},
}


def checked_against(paths, continued, comparison):
    """The absolute paths of earlier comparisons. Raise for one that this comparison can't be compared with."""
    against = [os.path.realpath(records.absolute(path)) for path in paths]
    cases = {(case.id, arm.name) for case in comparison.cases for arm in comparison.arms}
    for path in against:
        if continued and path in (
            os.path.realpath(continued),
            os.path.realpath(os.path.join(continued, store.RESULT)),
        ):
            raise ComparisonError(
                f"compare_against names {path}, and this comparison is continued there: name an earlier one."
            )
        regression.require_shared(cases, path, store.stored(path))
    return against


class ActionModule(ActionBase):
    """Read, decide, write on the controller."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        require_role_values(self, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        try:
            check_limits(options)
            require_statistics()
            return self.planned(options)
        except (ComparisonError, records.RecordError) as error:
            return {"failed": True, "msg": str(error)}

    def planned(self, options):
        """Return the remaining runs and their folder."""
        spec = with_preset(
            options["preset"], {key: options[key] for key in KEYS}, options["defaults"].get("batch_size")
        )
        comparison, defaults = checked_comparison(spec, options["hosts"], options["defaults"], options["places"])
        results_dir = records.absolute(options["results_dir"])
        continued = None if options["fresh"] else store.unfinished(results_dir, comparison)
        run_dir = continued or store.new_folder(results_dir, options["name"])
        against = checked_against(options["against"], continued, comparison)
        if not self._task.check_mode:
            plan_file = {"spec": spec, "hosts": options["hosts"], "defaults": defaults, "name": options["name"]}
            if options["place_changes"]:
                plan_file["place_changes"] = options["place_changes"]
            store.begin(run_dir, comparison, plan_file, options["verdict"])
        kept = records.read(run_dir)[0]
        comparison = store.with_cases(run_dir, comparison, kept)[0]
        everything, left = plan(comparison), remaining(comparison, kept)
        done = len(everything) - len(left)
        text = repeats.planned_text(comparison, len(everything))
        text += f", {done} of them done before; {len(left)} to go" if continued else ""
        if left and not comparison.auto:
            text += f". {detectable_text(comparison, options['min_effect'], options['confidence'])}"
        self._display.display(f"{text}.")
        return {
            **remaining_runs(comparison, left, options["witnesses"]),
            "changed": False,
            "run_dir": run_dir,
            "records": len(kept),
            "planned": len(everything),
            "done": done,
            "against": against,
            "msg": text + ".",
        }

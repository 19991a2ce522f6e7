# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan the runs of a comparison, and judge what they measured. Works on the controller only."""

import os
import sys

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.comparison import comparison as comparison_results
from ansible_collections.taco.train.plugins.plugin_utils.comparison import (
    regression,
    repeats,
    segments,
    statistics,
    store,
)
from ansible_collections.taco.train.plugins.plugin_utils.comparison.control import with_raw_control
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import check_limits, checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import DEFAULT_REPEATS, KEYS, ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import detectable_text
from ansible_collections.taco.train.plugins.plugin_utils.run import store as records
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

ARGUMENTS = {
    "state": {"type": "str", "choices": ["planned", "continued", "judged"], "required": True},
    "name": {"type": "str", "default": "comparison"},
    "preset": {"type": "str"},
    "results_dir": {"type": "str"},
    "run_dir": {"type": "str"},
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
    "allow_unlike": {"type": "bool", "default": False},
    "line_rate_gbps": {"type": "float"},
    "against": {"type": "list", "elements": "str", "default": []},
    "day_spread": {"type": "float", "default": 0.1},
    "verdict": {"type": "str"},
    "records": {"type": "int", "default": 0},
    "places": {"type": "bool", "default": False},
    "place_changes": {"type": "list", "elements": "str", "default": []},
}


def absolute(path):
    return os.path.abspath(os.path.expanduser(path))


def require_statistics():
    """Raise when what judges can't be used: better before the first run than after the last."""
    if statistics.MISSING:
        fix = f"{sys.executable} -m pip install 'scipy>=1.15'"
        raise ComparisonError(f"Comparing needs SciPy 1.15 or newer on the controller ({statistics.MISSING}): {fix}")


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
            return {"planned": self.planned, "continued": self.continued, "judged": self.judged}[options["state"]](
                options
            )
        except (ComparisonError, records.RecordError) as error:
            return {"failed": True, "msg": str(error)}

    def planned(self, options):
        """Return the runs that are still to be done, and the folder that they belong in."""
        if not options["results_dir"]:
            raise ComparisonError("state planned needs results_dir, the folder for all results.")
        require_statistics()
        spec = with_preset(
            options["preset"], {key: options[key] for key in KEYS}, options["defaults"].get("batch_size")
        )
        comparison, defaults = checked_comparison(spec, options["hosts"], options["defaults"], options["places"])
        results_dir = absolute(options["results_dir"])
        found = None if options["fresh"] else store.unfinished(results_dir, comparison)
        run_dir = found or store.new_folder(results_dir, options["name"])
        against = [os.path.realpath(absolute(path)) for path in options["against"]]
        for path in against:
            if found and path in (os.path.realpath(found), os.path.realpath(os.path.join(found, store.RESULT))):
                raise ComparisonError(
                    f"compare_against names {path}, and this comparison is continued there: name an earlier one."
                )
            cells = {(case.id, arm.name) for case in comparison.cases for arm in comparison.arms}
            regression.require_shared(cells, path, store.stored(path))
        if not self._task.check_mode:
            plan_file = {"spec": spec, "hosts": options["hosts"], "defaults": defaults, "name": options["name"]}
            if options["place_changes"]:
                plan_file["place_changes"] = options["place_changes"]
            store.begin(run_dir, comparison, plan_file, options["verdict"])
        kept = records.read(run_dir)[0]
        comparison = store.with_cases(run_dir, comparison, kept)[0]
        everything, left = plan(comparison), remaining(comparison, kept)
        said = repeats.planned_text(comparison, len(everything))
        said += f", {len(everything) - len(left)} of them done before; {len(left)} to go" if found else ""
        if left and not comparison.auto:
            said += f". {detectable_text(comparison, options['min_effect'], options['confidence'])}"
        return {
            **self.todo(comparison, left, spec["arms"], run_dir),
            "records": len(kept),
            "planned": len(everything),
            "done": len(everything) - len(left),
            "against": against,
            "msg": said + ".",
        }

    def todo(self, comparison, left, raw_arms, run_dir):
        """Return runs that are left, as the tasks that carry them out need them."""
        names = [arm.name for arm in comparison.arms]
        raw = dict(zip(names, with_raw_control(raw_arms, comparison.control)))
        runs = segments.steps(left, plan(comparison), raw)
        visits = segments.visits(left, dict(zip(names, comparison.arms)), raw, [run["label"] for run in runs])
        return {"changed": False, "run_dir": run_dir, "runs": runs, "segments": visits, "auto": comparison.auto}

    def continued(self, options):
        """Return the runs of the rounds that undecided cases get, after a look at what was measured up to now."""
        answer = self.judged(dict(options, against=[]))
        run_dir = absolute(options["run_dir"])
        wanted, plan_file = store.planned(run_dir)
        kept = records.read(run_dir)[0]
        comparison, before = store.with_cases(run_dir, wanted, kept)
        after = repeats.decide(
            *(comparison, answer["comparison"]["cases"], before),
            segments.given_up(kept[options["records"] :]),
            repeats.time_of(kept),
            not options["allow_unlike"],
        )
        comparison = repeats.with_rounds(wanted, after)
        result = dict(answer["comparison"], auto=repeats.part(wanted, after))
        if not self._task.check_mode:
            store.keep(run_dir, result)
        left = repeats.added(comparison, before, kept)
        return {
            **self.todo(comparison, left, plan_file["spec"]["arms"], run_dir),
            "records": options["records"],
            "against": options["against"],
            "msg": " ".join(result["auto"]["said"]),
        }

    def judged(self, options):
        """Return the verdicts on what was measured, and fail when an arm became slower than in an earlier comparison."""
        require_statistics()
        if not options["run_dir"]:
            raise ComparisonError("state judged needs run_dir, the folder of the comparison.")
        run_dir = absolute(options["run_dir"])
        wanted, plan_file = store.planned(run_dir)
        found, problems = records.read(run_dir)
        wanted, cases = store.with_cases(run_dir, wanted, found)
        earlier_look = store.last(run_dir) if wanted.auto else None
        limits = (options["min_effect"], options["confidence"])
        result = comparison_results.assemble(
            *(wanted, found, plan_file["name"], *limits),
            refuse_unlike=not options["allow_unlike"],
            line_rate_gbps=options["line_rate_gbps"],
            place_changes=plan_file.get("place_changes") or (),
            looks=store.looks(run_dir),
            decided=repeats.kept_verdicts(earlier_look, *limits),
        )
        if wanted.auto:
            result["auto"] = repeats.part(wanted, cases)
        result["spec"] = plan_file["spec"]
        if options["against"]:
            # The verdicts of these runs are kept even where an earlier comparison can't be used.
            if not self._task.check_mode:
                store.keep(run_dir, result)
            earlier = store.earlier([absolute(path) for path in options["against"]])
            result["regression"] = regression.regression(
                result, earlier, options["day_spread"], refuse_unlike=not options["allow_unlike"]
            )
        if not self._task.check_mode:
            store.keep(run_dir, result)
        answer = {"changed": False, "comparison": result, "problems": problems, "msg": result["sentence"]}
        worse = (result["regression"] or {}).get("fails")
        if worse:
            answer["failed"] = True
            answer["msg"] = f"Slower than in {', '.join(options['against'])}: " + "; ".join(worse) + "."
        return answer

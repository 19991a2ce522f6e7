# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The states of the module comparison: read what lies in a folder of results, decide, and write."""

import os
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import (
    evaluation,
    regression,
    repeats,
    segments,
    store,
)
from ansible_collections.taco.train.plugins.plugin_utils.comparison.options import checked_comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import with_preset
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import (
    DEFAULT_REPEATS,
    KEYS,
    Comparison,
    ComparisonError,
)
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import detectable_text
from ansible_collections.taco.train.plugins.plugin_utils.run import series
from ansible_collections.taco.train.plugins.plugin_utils.run import store as records
from ansible_collections.taco.train.plugins.plugin_utils.run.abandoned import given_up

ARGUMENTS: Dict[str, Any] = {
    "state": {"type": "str", "choices": ["planned", "continued", "decided"], "required": True},
    "run_dir": {"type": "str"},
    "min_effect": {"type": "float", "default": 0.03},
    "confidence": {"type": "float", "default": 0.95},
    "allow_unlike": {"type": "bool", "default": False},
    "against": {"type": "list", "elements": "str", "default": []},
    "witnesses": {"type": "bool", "default": True},
    "name": {"type": "str", "default": "comparison"},
    "preset": {"type": "str"},
    "results_dir": {"type": "str"},
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
    "verdict": {"type": "str"},
    "places": {"type": "bool", "default": False},
    "place_changes": {"type": "list", "elements": "str", "default": []},
    "records": {"type": "int", "default": 0},
    "line_rate_gbps": {"type": "float"},
    "day_spread": {"type": "float", "default": 0.1},
}
REQUIRED_IF = [
    ("state", "planned", ["results_dir"]),
    ("state", "continued", ["run_dir"]),
    ("state", "decided", ["run_dir"]),
]
Options = Mapping[str, Any]


def checked_against(paths: Sequence[str], continued: Optional[str], comparison: Comparison) -> list[str]:
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


def planned(options: Options, write: bool, warn: Callable[[str], None]) -> Dict[str, Any]:
    """Begin a comparison, or find the one that was interrupted; return the remaining runs and their folder."""
    evaluation.require_statistics()
    spec = with_preset(options["preset"], {key: options[key] for key in KEYS}, options["defaults"].get("batch_size"))
    comparison, defaults = checked_comparison(spec, options["hosts"], options["defaults"], options["places"])
    results_dir = records.absolute(options["results_dir"])
    interrupted = None if options["fresh"] else store.unfinished(results_dir, comparison, warn)
    run_dir = interrupted or series.new_folder(results_dir, options["name"])
    against = checked_against(options["against"], interrupted, comparison)
    series.enter(series.COMPARISON, run_dir, write)
    if write:
        plan_file = {"spec": spec, "hosts": options["hosts"], "defaults": defaults, "name": options["name"]}
        if options["place_changes"]:
            plan_file["place_changes"] = options["place_changes"]
        store.begin(run_dir, comparison, plan_file, options["verdict"])
    kept = records.read(run_dir)[0]
    comparison = store.with_cases(run_dir, comparison, kept)[0]
    everything, left = plan(comparison), remaining(comparison, kept)
    done = len(everything) - len(left)
    text = repeats.planned_text(comparison, len(everything))
    text += f", {done} of them done before; {len(left)} to go" if interrupted else ""
    if left and not comparison.auto:
        text += f". {detectable_text(comparison, options['min_effect'], options['confidence'])}"
    return {
        **segments.remaining_runs(comparison, left, options["witnesses"]),
        "changed": False,
        "run_dir": run_dir,
        "records": len(kept),
        "planned": len(everything),
        "done": done,
        "against": against,
        "msg": text + ".",
    }


def continued(options: Options, write: bool) -> Dict[str, Any]:
    """Return the runs of the rounds that undecided cases get."""
    run_dir = records.absolute(options["run_dir"])
    state = evaluation.evaluate(run_dir, options)
    of_this_play = state.records[options["records"] :]
    after = repeats.decide(
        *(state.current, state.result["cases"], state.cases),
        given_up(of_this_play),
        repeats.time_of(state.records),
        not options["allow_unlike"],
    )
    comparison = repeats.with_rounds(state.planned, after)
    result = dict(state.result, auto=repeats.part(state.planned, after))
    if write:
        store.keep(run_dir, result)
    left = repeats.added(comparison, state.cases, state.records)
    counted = {record["arm"] for record in of_this_play if record.get("witnesses")}
    runs = segments.remaining_runs(comparison, left, options["witnesses"], counted)
    return dict(runs, changed=False, run_dir=run_dir, msg=" ".join(result["auto"]["said"]))


def decided(options: Options, write: bool) -> Dict[str, Any]:
    """Return the verdicts, as a failure if an arm became slower than in an earlier comparison."""
    run_dir = records.absolute(options["run_dir"])
    state = evaluation.evaluate(run_dir, options)
    result = state.result
    if options["against"]:
        # The verdicts of these runs are kept even where an earlier comparison can't be used.
        if write:
            store.keep(run_dir, result)
        earlier = store.earlier([records.absolute(path) for path in options["against"]])
        result["regression"] = regression.regression(
            result, earlier, options["day_spread"], refuse_unlike=not options["allow_unlike"]
        )
    if write:
        store.keep(run_dir, result)
        series.release(run_dir)
    answer = {"changed": False, "comparison": result, "problems": state.problems, "msg": result["sentence"]}
    slower = (result["regression"] or {}).get("fails")
    if slower:
        answer["failed"] = True
        answer["msg"] = f"Slower than in {', '.join(options['against'])}: " + "; ".join(slower) + "."
    return answer

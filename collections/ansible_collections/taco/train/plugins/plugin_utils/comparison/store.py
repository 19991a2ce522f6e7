# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a comparison is kept on the controller, and which unfinished one is to be taken up again."""

import json
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import repeats
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparability import settings_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import identity, key_of, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison, ComparisonError, read
from ansible_collections.taco.train.plugins.plugin_utils.run import series, store
from ansible_collections.taco.train.plugins.plugin_utils.run.record_check import comparison_problems

RESULT = "comparison.json"


def planned(run_dir: str) -> Tuple[Comparison, Dict[str, Any]]:
    """Return the comparison that a folder was made for, and its plan as it was written."""
    plan = _plan(run_dir)
    if not {"spec", "hosts", "defaults", "name"} <= set(plan):
        path = os.path.join(run_dir, series.COMPARISON.file)
        raise ComparisonError(f"{path} is not the plan of a comparison.")
    return read(plan["spec"], plan["hosts"], plan["defaults"]), plan


def _plan(run_dir: str) -> Dict[str, Any]:
    return series.load(os.path.join(run_dir, series.COMPARISON.file), "the plan of a comparison")


def fingerprint(comparison: Comparison) -> str:
    """The identity of this comparison, so that only its own results are continued."""
    return series.fingerprint(identity(comparison))


def unfinished(results_dir: str, comparison: Comparison, warn: Callable[[str], None]) -> Optional[str]:
    """The newest folder with the same comparison that has runs left, or has not been judged yet.

    warn is called about each plan that is skipped because it can't be read.
    """
    found = series.newest(series.COMPARISON, results_dir, fingerprint(comparison), _plan, warn)
    if not found:
        return None
    newest = found[0]
    kept = store.read(newest)[0]
    extended, cases = with_cases(newest, comparison, kept)
    left = remaining(extended, kept) or any(case.stop in (None, "failures") for case in cases.values())
    return newest if left or last(newest) is None else None


def with_cases(
    run_dir: str, comparison: Comparison, kept: Sequence[Dict[str, Any]]
) -> Tuple[Comparison, Dict[str, repeats.CaseRepeats]]:
    """Return the comparison with the rounds that its cases have up to now, and these; nothing changes where repeats are a number."""
    if not comparison.auto:
        return comparison, {}
    cases = repeats.case_repeats(comparison, (last(run_dir) or {}).get("auto"), kept)
    return repeats.with_rounds(comparison, cases), cases


def begin(run_dir: str, comparison: Comparison, plan: Dict[str, Any], verdict: Optional[str] = None) -> None:
    """Write down what the folder is for, before the first run, and copy the verdict of preflight."""
    text = json.dumps(dict(plan, fingerprint=fingerprint(comparison)), indent=1, sort_keys=True)
    store.write_text(os.path.join(run_dir, series.COMPARISON.file), text + "\n")
    if verdict and os.path.exists(verdict):
        with open(verdict, encoding="utf-8") as stream:
            store.write_text(os.path.join(run_dir, "verdict.json"), stream.read())


def keep(run_dir: str, result: Dict[str, Any]) -> str:
    """Write the results and return where they are."""
    return series.keep(os.path.join(run_dir, RESULT), result, comparison_problems(result))


def last(run_dir: str) -> Optional[Dict[str, Any]]:
    """Return the result that a folder has, or None."""
    path = os.path.join(run_dir, RESULT)
    return series.load(path, "the result of a comparison") if os.path.exists(path) else None


def looks(run_dir: str) -> List[int]:
    """Return the numbers of good runs at which the comparison in a folder had verdicts before."""
    result = last(run_dir)
    if result is None:
        return []
    return list(result.get("looks") or [result.get("done") or 0])


def earlier(paths: Sequence[str]) -> List[Tuple[str, Dict[str, Any]]]:
    """Return the comparisons of compare_against by their paths, each once: a day that is named twice is still one day."""
    once = {os.path.realpath(os.path.join(path, RESULT) if os.path.isdir(path) else path): path for path in paths[::-1]}
    return [(path, stored(path)) for path in list(once.values())[::-1]]


def stored(path: str) -> Dict[str, Any]:
    """Return an earlier comparison, given by its file or its folder.

    The options of its runs come from the records beside it where there are any.
    """
    file = os.path.join(path, RESULT) if os.path.isdir(path) else path
    result = series.load(file, "the result of a comparison")
    missing: List[str] = sorted({"cases", "schema"} - set(result))
    if missing:
        raise ComparisonError(f"{file} is not the result of a comparison: it has no {missing[0]}.")
    good = [one for one in store.read(os.path.dirname(file))[0] if one.get("outcome") == "ok"]
    kept = {key_of(one)[0]: one for one in good}
    cases = [dict(one, settings=settings_of(kept[one["id"]])) if one["id"] in kept else one for one in result["cases"]]
    return dict(result, cases=cases)

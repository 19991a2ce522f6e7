# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compute the verdicts of a comparison from the files in its folder. Reads, writes nothing."""

import sys
from typing import Any, Dict, List, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import comparison, repeats, statistics, store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison, ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.run import store as records


class Evaluation(NamedTuple):
    """The verdicts of a comparison at this moment."""

    planned: Comparison
    """The comparison with the rounds of its plan."""
    current: Comparison
    """The comparison with the rounds that its cases have now."""
    cases: Mapping[str, repeats.CaseRepeats]
    records: List[Dict[str, Any]]
    problems: List[str]
    """A sentence for each line of records.jsonl that is no record."""
    result: Dict[str, Any]
    """The content of comparison.json."""


def require_statistics() -> None:
    """Raise without the library that the verdicts need."""
    if statistics.MISSING:
        fix = f"{sys.executable} -m pip install 'scipy>=1.15'"
        raise ComparisonError(f"Comparing needs SciPy 1.15 or newer on the controller ({statistics.MISSING}): {fix}")


def evaluate(run_dir: str, options: Mapping[str, Any]) -> Evaluation:
    """Return the verdicts on the records in run_dir. options are min_effect, confidence, allow_unlike and line_rate_gbps."""
    require_statistics()
    planned, plan_file = store.planned(run_dir)
    kept, problems = records.read(run_dir)
    current, cases = store.with_cases(run_dir, planned, kept)
    limits = (options["min_effect"], options["confidence"])
    result = comparison.assemble(
        *(current, kept, plan_file["name"], *limits),
        refuse_unlike=not options["allow_unlike"],
        line_rate_gbps=options.get("line_rate_gbps"),
        place_changes=plan_file.get("place_changes") or (),
        looks=store.looks(run_dir),
        decided=repeats.kept_verdicts(store.last(run_dir) if current.auto else None, *limits),
    )
    if current.auto:
        result["auto"] = repeats.part(current, cases)
    result["spec"] = plan_file["spec"]
    return Evaluation(planned, current, cases, kept, problems, result)

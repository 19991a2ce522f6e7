# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide, where compare_repeats is auto, which cases of a comparison get more rounds, and why the others stop. Values in, values out.

All cases are judged together at each look, as the verdicts of a report share the error rate. A verdict that a look decided stays: each
look has its own part of the error rate. The budget knows times only, no values, so that it can't favour an outcome.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import Run, remaining
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison
from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import NO_TIME, Budget, Time
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LOOKS, next_look
from ansible_collections.taco.train.plugins.plugin_utils.progress import run_seconds
from ansible_collections.taco.train.plugins.plugin_utils.run.abandoned import setting
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

DECIDED = ("better", "worse", "equivalent")
WHY = {
    "decided": "every verdict is decided",
    "budget": "the next rounds would exceed compare_budget_minutes, {budget:g}",
    "rounds": f"{LOOKS[-1]} rounds are the most",
    "failures": "an arm failed too often",
    "unlike": "the runs were not alike",
}


def time_of(records: Sequence[Mapping[str, Any]]) -> Time:
    """The time that runs took, with what happened between them."""
    one = run_seconds(records)
    return Time((one or 0) * len(records), one)


class CaseRepeats(NamedTuple):
    """How many rounds a case has or gets, and why it gets no more; None while it may get more."""

    rounds: int
    stop: Optional[str] = None


def case_repeats(
    comparison: Comparison, stored: Optional[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> Dict[str, CaseRepeats]:
    """The cases as they were left; stored is the part auto of the comparison's last result.

    What only a budget stopped goes on with another budget.
    """
    kept = (stored or {}).get("cases") or {}
    again = stored is not None and stored.get("budget_minutes") != comparison.budget_minutes
    found = {}
    for case in comparison.cases:
        # Rounds of before compare_repeats was auto count as well.
        made = [record["case"]["repeat"] + 1 for record in records if (record.get("case") or {}).get("id") == case.id]
        one = kept.get(case.id) or {}
        rounds = one.get("rounds") or max(LOOKS[0], min(LOOKS[-1], max(made, default=0)))
        stop = one.get("stop")
        found[case.id] = CaseRepeats(rounds, None if again and stop == "budget" else stop)
    return found


def _stop(
    case: Mapping[str, Any], abandoned: Sequence[str], refuse_unlike: bool, control: Optional[str]
) -> Optional[str]:
    """Why more rounds are of no use to a case."""
    if case["unlike"] and refuse_unlike:
        return "unlike"
    # The control needs no verdict: its interval is the answer.
    pending = [
        comparison
        for comparison in case["comparisons"]
        if comparison["verdict"] not in DECIDED and comparison["arm"] != control
    ]
    if not pending:
        return "decided"
    # An arm that is not tried again gives no more rounds.
    hopeful = [
        one
        for one in pending
        if not {setting(case["id"], one["arm"]), setting(case["id"], one["baseline"])} & set(abandoned)
    ]
    return None if hopeful else "failures"


def decide(
    comparison: Comparison,
    cases: Sequence[Mapping[str, Any]],
    current: Mapping[str, CaseRepeats],
    abandoned: Sequence[str] = (),
    time: Time = NO_TIME,
    refuse_unlike: bool = True,
) -> Dict[str, CaseRepeats]:
    """The cases after a look: with the rounds up to the next one, or why they stop. cases are those of the result of this look."""
    found, budget = {}, Budget(comparison.budget_minutes)
    control = comparison.control.name if comparison.control else None
    for case in cases:
        rounds, stop = current[case["id"]]
        more = next_look(rounds)
        # A new play may have other limits, and tries an arm again that failed too often in an earlier one. The budget alone stays.
        stop = stop if stop == "budget" else None
        stop = stop or _stop(case, abandoned, refuse_unlike, control) or (None if more else "rounds")
        if more and not stop:
            runs = (more - rounds) * len(comparison.arms)
            if budget.allows(time, runs):
                rounds, time = more, time._replace(spent=time.after(runs))
            else:
                stop = "budget"
        found[case["id"]] = CaseRepeats(rounds, stop)
    return found


def with_rounds(comparison: Comparison, current: Mapping[str, CaseRepeats]) -> Comparison:
    """The comparison with the rounds of its cases, by which it is planned."""
    return comparison._replace(rounds={name: case.rounds for name, case in current.items()})


def added(comparison: Comparison, before: Mapping[str, CaseRepeats], records: Sequence[Dict[str, Any]]) -> List[Run]:
    """The runs of the rounds that a decision added. A run that failed before isn't tried again beside rounds of another hour."""
    return [run for run in remaining(comparison, records) if run.round >= before[run.case.id].rounds]


def kept_verdicts(
    result: Optional[Mapping[str, Any]], min_effect: float, confidence: float
) -> Dict[Any, Dict[str, Any]]:
    """The verdicts that an earlier look decided with the same limits, by case and arm."""
    if not result or (result["min_effect"], result["confidence"]) != (min_effect, confidence):
        return {}
    return {
        (case["id"], one["arm"]): one
        for case in result["cases"]
        for one in case["comparisons"]
        if one["verdict"] in DECIDED
    }


def part(comparison: Comparison, current: Mapping[str, CaseRepeats]) -> Dict[str, Any]:
    """What the result of a comparison keeps of this."""
    shown = {name: {"rounds": case.rounds, "stop": case.stop} for name, case in current.items()}
    return {"cases": shown, "budget_minutes": comparison.budget_minutes, "said": sentences(comparison, current)}


def planned_text(comparison: Comparison, runs: int) -> str:
    """How many runs are planned, before the first of them."""
    each = f"{LOOKS[0] if comparison.auto else comparison.repeats} measured and {counted(comparison.warmup_runs, 'warm-up run')} each"
    text = f"{runs} runs: {len(comparison.arms)} arms in {counted(len(comparison.cases), 'case')}, {each}"
    text += f"; {comparison.baseline} a second time in each round as the control" if comparison.control else ""
    if not comparison.auto:
        return text
    budget = f" and about {comparison.budget_minutes:g} minutes" if comparison.budget_minutes else ""
    return f"{text}, and more until every verdict is decided, at most {LOOKS[-1]}{budget}"


def sentences(comparison: Comparison, current: Mapping[str, CaseRepeats]) -> List[str]:
    """A sentence for each case: how many rounds it has, and why it has no more."""
    found = []
    for name, case in current.items():
        why = WHY[case.stop].format(budget=comparison.budget_minutes) if case.stop else "it goes on"
        found.append(f"{name}: {counted(case.rounds, 'round')}; {why}.")
    return found

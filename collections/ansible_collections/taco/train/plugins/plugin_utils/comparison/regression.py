# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare a comparison with an earlier one: did any arm become slower? Values in, values out."""

import re
from typing import Any, Collection, Dict, List, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import comparability, days
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import named, ratio_text

# The id of a record begins with the time of its run, in UTC.
DAY = re.compile(r"[0-9]{8}(?=T)")

Earliers = Sequence[Tuple[str, Dict[str, Any]]]
"""Earlier comparisons, each with its path."""


def values_of(arm: Dict[str, Any]) -> List[float]:
    """Return the values that count of what an arm measured in a case."""
    return [run["value"] for run in arm["runs"] if not run["warmup"]]


def _by_cell(found: Dict[str, Any]) -> Dict[Any, Any]:
    return {(case["id"], arm["arm"]): (case, values_of(arm)) for case in found["cases"] for arm in case["arms"]}


def _refused(judged: Dict[str, Any], unlike: List[str]) -> Dict[str, Any]:
    reason = f"The two are not comparable: {unlike[0]}"
    more = len(unlike) - 1
    reason += f" {more} more under Regression." if more else ""
    return dict(judged, verdict="refused", reason=reason, more_repeats=None)


def require_shared(cells: Collection[Any], path: str, then: Dict[str, Any]) -> None:
    """Raise for an earlier comparison that has none of the cells, each (case, arm), of this one."""
    measured = _by_cell(then)
    if not set(measured) & set(cells):
        raise ComparisonError(
            f"{path} has none of the arms and settings of this comparison, so nothing can be said: it has "
            f"{', '.join(sorted({case for case, _arm in measured}))}. Set compare_against to a comparison of the same kind."
        )


class Earlier(NamedTuple):
    """An arm of a case in an earlier comparison: its day, its values, and its differences from now."""

    day: str
    values: List[float]
    unlike: List[str]


def _day(path: str, case: Dict[str, Any]) -> str:
    """Return the day of a case's first run, or the path where the ids of its records do not say it."""
    ids = sorted(run["record"] for arm in case["arms"] for run in arm["runs"])
    found = DAY.match(ids[0]) if ids else None
    return found.group() if found else path


def _by_day(found: Sequence[Earlier]) -> List[List[float]]:
    """Return the values of each day: comparisons of one day share what differs between days."""
    days: Dict[str, List[float]] = {}
    for one in found:
        days.setdefault(one.day, []).extend(one.values)
    return list(days.values())


def _earlier(now: Dict[str, Any], case: Dict[str, Any], arm: str, path: str, then: Dict[str, Any]) -> List[Earlier]:
    """Return the arm of an earlier comparison, or nothing where it was not measured there."""
    before, values = _by_cell(then).get((case["id"], arm), (None, []))
    if before is None:
        return []
    differences = comparability.of_arm(arm, now, then) + comparability.of_case(case, before)
    return [Earlier(_day(path, before), values, differences + comparability.of_hosts(now, then))]


def _unmeasured(now: Dict[str, Any], then: Dict[str, Any]) -> List[Any]:
    """Return the arms of cases that an earlier comparison has not."""
    measured = _by_cell(then)
    return [cell for cell in _by_cell(now) if cell not in measured]


def _differences(now: Dict[str, Any], earlier: Earliers) -> List[str]:
    found = []
    for path, then in earlier:
        missing = [f"{named(arm, now)} on {case} was not measured then." for case, arm in _unmeasured(now, then)]
        where = f"{path}: " if len(earlier) > 1 else ""
        found += [f"{where}{one}" for one in comparability.between(now, then) + missing]
    return found


def regression(
    now: Dict[str, Any], earlier: Earliers, day_spread: float = 0.1, refuse_unlike: bool = True
) -> Dict[str, Any]:
    """Return each arm's verdict against itself in earlier comparisons, each (path, comparison), and the differences from them.

    An earlier comparison that is not comparable is left out, and where all are left out, the verdict is refused. With refuse_unlike
    false they take part, and the verdict is not in fails: a play fails only for runs that are comparable.
    """
    cells = _by_cell(now)
    for path, then in earlier:
        require_shared(cells, path, then)
    limits = days.DayLimits(now["min_effect"], now["confidence"], day_spread)
    found: List[Dict[str, Any]] = []
    estimates = []
    for (case, arm), (shown, values) in cells.items():
        before = [one for path, then in earlier for one in _earlier(now, shown, arm, path, then)]
        alike = [one for one in before if not one.unlike]
        used = alike or before
        estimates.append(days.estimate(values, _by_day(used), limits, shown["higher_is_better"]))
        unlike = [said for one in before for said in one.unlike] if before and not alike else []
        found.append({"case": case, "arm": arm, "comparable": bool(alike), "unlike": unlike})
    for one, estimate, (verdict, p) in zip(found, estimates, days.verdicts(estimates, limits)):
        evidence = estimate.evidence
        one.update(ratio=None, low=None, high=None)
        one.update(evidence._asdict() if evidence else {})
        one.update(verdict=verdict, p=p, more_repeats=None if verdict == "inconclusive" else 0)
        one.update(reason=days.reason(estimate, verdict, p, limits), earlier=estimate.days, day_spread=estimate.spread)
    judged = [_refused(one, one["unlike"]) if one["unlike"] and refuse_unlike else one for one in found]

    def said(verdict: str, comparable: bool = False) -> List[str]:
        return [
            f"{named(one['arm'], now)} on {one['case']}: {ratio_text(one, now['confidence'])} what it was"
            for one in judged
            if one["verdict"] == verdict and (one["comparable"] or not comparable)
        ]

    return {
        "baseline": ", ".join(path for path, _then in earlier),
        "day_spread": day_spread,
        "comparisons": judged,
        "worse": said("worse"),
        "better": said("better"),
        "fails": said("worse", comparable=True),
        "unlike": _differences(now, earlier),
    }

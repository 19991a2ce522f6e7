# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare a comparison with earlier ones: did any arm become slower? Values in, values out.

Runs of two days are not one sample: days differ from each other too. With fewer than three earlier days nobody knows by how much. With
three or more, the spread between days is that of their means, and the new mean is compared with what a further day would give.
"""

import math
import re
from statistics import fmean, stdev, variance
from typing import Any, Collection, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import comparability, statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.sentences import counts, lies, named, ratio_text
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

# The id of a record begins with the time of its run, in UTC.
DAY = re.compile(r"[0-9]{8}(?=T)")

Earliers = Sequence[Tuple[str, Dict[str, Any]]]
"""Earlier comparisons, each with its path."""


# So many earlier days give an estimate of the spread between days.
LEAST_DAYS = 3


class DayLimits(NamedTuple):
    """The least effect, the confidence, and the spread between days that is assumed where it is unknown."""

    min_effect: float = 0.03
    confidence: float = 0.95
    day_spread: float = 0.1


class Estimate(NamedTuple):
    """An arm against earlier days: the evidence, and the spread between days where it could be estimated."""

    evidence: Optional[statistics.Evidence]
    days: int
    spread: Optional[float]


def _welch(now: Sequence[float], days: Sequence[Sequence[float]]) -> Tuple[float, float]:
    """Return the standard error of now's mean less the mean of the days' means, with its degrees of freedom."""
    parts = [(variance(now) / len(now), len(now) - 1)]
    parts += [(variance(day) / len(day) / len(days) ** 2, len(day) - 1) for day in days]
    total = sum(part for part, _freedom in parts)
    squares = sum(part**2 / freedom for part, freedom in parts)
    return math.sqrt(total), total**2 / squares if squares > 0 else float(sum(freedom for _part, freedom in parts))


def estimate(
    now: Sequence[float], days: Sequence[Sequence[float]], limits: DayLimits, higher_is_better: bool = True
) -> Estimate:
    """The evidence of the current values compared with those of earlier days; none from too few runs."""
    sign = 1 if higher_is_better else -1
    own = [sign * math.log(value) for value in now]
    before = [[sign * math.log(value) for value in day] for day in days if len(day) >= LEAST_REPEATS]
    if len(own) < LEAST_REPEATS or not before:
        return Estimate(None, len(before), None)
    means = [fmean(day) for day in before]
    centre = fmean(own) - fmean(means)
    least, most = statistics.borders(limits.min_effect)
    if len(before) < LEAST_DAYS:
        error, freedom = _welch(own, before)
        # The same factor up and down: to be faster by chance is as likely as to be slower.
        lower = least + statistics.borders(limits.day_spread)[0]
        bounds = (lower, -lower)
        found = statistics.weighed(centre, error, freedom, limits.confidence, bounds, equivalence=False)
        return Estimate(found, len(before), None)
    spread = stdev(means)
    error = spread * math.sqrt(1 + 1 / len(means))
    return Estimate(
        statistics.weighed(centre, error, len(means) - 1, limits.confidence, (least, most)), len(before), spread
    )


def _reason(found: Estimate, verdict: str, p: Optional[float], limits: DayLimits) -> str:
    """The reason for the verdict of an estimate."""
    if found.evidence is None:
        return f"It takes {LEAST_REPEATS} good runs of the arm now, and as many in an earlier comparison."
    low, high = found.evidence.low or 0.0, found.evidence.high or 0.0
    shown = f"{limits.confidence:.0%} interval {low:.3f} to {high:.3f}"
    if found.spread is None:
        return (
            f"The {shown} is that of the runs alone. The spread between days is unknown with {counted(found.days, 'earlier day')}: "
            f"nothing within {100 * limits.day_spread:g}% (compare_day_spread) and {counts(limits.min_effect)}, together is called "
            f"better or worse. Name comparisons of {LEAST_DAYS} or more days in compare_against to have it estimated."
        )
    days = f"with a spread of {100 * found.spread:.1f}% between {counted(found.days, 'earlier day')}"
    tested = f"; p is {p:.2g}" if p is not None else ""
    return f"The {shown}, {days}, {lies(verdict, low, high, limits.min_effect)}{tested}."


def verdicts(found: Sequence[Estimate], limits: DayLimits) -> List[Tuple[str, Optional[float]]]:
    """Return (verdict, p) of each estimate of a report, the p values after Holm's correction."""
    corrected = statistics.holm([one.evidence.p if one.evidence else None for one in found])
    return [
        (one.evidence.verdict if one.evidence and p is not None and p < 1 - limits.confidence else "inconclusive", p)
        for one, p in zip(found, corrected)
    ]


def _by_cell(found: Dict[str, Any]) -> Dict[Any, Any]:
    """Return by (case, arm) the case, and the values that count of what the arm measured."""
    return {
        (case["id"], arm["arm"]): (case, [run["value"] for run in arm["runs"] if not run["warmup"]])
        for case in found["cases"]
        for arm in case["arms"]
    }


def _refused(judged: Dict[str, Any]) -> Dict[str, Any]:
    first, *more = judged["unlike"]
    reason = f"The two are not comparable: {first}" + (f" {len(more)} more under Regression." if more else "")
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
    differences: List[str]


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


def _differences(now: Dict[str, Any], earlier: Earliers) -> List[str]:
    found = []
    for path, then in earlier:
        measured = _by_cell(then)
        cells = [cell for cell in _by_cell(now) if cell not in measured]
        missing = [f"{named(arm, now)} on {case} was not measured then." for case, arm in cells]
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
    limits = DayLimits(now["min_effect"], now["confidence"], day_spread)
    found: List[Dict[str, Any]] = []
    estimates = []
    for (case, arm), (shown, values) in cells.items():
        measured = [one for path, then in earlier for one in _earlier(now, shown, arm, path, then)]
        comparable = [one for one in measured if not one.differences]
        estimates.append(estimate(values, _by_day(comparable or measured), limits, shown["higher_is_better"]))
        differences = [] if comparable else [sentence for one in measured for sentence in one.differences]
        found.append({"case": case, "arm": arm, "comparable": bool(comparable), "unlike": differences})
    for one, before, (verdict, p) in zip(found, estimates, verdicts(estimates, limits)):
        one.update(ratio=None, low=None, high=None)
        one.update(before.evidence._asdict() if before.evidence else {})
        one.update(verdict=verdict, p=p, more_repeats=None if verdict == "inconclusive" else 0)
        one.update(reason=_reason(before, verdict, p, limits), earlier=before.days, day_spread=before.spread)
    judged = [_refused(one) if one["unlike"] and refuse_unlike else one for one in found]

    def sentences(verdict: str, comparable: bool = False) -> List[str]:
        return [
            f"{named(one['arm'], now)} on {one['case']}: {ratio_text(one, now['confidence'])} what it was"
            for one in judged
            if one["verdict"] == verdict and (one["comparable"] or not comparable)
        ]

    return {
        "baseline": ", ".join(path for path, _then in earlier),
        "day_spread": day_spread,
        "comparisons": judged,
        "worse": sentences("worse"),
        "better": sentences("better"),
        "fails": sentences("worse", comparable=True),
        "unlike": _differences(now, earlier),
    }

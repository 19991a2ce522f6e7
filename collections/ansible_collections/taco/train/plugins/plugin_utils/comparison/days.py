# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the runs of an arm with those of earlier days. Runs of two days are not one sample: days differ from each other too.

With fewer than three earlier days nobody knows by how much. With three or more, the spread between days is that of their
means, and the new mean is compared with what a further day would give.
"""

import math
from statistics import fmean, stdev, variance
from typing import List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import counts, lies
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

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


def _welch(now: Sequence[float], days: Sequence[Sequence[float]]) -> tuple[float, float]:
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


def reason(found: Estimate, verdict: str, p: Optional[float], limits: DayLimits) -> str:
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


def verdicts(found: Sequence[Estimate], limits: DayLimits) -> List[tuple[str, Optional[float]]]:
    """Return (verdict, p) of each estimate of a report, the p values after Holm's correction."""
    corrected = statistics.holm([one.evidence.p if one.evidence else None for one in found])
    return [
        (one.evidence.verdict if one.evidence and p is not None and p < 1 - limits.confidence else "inconclusive", p)
        for one, p in zip(found, corrected)
    ]

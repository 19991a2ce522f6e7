# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Judge one arm against another from the values of their runs. Needs NumPy and SciPy on the controller.

The unit is the run and not the iteration: the iterations of a run share its processes, its placement and its minute, so taking
them for independent would make every interval too narrow.
"""

import math
from typing import Any, NamedTuple, Optional, Sequence

try:
    import numpy as np
    import scipy
    from scipy import stats
except ImportError as error:
    MISSING: Optional[str] = str(error)
else:
    OLD = tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15)
    MISSING = f"it is SciPy {scipy.__version__}" if OLD else None

# A fixed seed: the same records give the same report.
SEED = 20220607
RESAMPLES = 9999
MOST_REPEATS = 1000


class Interval(NamedTuple):
    """A value and the interval that holds it with the confidence asked for; None where there are too few runs."""

    value: Optional[float]
    low: Optional[float]
    high: Optional[float]


class Judgement(NamedTuple):
    """How an arm did against the baseline. A ratio of 1.5 means half as much again, whatever the unit."""

    verdict: str  # better, worse, equivalent or inconclusive
    ratio: Optional[float]
    low: Optional[float]
    high: Optional[float]
    p: Optional[float]
    more_repeats: Optional[int]  # 0 when settled, None when more runs can't be expected to settle it
    reason: str


def least_runs(confidence: float) -> int:
    """Return how many runs an arm a verdict needs: with fewer, no difference is large enough for the Mann-Whitney U test.

    Of the comb(2n, n) ways to draw one arm's ranks, two are as extreme as arms that don't overlap.
    """
    return next(runs for runs in range(2, MOST_REPEATS) if 2 / math.comb(2 * runs, runs) < 1 - confidence)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the median with its bootstrap interval."""
    middle = float(np.median(values))
    if len(values) < 2:
        return Interval(middle, None, None)
    found = stats.bootstrap(
        (np.asarray(values, float),),
        np.median,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=SEED,
    ).confidence_interval
    return Interval(middle, float(found.low), float(found.high))


def _ratio(arm: Any, baseline: Any, axis: int = -1) -> Any:
    return np.median(arm, axis=axis) / np.median(baseline, axis=axis)


def ratio_interval(arm: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the ratio of the medians with its bootstrap interval."""
    first, second = np.asarray(arm, float), np.asarray(baseline, float)
    value = float(_ratio(first, second))
    if min(len(first), len(second)) < 2:
        return Interval(value, None, None)
    found = stats.bootstrap(
        (first, second),
        _ratio,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=SEED,
        vectorized=True,
    ).confidence_interval
    return Interval(value, float(found.low), float(found.high))


def p_value(arm: Sequence[float], baseline: Sequence[float]) -> float:
    """Return p of the two-sided Mann-Whitney U test: how often arms that don't differ would look as different as these."""
    return float(stats.mannwhitneyu(arm, baseline, alternative="two-sided").pvalue)


def repeats_to_settle(
    arm: Sequence[float], baseline: Sequence[float], min_effect: float, confidence: float = 0.95
) -> Optional[int]:
    """Return how many runs more an arm are likely to settle it, or None when that can't be expected within reason.

    From the spread of the logarithms: the interval of their difference has to become narrower than the distance of the ratio to
    the nearest border between two verdicts.
    """
    first, second = np.log(np.asarray(arm, float)), np.log(np.asarray(baseline, float))
    centre = float(np.median(first) - np.median(second))
    distance = min(abs(centre - math.log(1 + min_effect)), abs(centre - math.log(1 - min_effect)))
    # The median's variance is pi/2 times that of the mean, for what is nearly normal.
    spread = math.pi / 2 * float(np.var(first, ddof=1) + np.var(second, ddof=1))
    have = min(len(first), len(second))
    for wanted in range(max(have + 1, least_runs(confidence)), MOST_REPEATS + 1):
        half = float(stats.t.ppf((1 + confidence) / 2, 2 * wanted - 2)) * math.sqrt(spread / wanted)
        if half < distance:
            return wanted - have
    return None


def judge(
    arm: Sequence[float],
    baseline: Sequence[float],
    min_effect: float = 0.03,
    confidence: float = 0.95,
    higher_is_better: bool = True,
) -> Judgement:
    """Return the verdict on an arm: better or worse only where the whole interval says so by at least the minimum effect.

    equivalent needs the whole interval within the minimum effect of 1, and everything between is inconclusive. All values must be
    above 0. Where less is better, the ratio is that of the inverses, so that more than 1 always means better.
    """
    if not higher_is_better:
        arm, baseline = [1 / value for value in arm], [1 / value for value in baseline]
    fewest, least = min(len(arm), len(baseline)), least_runs(confidence)
    if fewest == 0:
        lacking = "the arm" if len(arm) == 0 else "the baseline"
        return Judgement("inconclusive", None, None, None, None, least, f"No run of {lacking} gave a number.")
    ratio, low, high = ratio_interval(arm, baseline, confidence)
    p = p_value(arm, baseline)
    if fewest < least or low is None or high is None:
        reason = f"{fewest} good runs of an arm are too few for a verdict at {confidence:g}; it takes {least}."
        return Judgement("inconclusive", ratio, low, high, p, least - fewest, reason)
    shown = f"the {confidence:.0%} interval {low:.3f} to {high:.3f}"
    significant = p < 1 - confidence
    if low > 1 + min_effect and significant:
        return Judgement("better", ratio, low, high, p, 0, f"{shown} lies above {1 + min_effect:.3g}.".capitalize())
    if high < 1 - min_effect and significant:
        return Judgement("worse", ratio, low, high, p, 0, f"{shown} lies below {1 - min_effect:.3g}.".capitalize())
    if 1 - min_effect < low and high < 1 + min_effect:
        reason = f"{shown} lies within {min_effect:.0%} of 1, the least effect that was asked about.".capitalize()
        return Judgement("equivalent", ratio, low, high, p, 0, reason)
    more = repeats_to_settle(arm, baseline, min_effect, confidence)
    if low > 1 + min_effect or high < 1 - min_effect:
        reason = f"{shown} lies beyond {min_effect:.0%}, but the Mann-Whitney U test does not agree: p is {p:.3f}.".capitalize()
    else:
        reason = f"{shown} holds both what would matter and what would not.".capitalize()
    return Judgement("inconclusive", ratio, low, high, p, more, reason)

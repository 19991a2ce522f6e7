# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Intervals and p values from the rounds of a comparison. Needs NumPy and SciPy on the controller.

In a round each arm runs once, one after the other. The unit is the round: its runs share their minutes, so what changes slowly on
the machines cancels in the ratio of two arms. A ratio is analysed as its logarithm, by Student's t on one sample.
"""

import math
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

try:
    import numpy as np
    import scipy
    from scipy import optimize, special, stats
except ImportError as error:
    MISSING: Optional[str] = str(error)
else:
    OLD = tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15)
    MISSING = f"it is SciPy {scipy.__version__}" if OLD else None

# No ratio that is kept is larger than 1e300.
LARGEST_LOGARITHM = 690
# A fixed seed: the same records give the same report.
SEED = 20220607
RESAMPLES = 9999
# Draws for the chance of a verdict after more rounds.
DRAWS = 1000
MOST_MORE = 200
# The chance of a verdict that a number of further repeats is chosen for.
CHANCE = 0.8


class Interval(NamedTuple):
    """A value and the interval that holds it with the confidence asked for; None where there are too few runs."""

    value: Optional[float]
    low: Optional[float]
    high: Optional[float]


class Evidence(NamedTuple):
    """What rounds say: the ratio, its interval, the verdict nearest to being decided, and the p value of that verdict.

    The p value bounds the chance that data as clear as these lead to this verdict although it is false.
    """

    ratio: float
    low: Optional[float]
    high: Optional[float]
    verdict: str
    p: Optional[float]


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


def log_ratios(arm: Mapping[int, float], baseline: Mapping[int, float], higher_is_better: bool = True) -> List[float]:
    """Return for each round in which both arms gave a value the logarithm of their ratio; above 0 is better."""
    sign = 1 if higher_is_better else -1
    return [sign * math.log(arm[one] / baseline[one]) for one in sorted(arm) if one in baseline]


def borders(min_effect: float) -> Tuple[float, float]:
    """Return the logarithms of the ratios between which a difference is too small to count."""
    return math.log(1 - min_effect), math.log(1 + min_effect)


def _tails(centre: float, error: float, freedom: float, least: float, most: float) -> Dict[str, float]:
    """Return the one-sided p value of each verdict, from an estimate with its standard error."""
    error = max(error, 1e-12)
    above, below = (centre - most) / error, (centre - least) / error
    better, worse = float(special.stdtr(freedom, -above)), float(special.stdtr(freedom, below))
    return {"better": better, "worse": worse, "equivalent": float(special.stdtr(freedom, max(above, -below)))}


def weighed(
    centre: float,
    error: float,
    freedom: float,
    confidence: float,
    limits: Tuple[float, float],
    equivalence: bool = True,
) -> Evidence:
    """Return the evidence of an estimate of a logarithm with its standard error and degrees of freedom.

    Two-sided: a p value below 1 - confidence says the same as an interval wholly beyond, or wholly within, the limits.
    """
    tails = _tails(centre, error, freedom, *limits)
    tails = {word: value for word, value in tails.items() if equivalence or word != "equivalent"}
    word = min(tails, key=tails.__getitem__)
    half = float(special.stdtrit(freedom, (1 + confidence) / 2)) * error
    ends = math.exp(centre - half), math.exp(min(centre + half, LARGEST_LOGARITHM))
    return Evidence(math.exp(centre), *ends, word, min(1.0, 2 * tails[word]))


def evidence(differences: Sequence[float], min_effect: float, confidence: float) -> Optional[Evidence]:
    """The estimate from the logarithms of the ratios of rounds; none without a round, and no interval from one."""
    if not differences:
        return None
    if len(differences) == 1:
        return Evidence(math.exp(differences[0]), None, None, "inconclusive", None)
    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    return weighed(float(np.mean(differences)), error, len(differences) - 1, confidence, borders(min_effect))


def holm(values: Sequence[Optional[float]]) -> List[Optional[float]]:
    """Return the p values of several comparisons after Holm's correction; one without a p value counts among them."""
    order = sorted((one, place) for place, one in enumerate(values) if one is not None)
    found: List[Optional[float]] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(order):
        largest = max(largest, min(1.0, value * (len(values) - rank)))
        found[place] = largest
    return found


def chance_of_a_verdict(differences: Sequence[float], more: int, min_effect: float, level: float) -> float:
    """Return the chance that so many more rounds decide it at a level, by what the rounds up to now say of ratio and noise."""
    rng = np.random.default_rng(SEED)
    have, centre = len(differences), float(np.mean(differences))
    squares = float(np.var(differences)) * have
    variance = max(squares, 1e-18) / rng.chisquare(have - 1, DRAWS)
    truth = centre + np.sqrt(variance / have) * rng.standard_normal(DRAWS)
    added = truth + np.sqrt(variance / more) * rng.standard_normal(DRAWS)
    spread = squares + variance * (rng.chisquare(more - 1, DRAWS) if more > 1 else 0)
    spread = spread + have * more / (have + more) * (added - centre) ** 2
    count = have + more
    mean = (have * centre + more * added) / count
    half = float(special.stdtrit(count - 1, 1 - level / 2)) * np.sqrt(spread / (count - 1) / count)
    least, most = borders(min_effect)
    decided = (mean - half > most) | (mean + half < least) | ((mean - half > least) & (mean + half < most))
    return float(np.mean(decided))


def repeats_to_settle(differences: Sequence[float], min_effect: float, level: float) -> Tuple[Optional[int], float]:
    """The number of further repeats that decide it with a probability of 80 %, and the probability; None beyond MOST_MORE."""
    more, chance = 1, 0.0
    while more <= MOST_MORE:
        chance = chance_of_a_verdict(differences, more, min_effect, level)
        if chance >= CHANCE:
            return more, chance
        more += max(1, more // 3)
    return None, chance


def detectable(noise: float, repeats: int, min_effect: float, level: float) -> float:
    """Return the smallest true difference that is called better with a chance of 80 %; noise is the spread of an arm's runs."""
    bound = float(special.stdtrit(repeats - 1, 1 - level / 2))

    def lacking(shift: float) -> float:
        return float(stats.nct.sf(bound, repeats - 1, shift)) - CHANCE

    shift = float(optimize.brentq(lacking, 0, 4 * bound + 10))
    return math.exp(borders(min_effect)[1] + shift * noise * math.sqrt(2 / repeats)) - 1

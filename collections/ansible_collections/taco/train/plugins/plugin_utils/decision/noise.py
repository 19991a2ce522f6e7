# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The noise of the logarithm of a measured value: normal around the level, and a share of runs that are outliers.

The scale is estimated from few runs, so it is uncertain, and this uncertainty is common to all runs. A prior of PRIOR_FREEDOM degrees
of freedom stands for what benchmarks usually vary. Outliers have the same density wherever they are, which bounds how much a single
run can say.
"""

import math
from functools import lru_cache
from statistics import median
from typing import NamedTuple, Sequence, Tuple

PRIOR_SCALE = 0.02
PRIOR_FREEDOM = 2.0
LEAST_SCALE = 0.003
MOST_FREEDOM = 60.0
# Of a normal distribution: the standard deviation in units of the median absolute deviation, and the efficiency of that estimate.
OF_MAD = 1.4826
EFFICIENCY = 0.37
OUTLIERS = 0.01
# Outliers are spread over this range of logarithms.
OUTLIER_RANGE = 0.7
# Gauss and Hermite's points of a normal distribution with their weights: seven of them where the scale is known badly, otherwise three.
FEW_POINTS = ((-math.sqrt(3), 1 / 6), (0.0, 2 / 3), (math.sqrt(3), 1 / 6))
MANY_POINTS = (
    (-3.7504397, 5.4826886e-4),
    (-2.3667594, 3.0757124e-2),
    (-1.1544054, 0.2401232),
    (0.0, 0.4571428),
    (1.1544054, 0.2401232),
    (2.3667594, 3.0757124e-2),
    (3.7504397, 5.4826886e-4),
)
MUCH_FREEDOM = 40.0
_NORM = 1 / math.sqrt(2 * math.pi)


class Noise(NamedTuple):
    """The spread of the logarithm of a value and the degrees of freedom that it rests on.

    inflation is how much more the mean of the runs of one host varies than it would were its runs independent.
    """

    scale: float = PRIOR_SCALE
    freedom: float = PRIOR_FREEDOM
    inflation: float = 1.0
    outliers: float = OUTLIERS

    @property
    def scales(self) -> Tuple[Tuple[float, float], ...]:
        """Scales that the runs are compatible with, each with the logarithm of its chance."""
        return _scales(self.scale, self.freedom)


@lru_cache(maxsize=512)
def _scales(scale: float, freedom: float) -> Tuple[Tuple[float, float], ...]:
    """The logarithm of a scale with so many degrees of freedom is nearly normal, with this deviation."""
    deviation = math.sqrt(1 / (2 * freedom))
    points = FEW_POINTS if freedom >= MUCH_FREEDOM else MANY_POINTS
    return tuple((scale * math.exp(place * deviation), math.log(weight)) for place, weight in points)


def log_density(residual: float, scale: float, outliers: float) -> float:
    """The logarithm of the density at a distance from the level, for a scale and a share of outliers that are known."""
    regular = (1 - outliers) * _NORM / scale * math.exp(-0.5 * (residual / scale) ** 2)
    return math.log(regular + outliers / OUTLIER_RANGE)


def log_sum(logs: Sequence[float]) -> float:
    """The logarithm of the sum of numbers that are given as logarithms."""
    most = max(logs)
    return most + math.log(sum(math.exp(one - most) for one in logs))


def log_likelihood(residuals: Sequence[float], noise: Noise) -> float:
    """The logarithm of the density of all residuals together: their scale is the same one, whichever it is."""
    return log_sum(
        [
            chance + sum(log_density(residual, scale, noise.outliers) for residual in residuals)
            for scale, chance in noise.scales
        ]
    )


def robust_scale(residuals: Sequence[float], levels: int) -> float:
    """The standard deviation of residuals around levels that were estimated from them; outliers don't count."""
    size = OF_MAD * median(abs(residual) for residual in residuals)
    return size * math.sqrt(len(residuals) / max(1.0, len(residuals) - levels))


def estimated(residuals: Sequence[float], levels: int = 1, own: bool = True) -> Noise:
    """The noise that residuals around so many levels show, together with the prior.

    own: each level was estimated from its own residuals, which makes them too small.
    """
    if len(residuals) <= levels:
        return Noise()
    weight = EFFICIENCY * (len(residuals) - levels)
    freedom = PRIOR_FREEDOM + weight
    variance = (PRIOR_FREEDOM * PRIOR_SCALE**2 + weight * robust_scale(residuals, levels if own else 0) ** 2) / freedom
    return Noise(max(LEAST_SCALE, math.sqrt(variance)), min(MOST_FREEDOM, freedom))

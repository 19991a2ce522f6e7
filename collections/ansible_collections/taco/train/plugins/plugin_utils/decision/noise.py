# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The noise of the logarithm of a measured value: Student's t around the level, and a share of runs that are outliers.

The scale is estimated from few runs, so its density is the predictive one: a prior of PRIOR_FREEDOM degrees of freedom stands for
what benchmarks usually vary. Outliers have the same density wherever they are, which bounds how much a single run can say.
"""

import math
from functools import lru_cache
from statistics import median
from typing import NamedTuple, Sequence

PRIOR_SCALE = 0.02
PRIOR_FREEDOM = 3.0
LEAST_SCALE = 0.003
MOST_FREEDOM = 60.0
# Of a normal distribution: the standard deviation in units of the median absolute deviation, and the efficiency of that estimate.
OF_MAD = 1.4826
EFFICIENCY = 0.37
OUTLIERS = 0.01
# Outliers are spread over this range of logarithms.
OUTLIER_RANGE = 0.7


class Noise(NamedTuple):
    """The spread of the logarithm of a value and the degrees of freedom that it rests on.

    inflation is how much more the mean of the runs of one host varies than it would were its runs independent.
    """

    scale: float = PRIOR_SCALE
    freedom: float = PRIOR_FREEDOM
    inflation: float = 1.0

    def log_density(self, residual: float) -> float:
        """The logarithm of the density at a distance from the level."""
        freedom = self.freedom
        norm = _log_norm(freedom)
        power = -(freedom + 1) / 2 * math.log1p((residual / self.scale) ** 2 / freedom)
        regular = (1 - OUTLIERS) * math.exp(norm + power) / self.scale
        return math.log(regular + OUTLIERS / OUTLIER_RANGE)


@lru_cache(maxsize=64)
def _log_norm(freedom: float) -> float:
    """The logarithm of the density of Student's t at 0."""
    return math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)


def robust_scale(residuals: Sequence[float], levels: int) -> float:
    """The standard deviation of residuals around levels that were estimated from them; outliers don't count."""
    size = OF_MAD * median(abs(residual) for residual in residuals)
    return size * math.sqrt(len(residuals) / max(1.0, len(residuals) - levels))


def estimated(residuals: Sequence[float], levels: int = 1, inflation: float = 1.0) -> Noise:
    """The noise that residuals around so many levels show, together with the prior."""
    if len(residuals) <= levels:
        return Noise(inflation=inflation)
    weight = EFFICIENCY * (len(residuals) - levels)
    freedom = PRIOR_FREEDOM + weight
    variance = (PRIOR_FREEDOM * PRIOR_SCALE**2 + weight * robust_scale(residuals, levels) ** 2) / freedom
    return Noise(max(LEAST_SCALE, math.sqrt(variance)), min(MOST_FREEDOM, freedom), inflation)

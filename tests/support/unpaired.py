# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verdicts by another method, for comparison: two unpaired samples, a bootstrap of their medians, the Mann-Whitney U test."""

import numpy as np
from scipy import stats

RESAMPLES = 999


def interval(arm, baseline, rng):
    """Return the 95 % percentile interval of the ratio of the medians."""
    ratios = np.sort(resampled(arm, rng) / resampled(baseline, rng))
    return ratios[round(0.025 * RESAMPLES)], ratios[round(0.975 * RESAMPLES)]


def resampled(values, rng):
    """Return the medians of samples drawn from the values."""
    drawn = np.sort(np.asarray(values)[rng.integers(0, len(values), (RESAMPLES, len(values)))], axis=1)
    return (drawn[:, (len(values) - 1) // 2] + drawn[:, len(values) // 2]) / 2


def verdict(arm, baseline, low, high, least=0.03):
    if 1 - least < low and high < 1 + least:
        return "equivalent"
    beyond = "better" if low > 1 + least else "worse" if high < 1 - least else None
    confirmed = beyond and stats.mannwhitneyu(arm, baseline).pvalue < 0.05
    return beyond if confirmed else "inconclusive"

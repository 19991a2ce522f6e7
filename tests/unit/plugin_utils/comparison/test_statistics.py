# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Intervals and p values of rounds whose answer is known."""

import math

import pytest
from scipy import stats

from ansible_collections.taco.train.plugins.plugin_utils.comparison import statistics

DIFFERENCES = [math.log(ratio) for ratio in (1.04, 1.06, 1.05, 1.07, 1.03, 1.05)]


def test_a_round_counts_when_both_arms_gave_a_value_in_it():
    found = statistics.log_ratios({0: 110.0, 1: 120.0, 3: 130.0}, {0: 100.0, 1: 100.0, 2: 100.0})
    assert found == pytest.approx([math.log(1.1), math.log(1.2)])
    assert statistics.log_ratios({0: 2.0}, {0: 1.0}, higher_is_better=False) == pytest.approx([-math.log(2)])


def test_the_interval_is_that_of_students_t_on_the_logarithms():
    found = statistics.evidence(DIFFERENCES, 0.03, 0.95)
    test = stats.ttest_1samp(DIFFERENCES, 0)
    low, high = test.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
    beyond = stats.ttest_1samp(DIFFERENCES, math.log(1.03))
    assert found.verdict == "better" and found.p == pytest.approx(beyond.pvalue)


@pytest.mark.parametrize("centre", [1.2, 0.8, 1.0, 1.025, 1.035, 0.96])
@pytest.mark.parametrize("noise", [0.002, 0.01, 0.05])
def test_a_small_p_says_the_same_as_the_interval(centre, noise):
    differences = [math.log(centre) + noise * step for step in (-1.2, -0.5, 0.1, 0.3, 1.3)]
    found = statistics.evidence(differences, 0.03, 0.95)
    by_interval = {
        "better": found.low > 1.03,
        "worse": found.high < 0.97,
        "equivalent": found.low > 0.97 and found.high < 1.03,
    }
    assert (found.p < 0.05) == any(by_interval.values()) and (found.p >= 0.05 or by_interval[found.verdict])


def test_what_is_slow_in_a_round_for_both_arms_cancels():
    speeds = [100.0, 60.0, 90.0, 120.0, 80.0, 100.0]
    arm = {turn: 1.1 * speed for turn, speed in enumerate(speeds)}
    found = statistics.evidence(statistics.log_ratios(arm, dict(enumerate(speeds))), 0.03, 0.95)
    assert (found.low, found.high) == pytest.approx((1.1, 1.1)) and found.p < 1e-9


def test_one_round_has_a_ratio_and_none_has_nothing():
    assert statistics.evidence([], 0.03, 0.95) is None
    assert statistics.evidence([0.0], 0.03, 0.95) == (1.0, None, None, "inconclusive", None)


def test_holms_correction_is_that_of_the_book():
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.5, None, 0.02]) == [1.0, None, pytest.approx(0.06)]
    assert statistics.holm([]) == []


def test_more_noise_takes_more_repeats_and_a_difference_on_the_border_more_than_anybody_would_run():
    noisy = [math.log(1.07) + 3 * (one - math.log(1.05)) for one in DIFFERENCES]
    few, _chance = statistics.repeats_to_settle(DIFFERENCES, 0.03, 0.01)
    many, chance = statistics.repeats_to_settle(noisy, 0.03, 0.01)
    assert 0 < few < many and chance >= 0.8
    on_the_border = [one - math.log(1.05) + math.log(1.03) for one in noisy]
    more, chance = statistics.repeats_to_settle(on_the_border, 0.03, 0.01)
    assert more is None and 0 < chance < 0.8


def test_the_smallest_difference_that_a_plan_detects_is_found_with_the_chance_that_is_named():
    effect = statistics.detectable(0.02, 6, 0.03, 0.05)
    shift = (math.log(1 + effect) - math.log(1.03)) / (0.02 * math.sqrt(2 / 6))
    assert stats.nct.sf(stats.t.ppf(0.975, 5), 5, shift) == pytest.approx(0.8, abs=1e-6)
    assert statistics.detectable(0.02, 12, 0.03, 0.05) < effect < statistics.detectable(0.03, 6, 0.03, 0.05)


def test_the_same_values_give_the_same_interval_and_one_has_none():
    values = [100.0, 100.4, 99.7, 100.2, 99.8]
    assert statistics.median_interval(values) == statistics.median_interval(values)
    assert statistics.median_interval([5.0]) == (5.0, None, None)


def test_an_interval_without_bounds_can_still_be_kept():
    found = statistics.evidence([0.5, -0.5], 0.03, 0.9999)
    assert found.low < 1e-300 and 1e290 < found.high < 1e300

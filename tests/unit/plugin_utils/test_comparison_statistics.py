# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verdicts on values whose answer is known."""

import numpy as np
import pytest

from ansible_collections.taco.train.plugins.plugin_utils import comparison_statistics as statistics

# Five runs of a quiet machine: half a percent around 100.
QUIET = [100.0, 100.4, 99.7, 100.2, 99.8]


def times(factor):
    return [value * factor for value in QUIET]


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1, "equivalent"), (1.02, "equivalent"), (0.9, "worse"), (1.1, "better"), (3, "better"), (1.03, "inconclusive")],
)
def test_a_verdict_says_what_the_whole_interval_says(factor, verdict):
    found = statistics.judge(times(factor), QUIET)
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(factor)
    assert found.low <= found.ratio <= found.high


def test_where_less_is_better_more_is_worse():
    assert statistics.judge(times(1.1), QUIET, higher_is_better=False).verdict == "worse"
    found = statistics.judge(times(0.5), QUIET, higher_is_better=False)
    assert (found.verdict, found.ratio) == ("better", pytest.approx(2))


def test_the_p_of_five_and_five_that_dont_overlap_is_that_of_the_exact_test():
    # 2 of the 252 ways to choose 5 of 10 are as extreme.
    assert statistics.judge(times(2), QUIET).p == pytest.approx(2 / 252)


def test_a_lower_least_effect_makes_the_same_difference_matter():
    assert statistics.judge(times(1.02), QUIET, min_effect=0.005).verdict == "better"


def test_a_noisy_arm_is_not_called_equal():
    found = statistics.judge([80.0, 120.0, 101.0, 95.0, 108.0], QUIET)
    assert found.verdict == "inconclusive" and found.more_repeats > 0
    assert "holds both what would matter and what would not" in found.reason


@pytest.mark.parametrize(("arm", "baseline"), [([], QUIET), (QUIET, []), ([100.0], QUIET), (QUIET[:3], QUIET)])
def test_too_few_runs_decide_nothing(arm, baseline):
    found = statistics.judge(arm, baseline)
    assert found.verdict == "inconclusive"
    assert found.more_repeats == 4 - min(len(arm), len(baseline))


def test_a_higher_confidence_takes_more_runs():
    assert [statistics.least_runs(confidence) for confidence in (0.95, 0.99, 0.999)] == [4, 5, 7]
    found = statistics.judge(times(1.5), QUIET, confidence=0.999)
    assert (found.verdict, found.more_repeats) == ("inconclusive", 2)
    assert "too few for a verdict at 0.999; it takes 7" in found.reason


def test_a_test_that_does_not_agree_is_named():
    # Most runs differ by far, and one of each is where the other arm is.
    found = statistics.judge([150.0, 151.0, 149.0, 100.0], [100.0, 101.0, 99.0, 150.5])
    assert found.verdict == "inconclusive" and found.p > 0.05


def test_the_repeats_that_are_asked_for_do_settle_it():
    rng = np.random.default_rng(3)
    arm, baseline = list(rng.normal(107, 4, 6)), list(rng.normal(100, 4, 6))
    found = statistics.judge(arm, baseline)
    assert found.verdict == "inconclusive"
    more = found.more_repeats
    assert 0 < more < 100
    settled = [
        statistics.judge(list(rng.normal(107, 4, 6 + more)), list(rng.normal(100, 4, 6 + more))).verdict
        for _trial in range(40)
    ]
    assert settled.count("better") >= 28 and "worse" not in settled and "equivalent" not in settled


def test_a_difference_on_the_border_is_said_to_need_more_than_anybody_would_run():
    assert statistics.repeats_to_settle([103.0, 104.0, 102.0, 103.0], [100.0, 101.0, 99.0, 100.0], 0.03) is None


def test_the_same_values_give_the_same_interval():
    assert statistics.judge(times(1.05), QUIET) == statistics.judge(times(1.05), QUIET)
    assert statistics.median_interval(QUIET) == statistics.median_interval(QUIET)


def test_one_run_has_a_median_and_no_interval():
    assert statistics.median_interval([5.0]) == (5.0, None, None)

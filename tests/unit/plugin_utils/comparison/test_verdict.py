# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verdicts on rounds whose answer is known: the corrections, the failures, the number of looks."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import LEAST_REPEATS
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import Limits, Side, judge

# Six rounds of a quiet machine: half a percent around 100.
QUIET = (100.0, 100.4, 99.7, 100.2, 99.8, 100.1)
OFF = (0.3, -0.4, 0.2, -0.1, 0.4, -0.3)


def base(values=QUIET, failed=0):
    return Side("tcp", dict(enumerate(values)), failed, len(values) + failed)


def faster(factor, noise=1.0, failed=0, name="taco"):
    values = {turn: factor * value * (1 + noise * off / 100) for turn, (value, off) in enumerate(zip(QUIET, OFF))}
    return Side(name, values, failed, len(values) + failed)


def verdict(arm, baseline=None, limits=None, **more):
    (found,) = judge([(arm, baseline or base())], limits or Limits(), **more)
    return found


@pytest.mark.parametrize(
    ("factor", "word"),
    [(1, "equivalent"), (1.02, "equivalent"), (0.9, "worse"), (1.1, "better"), (3, "better"), (1.03, "inconclusive")],
)
def test_a_verdict_says_what_the_whole_interval_says(factor, word):
    found = verdict(faster(factor))
    assert found.verdict == word and found.ratio == pytest.approx(factor, rel=0.001)
    assert found.low <= found.ratio <= found.high and (found.more_repeats == 0) == (word != "inconclusive")


def test_where_less_is_better_more_is_worse():
    assert verdict(faster(1.1), higher_is_better=[False]).verdict == "worse"
    found = verdict(faster(0.5), higher_is_better=[False])
    assert (found.verdict, found.ratio) == ("better", pytest.approx(2, rel=0.001))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_rounds_decide_nothing(count):
    found = verdict(Side("taco", dict(enumerate(QUIET[:count])), 0, count))
    assert found.verdict == "inconclusive" and found.more_repeats == LEAST_REPEATS - count and found.reason


def test_rounds_in_which_only_one_arm_has_a_value_do_not_count():
    late = Side("taco", {turn + 6: value for turn, value in enumerate(QUIET)}, 0, 6)
    found = verdict(late)
    assert found.verdict == "inconclusive" and "No round has a good run of both arms" in found.reason


@pytest.mark.parametrize(
    ("factor", "arm_failed", "baseline_failed", "word"),
    [
        (2, 1, 0, "better"),
        (2, 18, 0, "inconclusive"),
        (1, 18, 0, "inconclusive"),
        (0.5, 18, 0, "worse"),
        (2, 0, 18, "better"),
        (0.5, 0, 18, "inconclusive"),
        (1, 0, 18, "inconclusive"),
    ],
)
def test_an_arm_that_often_fails_is_not_called_better(factor, arm_failed, baseline_failed, word):
    found = verdict(faster(factor, failed=arm_failed), base(failed=baseline_failed))
    assert found.verdict == word
    assert f"{arm_failed or baseline_failed} of " in found.reason and " failed" in found.reason
    if word == "inconclusive":
        assert found.more_repeats is None and "fix the failures first" in found.reason


def test_a_verdict_is_harder_among_many_comparisons():
    # 1.045 on this noise is beyond 3 % when it is alone in its report.
    close = faster(1.045, noise=3.4)
    assert verdict(close).verdict == "better"
    many = judge([(close, base()), *[(faster(1.03, 2, name=f"arm{number}"), base()) for number in range(15)]], Limits())
    assert many[0].verdict == "inconclusive" and many[0].p > verdict(close).p
    assert "after the correction for 16 comparisons and for verdict number 1" in many[0].reason


def test_all_verdicts_of_all_looks_together_have_the_error_rate():
    shares = [Limits(look=look).spent() for look in range(1, 40)]
    assert sum(shares) == pytest.approx(1) and shares[0] == 0.8 and shares == sorted(shares, reverse=True)
    first, second = (verdict(faster(1.045, noise=3.4), limits=Limits(look=look)) for look in (1, 2))
    assert first.verdict == "better" and second.p == pytest.approx(5 * first.p) and second.verdict == "inconclusive"


def test_an_undecided_comparison_names_the_repeats_and_their_chance():
    found = verdict(faster(1.07, noise=12))
    assert found.verdict == "inconclusive" and found.more_repeats > 0 and 0.8 <= found.chance <= 1

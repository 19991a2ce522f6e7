# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must hold of verdicts whatever the values are, and how often chance may fool them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils import comparison_statistics as statistics

VALUES = st.lists(st.floats(1, 1e6), min_size=4, max_size=9)
VERDICTS = {"better", "worse", "equivalent", "inconclusive"}
MIRRORED = {"better": "worse", "worse": "better", "equivalent": "equivalent", "inconclusive": "inconclusive"}


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES)
def test_a_judgement_is_consistent_in_itself(arm, baseline):
    found = statistics.judge(arm, baseline)
    assert found.verdict in VERDICTS and found.reason
    assert found.low <= found.high and 0 <= found.p <= 1
    if found.verdict == "better":
        assert found.low > 1.03
    if found.verdict == "worse":
        assert found.high < 0.97
    if found.verdict == "equivalent":
        assert found.low > 0.97 and found.high < 1.03
    assert (found.more_repeats == 0) == (found.verdict != "inconclusive")


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES, st.floats(0.01, 1000))
def test_the_unit_does_not_matter(arm, baseline, factor):
    ours, scaled = (
        statistics.judge(arm, baseline),
        statistics.judge([x * factor for x in arm], [x * factor for x in baseline]),
    )
    assert abs(ours.ratio - scaled.ratio) < 1e-9 * ours.ratio


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_better_seen_from_the_other_side_is_never_better(arm, baseline):
    there, back = statistics.judge(arm, baseline).verdict, statistics.judge(baseline, arm).verdict
    assert not (there == back and there in ("better", "worse"))


def test_arms_that_do_not_differ_are_hardly_ever_called_better_or_worse():
    # 1 % of noise between runs and 5 runs an arm. A wrong verdict needs a whole interval beyond 3 %.
    rng = np.random.default_rng(1)
    verdicts = [statistics.judge(rng.normal(100, 1, 5), rng.normal(100, 1, 5)).verdict for _trial in range(150)]
    assert verdicts.count("better") + verdicts.count("worse") <= 1
    assert verdicts.count("equivalent") > 110


def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says():
    # The bootstrap of a median of 5 is coarse: it promises 95 % and keeps about 93 %.
    rng = np.random.default_rng(2)
    intervals = [statistics.ratio_interval(rng.normal(150, 3, 5), rng.normal(100, 2, 5)) for _trial in range(200)]
    held = sum(one.low <= 1.5 <= one.high for one in intervals)
    assert held >= 180

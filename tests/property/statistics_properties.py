# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must hold of verdicts whatever the values are, and how often chance may fool them."""

import functools

import numpy as np
import pytest
import simulated_comparisons as simulated
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import Limits, Side, judge

VALUES = st.lists(st.floats(1, 1e6), min_size=4, max_size=9)
VERDICTS = {"better", "worse", "equivalent", "inconclusive"}


def judged(arm, baseline):
    sides = (Side(name, dict(enumerate(values)), 0, len(values)) for name, values in (("taco", arm), ("tcp", baseline)))
    return judge([tuple(sides)], Limits())[0]


@settings(max_examples=30)
@given(VALUES, VALUES)
def test_a_judgement_is_consistent_in_itself(arm, baseline):
    found = judged(arm, baseline)
    assert found.verdict in VERDICTS and found.reason
    assert found.low <= found.high and 0 <= found.p <= 1
    if found.verdict == "better":
        assert found.low > 1.03
    if found.verdict == "worse":
        assert found.high < 0.97
    if found.verdict == "equivalent":
        assert found.low > 0.97 and found.high < 1.03
    assert (found.more_repeats == 0) == (found.verdict != "inconclusive")


@settings(max_examples=30)
@given(VALUES, VALUES, st.floats(0.01, 1000))
def test_the_unit_does_not_matter(arm, baseline, factor):
    ours, scaled = judged(arm, baseline), judged([x * factor for x in arm], [x * factor for x in baseline])
    assert abs(ours.ratio - scaled.ratio) < 1e-9 * ours.ratio


@settings(max_examples=30)
@given(VALUES, VALUES)
def test_better_seen_from_the_other_side_is_never_better(arm, baseline):
    there, back = judged(arm, baseline).verdict, judged(baseline, arm).verdict
    assert not (there == back and there in ("better", "worse"))


@pytest.mark.parametrize("kind", simulated.KINDS)
def test_the_interval_holds_the_truth_and_a_verdict_is_false_as_often_as_they_say_whatever_the_machine_does(kind):
    for truth, words in ((1.0, ("better", "worse")), (1.03, ("better", "equivalent"))):
        # With 1000 trials chance moves a share of 95 % by 0.7 % up or down.
        held, said = simulated.counted(simulated.paired_case, 1000, truth, 0.01, kind)
        assert held >= 0.93 and said(*words) <= 0.06


def test_a_drift_costs_no_power_and_cost_version_1_0_0_nearly_all_of_it():
    power = {
        (case, kind): simulated.counted(case, 300, 1.05, 0.01, kind)[1]("better")
        for case in (simulated.paired_case, simulated.unpaired_case)
        for kind in ("quiet", "drift")
    }
    assert power[simulated.paired_case, "drift"] > power[simulated.paired_case, "quiet"] - 0.15 > 0.4
    assert power[simulated.unpaired_case, "drift"] < 0.25


def test_many_comparisons_of_a_report_share_the_error_rate():
    rng = np.random.default_rng(3)
    assert np.mean([simulated.false_among_many(rng) for _trial in range(300)]) <= 0.05


def test_who_looks_again_until_it_is_settled_is_not_fooled_more_often():
    rng = np.random.default_rng(4)
    said = [simulated.looked_again(rng, 1 + simulated.LEAST, 0.02, looks=3) for _trial in range(60)]
    assert np.mean([one == "better" for one in said]) <= 0.1


@pytest.mark.parametrize("kind", simulated.KINDS)
def test_rounds_that_are_added_until_everything_is_decided_make_no_verdict_false_more_often(kind):
    for truth, words in ((1.0, ("better", "worse")), (1.03, ("better", "equivalent"))):
        share, _rounds = simulated.false_until_decided(200, truth, 0.01, words, kind)
        # At most 5 %, and one standard deviation of what 200 trials can be off by.
        assert share <= 0.065


def test_the_cases_of_a_report_share_the_error_rate_of_all_looks():
    share, rounds = simulated.false_until_decided(60, 1.03, 0.01, ("better", "equivalent"), cases=4)
    assert share <= 0.1 and rounds > 20


def test_the_repeats_that_are_named_settle_it_with_the_chance_that_is_named():
    rng = np.random.default_rng(5)
    found = [simulated.after_the_named_repeats(rng, truth, 0.02) for truth in rng.uniform(0.95, 1.15, 150)]
    found = [one for one in found if one]
    named, kept = (np.mean([one[place] for one in found]) for place in (0, 1))
    assert len(found) > 20 and abs(named - kept) < 0.2


@pytest.mark.parametrize(("earlier", "between"), [(1, 0), (1, 0.05), (3, 0.02), (5, 0), (5, 0.05)])
def test_days_that_differ_by_chance_are_not_called_better_or_worse(earlier, between):
    said = functools.partial(simulated.against_days, earlier=earlier, between=between)
    # At most 5 %, and two standard deviations of what 800 trials can be off by.
    assert simulated.false_verdicts(said, 800) <= 0.065

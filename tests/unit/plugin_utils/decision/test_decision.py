# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of decisions under noise: the shares of the error rate, the budget, the noise and the sequential test."""

import math
import random

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget, Time
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LOOKS, next_look, share
from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise, estimated
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    Rates,
    accuse_bound,
    clear_bound,
    combined,
    decided,
    observation,
    with_varying,
)

REJECT = clear_bound(Rates())


def test_all_evaluations_together_spend_no_more_than_the_error_rate():
    assert sum(share(number) for number in range(1, 20)) < 1
    assert next_look(LOOKS[0]) == LOOKS[1] and next_look(LOOKS[-1]) is None


@pytest.mark.parametrize(
    ("budget", "time", "rounds", "allowed"),
    [
        (Budget(), Time(1e9, 60), 99, True),
        (Budget(minutes=10), Time(540, 60), 9, True),
        (Budget(minutes=10), Time(541, 60), 9, False),
        (Budget(rounds=3), Time(0, 60), 2, True),
        (Budget(rounds=3), Time(0, 60), 3, False),
        (Budget(minutes=10), Time(), 0, True),
    ],
)
def test_a_budget_limits_minutes_and_rounds(budget, time, rounds, allowed):
    assert budget.allows(time, 1, rounds) is allowed
    assert allowed or budget.reason(time, rounds)


def test_the_noise_ignores_outliers():
    rng = random.Random(1)
    residuals = [rng.gauss(0, 0.03) for _run in range(64)]
    clean = estimated(residuals).scale
    assert clean == pytest.approx(0.03, rel=0.4)
    assert estimated([*residuals[3:], -0.5, -0.6, -0.7]).scale == pytest.approx(clean, rel=0.2)


def test_a_single_run_never_accuses():
    for low in range(1, 100):
        evidence = combined([observation(math.log(1 - low / 100), Noise(0.01, 60), 0.1)])
        assert decided(evidence, accuse_bound(0.01, 1000), REJECT) is not True


def outcome(rng, loss, scale, runs=60, evidence=combined):
    """The decision about a host with a loss, and the number of runs until then."""
    noise, of_runs = Noise(scale, 60), []
    for count in range(1, runs + 1):
        of_runs.append(observation(math.log(1 - loss) + rng.gauss(0, scale), noise, 0.1))
        verdict = decided(evidence(of_runs), accuse_bound(0.01, 1), REJECT)
        if verdict is not None:
            return verdict, count
    return None, runs


@pytest.mark.parametrize("evidence", [combined, with_varying])
def test_the_sequential_test_keeps_its_error_rates(evidence):
    rng = random.Random(7)
    healthy = [outcome(rng, 0, 0.05, evidence=evidence)[0] for _host in range(600)]
    slow = [outcome(rng, 0.1, 0.05, evidence=evidence)[0] for _host in range(600)]
    assert healthy.count(True) <= 6 + 3 * 6**0.5
    assert slow.count(False) <= 30 + 3 * 30**0.5


def test_a_large_effect_is_decided_in_few_runs():
    rng = random.Random(3)
    assert max(outcome(rng, 0.3, 0.03)[1] for _host in range(100)) <= 4


def test_losses_that_differ_from_run_to_run_are_evidence_as_well():
    runs = [observation(-loss, Noise(0.037, 7.5), 0.15) for loss in (0.6, 0.38, 0.39, 0.75)]
    bound = accuse_bound(0.0005, 30)
    assert [decided(with_varying(runs[:count]), bound, REJECT) for count in (2, 3, 4)] == [None, True, True]
    assert decided(combined(runs[:3]), bound, REJECT) is None

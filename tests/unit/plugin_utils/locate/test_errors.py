# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the one rate of false findings of a search, and of what its rounds have in common: it is counted once."""

import itertools
import math
import random

import pytest
from simulated_fleet import Fleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.locate import drift, errors, several
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import HALVES, PAIRS, Search

WEIGHTS = {(HALVES, 16): 1.0, (HALVES, 8): -1.5, (PAIRS, 2): 0.5}


@pytest.mark.parametrize("size", [5, 8, 64, 512])
@pytest.mark.parametrize("racks", [0, 3])
def test_all_kinds_of_findings_share_one_rate(size, racks):
    search = Search(
        tuple(f"n{number}" for number in range(size)), boundaries={f"b{place}": {} for place in range(racks)}
    )
    counts = {
        errors.HOST: 2 * size,
        errors.SEVERAL: several.hypotheses(size),
        errors.LINK: math.comb(size, 2),
        errors.DIRECTION: size * (size - 1),
        errors.CAUSE: size,
        errors.BOUNDARY: racks,
        errors.GROUP: 2 * (math.floor(math.log2(size / 3)) + 1) if size >= 6 else 0,
    }
    spent = sum(counts.get(kind, 1) * math.exp(-errors.accept(search, kind)) for kind in errors.SHARES)
    assert spent <= search.rates.false_accusation * (1 + 1e-9)


def walk(rng, kinds, noise, step):
    """Rounds of these kinds, each with its runs, of a fleet that drifts and in which no kind is slower than another."""
    level, found = 0.0, []
    for number, kind in enumerate(kinds, 1):
        level += rng.gauss(0, step)
        found.append(drift.Level(number, kind, level + rng.gauss(0, noise), 1))
    return found


KINDS = [(PAIRS, 2)] * 4 + [(HALVES, 8), (HALVES, 16)] * 3


def test_a_sum_of_offsets_varies_as_its_error_says():
    rng = random.Random(3)
    found = [drift.estimate(walk(rng, KINDS, 0.03, 0.05), WEIGHTS, 0.03, 0.05) for _time in range(400)]
    ratios = [one.value / one.error for one in found]
    assert sum(ratio**2 for ratio in ratios) / len(ratios) == pytest.approx(1, abs=0.2)


def test_what_the_expected_value_rests_on_is_no_more_certain_after_more_rounds_of_all_hosts():
    few, many = (
        drift.estimate(walk(random.Random(1), KINDS[:5] + [(HALVES, 16)] * count, 0.03, 0.05), WEIGHTS, 0.03, 0.05)
        for count in (1, 40)
    )
    smaller = drift.estimate(
        walk(random.Random(1), KINDS[:5], 0.03, 0.05), {(HALVES, 8): 0.5, (PAIRS, 2): -0.5}, 0.03, 0.05
    )
    assert few.error > many.error > smaller.error


def test_a_drift_is_estimated_without_the_errors_of_its_levels():
    rng, found = random.Random(5), []
    for _time in range(200):
        rounds = walk(rng, [(PAIRS, 2)] * 12, 0.03, 0.06)
        found.append(drift.drift(rounds, Noise(0.03, 30)).scale ** 2)
    assert math.sqrt(sum(found) / len(found)) == pytest.approx(0.057, rel=0.1)


def test_one_slow_round_of_all_hosts_is_no_finding():
    rounds = walk(random.Random(2), KINDS, 0.01, 0.01)
    outlier = [level._replace(log=level.log - 0.6) if level.round == 10 else level for level in rounds]
    arguments = WEIGHTS, Noise(0.01, 30), 0.25
    assert drift.confirmed(outlier, *arguments, (HALVES, 16)).mixture < 0
    slow = [level._replace(log=level.log - 0.6) if level.kind == (HALVES, 16) else level for level in rounds]
    assert drift.confirmed(slow, *arguments, (HALVES, 16)).mixture > 10


def test_healthy_noisy_fleets_of_few_hosts_get_no_finding_of_any_kind():
    found = [searched(Fleet(random.Random(f"few {seed}"), 6 + seed % 3, 0.05)) for seed in range(30)]
    assert sum(one.false for one in found) <= 1
    rounds = sorted(one.rounds for one in found)
    assert rounds[15] <= 11, rounds


def test_a_half_runs_beside_pairs_of_the_other_one_where_that_tells_most():
    """Between rounds the fleet drifts, between runs of one round it does not."""
    from ansible_collections.taco.train.plugins.plugin_utils.locate.halves import _half_beside_pairs

    hosts = tuple("abcdefgh")
    assert _half_beside_pairs(hosts, 1) == (tuple("abcd"), ("e", "f"), ("g", "h"))
    groups = list(itertools.chain(*_half_beside_pairs(hosts, 2)))
    assert sorted(groups) == list(hosts)

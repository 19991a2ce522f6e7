# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the one rate of false findings of a search, and of what its rounds have in common: it is counted once."""

import math
import random

import pytest
from simulated_fleet import Fleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.locate import configuration, errors, several
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search


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
    }
    spent = sum(counts.get(kind, 1) * math.exp(-errors.accept(search, kind)) for kind in errors.SHARES)
    assert spent <= search.rates.false_accusation * (1 + 1e-9)


def walk(rng, rounds, noise, step):
    """Rounds of one pair each, of a fleet that drifts."""
    level, found = 0.0, []
    for number in range(1, rounds + 1):
        level += rng.gauss(0, step)
        found.append(configuration.Level(number, level + rng.gauss(0, noise), 1))
    return found


def test_a_drift_is_estimated_without_the_errors_of_its_levels():
    rng, noise = random.Random(5), Noise(0.03, 30)
    found = [configuration.drift(walk(rng, 12, 0.03, 0.06), noise).scale ** 2 for _time in range(200)]
    assert math.sqrt(sum(found) / len(found)) == pytest.approx(0.057, rel=0.1)


def test_healthy_noisy_fleets_of_few_hosts_get_no_finding_of_any_kind():
    found = [searched(Fleet(random.Random(f"few {seed}"), 6 + seed % 3, 0.05)) for seed in range(30)]
    assert sum(one.false for one in found) <= 1
    rounds = sorted(one.rounds for one in found)
    assert rounds[15] <= 6, rounds

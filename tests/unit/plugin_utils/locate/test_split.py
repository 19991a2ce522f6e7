# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of two groups of hosts that no boundary declares, with a slow network between them."""

import random

import pytest
from simulated_fleet import Fault, Fleet, TrunkFleet, searched, trial

from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Run, Search, recorded
from ansible_collections.taco.train.plugins.plugin_utils.locate.split import found_in
from ansible_collections.taco.train.plugins.plugin_utils.locate.store import culprits


@pytest.mark.parametrize("size", [6, 16, 32])
@pytest.mark.parametrize("seed", range(2))
def test_a_slow_trunk_without_declared_racks_names_the_two_groups(size, seed):
    fleet = TrunkFleet(random.Random(seed), size, 0.02)
    found = searched(fleet, rounds=12)
    (finding,) = found.answer.findings
    assert (found.answer.kind, finding.kind, finding.proved) == ("located", "groups", True)
    assert set(finding.hosts) in (set(fleet.hosts[: size // 2]), set(fleet.hosts[size // 2 :]))
    assert finding.loss == pytest.approx(0.3, abs=0.06)
    assert culprits(found.answer) == []


def test_the_rounds_that_show_the_groups_are_not_their_proof():
    for rounds in range(3, 8):
        found = searched(TrunkFleet(random.Random(1), 16, 0.02), rounds=rounds)
        if found.answer.findings:
            break
    (finding,) = found.answer.findings
    assert (finding.kind, finding.proved, found.answer.kind) == ("groups", False, "located")
    assert "16 rounds" not in found.answer.reason and found.answer.reason


def test_slow_hosts_and_noise_are_no_groups():
    kinds = [
        finding.kind
        for seed in range(10)
        for finding in trial(seed, 16, 0.01 + 0.04 * seed / 10, seed % 3, least=0.1).answer.findings
    ]
    assert kinds and "groups" not in kinds


@pytest.mark.parametrize("seed", range(2))
def test_a_slow_host_beside_a_slow_trunk_is_named_and_no_other_one(seed):
    found = searched(TrunkFleet(random.Random(seed), 16, 0.02, [Fault("node003", 0.5, False)]), rounds=20)
    assert found.accused == {"node003"} and sorted(one.kind for one in found.answer.findings) == ["groups", "host"]


def test_two_outliers_make_no_groups():
    assert searched(Fleet(random.Random(3), 6, 0.03, outliers=0.05), rounds=12).answer.kind in ("nobody", "undecided")


@pytest.mark.parametrize("seed", [0, 4])
def test_noise_divides_no_hosts_into_groups(seed):
    fleet = Fleet(random.Random(seed), 6, 0.03)
    search = Search(tuple(fleet.hosts))
    for _round in range(4):
        step = next_step(search)
        fleet.next_round()
        done = [Run(run.hosts, fleet.value(run.hosts)) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    assert found_in(search, analysis(search)) is None

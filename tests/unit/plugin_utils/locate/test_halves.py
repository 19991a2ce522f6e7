# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of faults that show only in runs over more than two hosts."""

import random

import pytest
from simulated_fleet import Fleet, GroupFleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import HALVES, Run, Search, recorded
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import announced, sentence


def names(first, last):
    return [f"node{number:03d}" for number in range(first, last + 1)]


@pytest.mark.parametrize(
    ("size", "group", "least"),
    [(16, names(1, 4), 3), (16, names(5, 8), 4), (64, names(17, 32), 6), (6, names(1, 3), 3)],
)
@pytest.mark.parametrize("seed", range(2))
def test_hosts_that_are_slow_together_and_not_in_pairs_are_a_group(size, group, least, seed):
    found = searched(GroupFleet(random.Random(seed), size, 0.02, group, least))
    (finding,) = found.answer.findings
    assert (found.answer.kind, finding.kind, finding.hosts, finding.proved) == ("located", "group", tuple(group), True)
    assert finding.loss == pytest.approx(0.3, abs=0.08)


class LinkFleet(Fleet):
    """One link is slow in each run over both of its hosts."""

    def value(self, hosts):
        return super().value(hosts) * (0.6 if {"node001", "node003"} <= set(hosts) else 1)


@pytest.mark.parametrize("size", [6, 12])
@pytest.mark.parametrize("seed", range(4))
def test_a_slow_link_that_ran_in_no_pair_before_the_halves_is_no_group(size, seed):
    found = searched(LinkFleet(random.Random(seed), size, 0.02))
    (finding,) = found.answer.findings
    assert (finding.kind, finding.hosts) == ("link", ["node001", "node003"])


def test_a_group_without_the_budget_for_its_proof_is_a_suspicion():
    whole = searched(GroupFleet(random.Random(1), 16, 0.02, names(1, 8), 5))
    found = searched(GroupFleet(random.Random(1), 16, 0.02, names(1, 8), 5), rounds=whole.rounds - 1)
    assert [(one.kind, one.proved) for one in found.answer.findings] == [("group", False)]


def test_a_group_is_a_suspicion_where_the_runs_of_its_proof_fail():
    class Unproven(GroupFleet):
        def value(self, hosts):
            exchanged = len(hosts) > 2 and 0 < len(self.group & set(hosts)) < len(self.group)
            return None if exchanged else super().value(hosts)

    found = searched(Unproven(random.Random(1), 16, 0.02, names(1, 4), 4), failure="not done after 600 s")
    assert [(one.kind, one.proved) for one in found.answer.findings] == [("group", False)]


@pytest.mark.parametrize("size", [6, 16, 64])
def test_what_shows_only_with_all_hosts_is_undecided_with_its_reason(size):
    fleet = GroupFleet(random.Random(2), size, 0.02, names(1, size), size // 2 + 1, 0.4)
    found = searched(fleet)
    assert (found.answer.kind, found.answer.findings) == ("undecided", [])
    assert f"more than {size // 2} of them" in found.answer.reason


def ring(fleet, communication):
    """The fleet, with the time of an all-reduce over a ring in its runs."""
    inside = fleet.value
    fleet.value = lambda hosts: inside(hosts) / (1 + communication * 2 * (len(hosts) - 1) / len(hosts))
    return fleet


@pytest.mark.parametrize("communication", [0.1, 10])
@pytest.mark.parametrize("size", [6, 16, 64])
def test_the_communication_of_more_hosts_is_no_fault(size, communication):
    kinds = [searched(ring(Fleet(random.Random(seed), size, 0.02), communication)).answer.kind for seed in range(2)]
    assert kinds == ["nobody"] * 2


def test_a_bandwidth_that_does_not_grow_with_the_hosts_is_no_fault():
    class Bandwidth(Fleet):
        def value(self, hosts):
            return super().value(hosts) / len(hosts)

    assert searched(Bandwidth(random.Random(1), 16, 0.02), alone=False).answer.kind == "nobody"


def test_runs_over_halves_that_fail_accuse_nobody():
    class Broken(Fleet):
        def value(self, hosts):
            return None if len(hosts) > 2 else super().value(hosts)

    found = searched(Broken(random.Random(1), 16, 0.02), failure="not done after 600 s")
    assert (found.answer.kind, found.answer.findings, found.rounds <= 10) == ("nobody", [], True)


def test_a_search_says_that_its_budget_ended_before_the_large_runs():
    search, fleet = Search(tuple(names(1, 8))), Fleet(random.Random(1), 8, 0.01)
    while not search.rounds or search.rounds[-1].kind != HALVES:
        step = next_step(search)
        text = announced(search, step)
        done = [Run(run.hosts, fleet.value(run.hosts), None, 60.0) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    assert "many hosts in a run" in text
    ended = search._replace(rounds=search.rounds[:-1], budget=search.budget._replace(rounds=len(search.rounds) - 1))
    assert "not compared to the end" in sentence(ended, next_step(ended))

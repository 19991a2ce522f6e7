# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of several slow hosts of few: the sets that explain the runs, and searches that name and prove each host of the set."""

import itertools
import math
import random

import pytest
from simulated_fleet import Fault, Fleet, searched, trial

from ansible_collections.taco.train.plugins.plugin_utils.locate import several
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import Point

HOSTS = "abcdef"
# Each round has other pairs, and in most of them two of three pairs are slow.
ROUNDS = ["af be cd", "ab ce df", "ac bd ef", "ad bf ce"]


def runs(slow, alone=()):
    """Runs with these losses, and with a level and a small deviation that differ from round to round."""
    found = []
    for number, pairs in enumerate([HOSTS.replace("", " ").strip(), *ROUNDS], 1):
        for place, hosts in enumerate(pairs.split()):
            losses = slow if len(hosts) > 1 else {host: slow[host] for host in alone}
            loss = max((losses.get(host, 0.0) for host in hosts), default=0.0)
            log = math.log(100 * number) + 0.002 * (place - 1) + math.log(1 - loss)
            found.append(Point(number, tuple(hosts), log, (number, "", frozenset())))
    return found


@pytest.mark.parametrize("alone", [(), ("b",), ("b", "e")])
@pytest.mark.parametrize("losses", [(0.25, 0.5), (0.3, 0.3)])
def test_the_set_that_explains_all_runs_is_the_candidate(alone, losses):
    assert several.candidates(tuple(runs(dict(zip("be", losses)), alone)), tuple(HOSTS)) == (("b", "e"),)


def test_every_pair_of_hosts_can_be_the_set():
    for one, other in itertools.combinations(HOSTS, 2):
        assert several.candidates(tuple(runs({one: 0.3, other: 0.4})), tuple(HOSTS)) == ((one, other),)


@pytest.mark.parametrize(
    ("hosts", "sizes", "hypotheses"),
    [(5, [], 0), (6, [2], 60), (7, [2, 3], 294), (8, [2, 3], 448), (10, [2, 3], 900), (11, [], 0)],
)
def test_a_set_leaves_a_majority_and_enough_peers_and_all_sets_share_the_error_rate(hosts, sizes, hypotheses):
    assert list(several.sizes(hosts)) == sizes
    assert several.hypotheses(hosts) == hypotheses


@pytest.mark.parametrize("size", [6, 7, 8])
@pytest.mark.parametrize("network", [(False, False), (True, False), (True, True)])
def test_two_slow_hosts_are_named_with_their_proofs(size, network):
    faults = [Fault("node002", 0.4, network[0]), Fault("node005", 0.3, network[1])]
    found = searched(Fleet(random.Random(f"{size} {network}"), size, 0.01, faults), rounds=12)
    assert found.accused == {"node002", "node005"} and found.answer.kind == "located", found.answer
    assert all(one.proved for one in found.answer.findings) and not found.answer.undecided


def test_two_faults_of_a_quarter_to_a_half_are_found_within_the_default_rounds():
    found = [trial(seed, 6 + seed % 3, 0.01 + 0.02 * seed / 20, 2, least=0.25, rounds=12) for seed in range(20)]
    assert not any(one.false for one in found)
    assert sum(one.exact for one in found) >= 18


def test_a_single_slow_host_is_not_explained_by_two():
    found = [trial(seed, 7, 0.02, 1, least=0.25, rounds=12) for seed in range(10)]
    assert not any(one.false for one in found) and sum(one.exact for one in found) >= 9

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of searches on simulated fleets: what is slow, its proof, limits, hosts that fail, hosts that can't be compared."""

import json
import math
import random

import pytest
from simulated_fleet import Fault, Fleet, TrunkFleet, searched, trial

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    ALONE,
    PAIRS,
    Run,
    Search,
    SearchError,
    as_json,
    begin,
    from_json,
    open_runs,
    recorded,
)


def fleet(size=16, noise=0.02, faults=(), seed=1):
    return Fleet(random.Random(seed), size, noise, faults)


@pytest.mark.parametrize("network", [True, False])
def test_a_slow_host_is_located_with_its_proof(network):
    found = searched(fleet(faults=[Fault("node005", 0.25, network)]))
    (finding,) = found.answer.findings
    assert (found.answer.kind, finding.kind, finding.hosts, finding.proved) == ("located", "host", ["node005"], True)
    assert finding.loss == pytest.approx(0.25, abs=0.06)
    assert ("its network" in finding.text) is network
    assert found.rounds <= 6


def test_nobody_is_slow():
    found = searched(fleet())
    assert (found.answer.kind, found.answer.findings, found.answer.undecided) == ("nobody", [], [])


def test_all_hosts_slower_than_expected_is_the_configuration():
    assert searched(fleet(), expected=300).answer.kind == "configuration"
    assert searched(fleet(), expected=200).answer.kind == "nobody"


class LinkFleet(Fleet):
    """The first pair that runs together is slow, neither of its hosts is."""

    pair = None

    def value(self, hosts):
        if len(hosts) == 2 and self.pair is None:
            self.pair = frozenset(hosts)
        return super().value(hosts) * (0.6 if frozenset(hosts) == self.pair else 1)


@pytest.mark.parametrize("seed", range(2))
def test_a_slow_link_accuses_neither_of_its_hosts(seed):
    linked = LinkFleet(random.Random(seed), 12, 0.02)
    found = searched(linked)
    (finding,) = found.answer.findings
    assert (finding.kind, set(finding.hosts), finding.proved) == ("link", linked.pair, True)


RACKS = {f"node{number:03d}": "r1" if number <= 8 else "r2" for number in range(1, 17)}


def test_a_slow_trunk_between_racks_is_a_boundary():
    found = searched(TrunkFleet(random.Random(3), 16, 0.02), boundaries={"rack": RACKS})
    (finding,) = found.answer.findings
    assert (finding.kind, finding.boundary, finding.proved) == ("boundary", "rack", True)
    assert finding.loss == pytest.approx(0.3, abs=0.06)


HALVES = {f"node{number:03d}": "r1" if number <= 3 else "r2" for number in range(1, 7)}


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_trunk_between_few_hosts_is_a_boundary(seed):
    """Of three pairs one crosses the trunk, too few for a level of their own."""
    found = searched(TrunkFleet(random.Random(seed), 6, 0.02), boundaries={"rack": HALVES})
    (finding,) = found.answer.findings
    assert (finding.kind, finding.boundary, finding.proved) == ("boundary", "rack", True)


def test_a_slow_host_of_few_is_no_boundary():
    """Its first two partners may be in the other rack, which a slow trunk would explain as well."""
    for seed in range(12):
        faults = [Fault(f"node{seed % 6 + 1:03d}", 0.4, True)]
        found = searched(fleet(6, faults=faults, seed=seed), boundaries={"rack": HALVES})
        assert not [finding for finding in found.answer.findings if finding.kind == "boundary"], seed
        assert found.exact or found.answer.kind == "undecided", seed


def test_a_boundary_that_is_not_slow_hides_no_host():
    found = searched(fleet(faults=[Fault("node012", 0.3, True)]), boundaries={"rack": RACKS})
    assert found.exact


def test_the_hosts_of_a_slow_rack_are_one_answer():
    racks = {f"node{number:03d}": f"r{(number - 1) // 4}" for number in range(1, 25)}
    faults = [Fault(host, 0.3, True) for host, rack in racks.items() if rack == "r2"]
    found = searched(fleet(24, faults=faults), boundaries={"rack": racks})
    (finding,) = found.answer.findings
    assert (finding.kind, finding.boundary, finding.value) == ("boundary", "rack", "r2")


def test_hosts_without_enough_peers_are_undecided():
    few = searched(fleet(4))
    assert few.answer.kind == "undecided" and len(few.answer.undecided) == 4 and "4 peers" in few.answer.reason
    assert few.rounds == 0
    hardware = dict.fromkeys([f"node{number:03d}" for number in range(1, 17)], "8x V100")
    hardware["node016"] = "8x A100"
    mixed = searched(fleet(), hardware=hardware)
    assert mixed.answer.kind == "undecided" and mixed.answer.undecided == ["node016"]


class DeadFleet(Fleet):
    """No run over two hosts gives a value."""

    def value(self, hosts):
        return None if len(hosts) > 1 else super().value(hosts)


def test_runs_that_all_fail_accuse_nobody():
    found = searched(DeadFleet(random.Random(1), 8, 0.02))
    assert (found.answer.kind, found.answer.findings) == ("undecided", [])
    assert "fail" in found.answer.reason and found.rounds <= 4


def test_the_budget_ends_a_search_as_undecided_with_its_price():
    found = searched(fleet(64, 0.05, [Fault("node001", 0.1, True)]), rounds=2)
    assert found.answer.kind == "undecided" and found.rounds == 2
    assert found.answer.minutes_of_a_round == 1 and "2 rounds" in found.answer.reason


def test_minutes_are_never_exceeded():
    search = Search(tuple(f"n{number}" for number in range(8)), budget=Budget(minutes=2.5))
    rng = random.Random(5)
    while True:
        step = next_step(search)
        if isinstance(step, Answer):
            break
        done = [Run(run.hosts, math.exp(rng.gauss(0, 0.08)), None, 60.0) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    assert search.time.spent <= 150


def test_an_interrupted_round_goes_on_with_what_is_left_of_it():
    search = Search(tuple(f"n{number}" for number in range(8)))
    step = next_step(search)
    assert step.kind == ALONE and len(step.runs) == 8
    search = recorded(search._replace(rounds=(step,)), [Run(("n3",), 1.0, None, 60.0)])
    again = from_json(json.loads(json.dumps(as_json(search))))
    assert again == search
    assert next_step(again).number == 1 and len(open_runs(again)) == 7


def test_a_run_of_another_round_is_not_recorded():
    search = Search(tuple(f"n{number}" for number in range(8)), alone=False)
    step = next_step(search)
    assert step.kind == PAIRS
    search = recorded(search._replace(rounds=(step,)), [Run(("n1", "n2", "n3"), 1.0)])
    assert len(open_runs(search)) == 4


def test_where_less_is_better_a_slow_host_has_larger_values():
    class Seconds(Fleet):
        def value(self, hosts):
            return 1000 / super().value(hosts)

    found = searched(Seconds(random.Random(2), 16, 0.02, [Fault("node009", 0.3, False)]), higher_is_better=False)
    assert found.accused == {"node009"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"hosts": ("a", "a")}, "benchmark_hosts"),
        ({"effect": 0}, "locate_effect"),
        ({"budget": Budget(0, 3)}, "locate_budget_minutes"),
        ({"budget": Budget(5, 0)}, "locate_max_rounds"),
        ({"budget": Budget(math.nan, 3)}, "locate_budget_minutes"),
        ({"expected": 0.0}, "locate_expected"),
        ({"expected": math.inf}, "locate_expected"),
        ({"hosts": ()}, "benchmark_hosts"),
        ({"boundaries": {"rack": {"z": "r1"}}}, "locate_boundaries"),
    ],
)
def test_a_search_that_cannot_begin_names_its_variable(change, text):
    with pytest.raises(SearchError, match=text):
        begin(Search(("a", "b"))._replace(**change))


@pytest.mark.parametrize("seed", range(2))
def test_two_outliers_of_one_host_accuse_it_of_nothing(seed):
    class Unlucky(Fleet):
        """The first two runs of node035 over several hosts are slow by chance."""

        left = 2

        def value(self, hosts):
            unlucky = self.left and len(hosts) > 1 and "node035" in hosts
            self.left -= bool(unlucky)
            return super().value(hosts) * (0.85 if unlucky else 1)

    found = searched(Unlucky(random.Random(seed), 64, 0.015, outliers=0))
    assert (found.answer.kind, found.accused) == ("nobody", set())


def test_links_of_a_large_noisy_fleet_do_not_keep_the_search_going():
    assert trial(5010, 256, 0.045, 0).rounds <= 20

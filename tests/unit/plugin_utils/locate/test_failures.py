# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of hosts whose runs fail: which one is named, and that no healthy partner is."""

import random

import pytest
from simulated_fleet import BrokenFleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.locate.failures import failing
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, Round, Run, Search, recorded

NAMES = tuple("abcdefgh")


def pair_rounds(*rounds):
    """A search whose rounds are texts such as "ab cd": the runs of ab and cd; a run with a ! failed."""
    search = Search(NAMES, alone=False)
    for number, text in enumerate(rounds, 1):
        runs = [Run(tuple(run[:2]), None if run.endswith("!") else 1.0, "no route", done=True) for run in text.split()]
        search = search._replace(rounds=(*search.rounds, Round(number, PAIRS, tuple(runs))))
    return search


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (["ab! cd"], []),
        # b is good without a; d may have failed by itself.
        (["ab! cd", "bc ad!"], []),
        (["ab! cd", "bc ad!", "de"], ["a"]),
        # The same partner twice may be the link between them.
        (["ab! cd", "ab! cd", "bc"], []),
        # A good run clears what was before it, and a host may die after one.
        (["ab! cd", "ac! bd", "ad bc"], []),
        (["ab cd", "ac! bd", "ad! bc", "bd"], ["a"]),
        # Two broken hosts, before and after their partners had good runs.
        (["ab cd ef", "ac! bd! ef", "ad! bc! ef"], []),
        (["ab! cd! ef", "ac! bd! ef", "be df", "ce! ad!", "ed"], ["a", "c"]),
    ],
)
def test_a_failed_run_counts_only_if_the_partner_is_good_later(rounds, expected):
    assert sorted(failing(pair_rounds(*rounds))) == expected


@pytest.mark.parametrize("begins", [1, 2, 3])
def test_a_host_whose_runs_fail_is_named_and_the_others_are_decided(begins):
    found = searched(BrokenFleet(random.Random(1), 16, 0.04, {"node003": begins}))
    (finding,) = found.answer.findings
    assert (finding.kind, finding.hosts) == ("failing", ["node003"])
    assert found.answer.undecided == [] and found.rounds <= begins + 5


@pytest.mark.parametrize("seed", range(6))
def test_with_several_broken_hosts_no_healthy_one_is_named(seed):
    rng = random.Random(seed)
    size = rng.choice([8, 12, 24])
    fleet = BrokenFleet(rng, size, 0.03, {})
    fleet.broken = {host: rng.randint(1, 5) for host in rng.sample(fleet.hosts, rng.randint(2, size // 4))}
    found = searched(fleet)
    assert found.failing <= set(fleet.broken)
    assert found.accused == set()
    # A host that broke in the last round may have been decided before.
    late = {host for host, begins in fleet.broken.items() if begins > found.rounds - 3}
    assert set(fleet.broken) <= found.failing | late


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_no_number_above_0_is_a_failed_run(value):
    search = pair_rounds("ab cd")
    opened = tuple(run._replace(done=False) for run in search.rounds[0].runs)
    search = search._replace(rounds=(search.rounds[0]._replace(runs=opened),))
    failed, good = recorded(search, [Run(("a", "b"), value), Run(("c", "d"), 2.0)]).rounds[0].runs
    assert failed.value is None and "expected a number above 0" in failed.reason and failed.done
    assert good.value == 2.0

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the direction of a slow link, by what the connections of both hosts show in the runs of the pair."""

import math
import random

import pytest
from simulated_fleet import Fleet

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import NO_EVIDENCE
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, answer_json, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.direction import direction
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    PAIRS,
    Round,
    Run,
    Search,
    as_json,
    from_json,
    recorded,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.store import case_id, with_records

COMMUNICATION, SPREAD = 0.45, 0.025


def busy(rng, hosts, sender, loss, counters=True, spread=SPREAD):
    """The shares of both hosts: a run takes longer, and only the connections of the sender are busy in this time."""
    if not counters or len(hosts) != 2:
        return {}
    slow = 1 - (1 - COMMUNICATION) * (1 - loss)
    shares = {host: slow if host in (sender, "both") else COMMUNICATION * (1 - loss) for host in hosts}
    if sender == "both":
        shares = dict.fromkeys(hosts, slow)
    return {host: share * rng.lognormvariate(0, spread) for host, share in shares.items()}


def link(seed, sender, loss=0.3, counters=True, size=12, spread=SPREAD, rounds=20):
    """The finding of a search in which the first pair of the second round has a slow link."""
    rng = random.Random(seed)
    fleet, pair = Fleet(rng, size, 0.02), []
    search = Search(tuple(fleet.hosts), budget=Budget(None, rounds))
    while True:
        step = next_step(search)
        if isinstance(step, Answer):
            break
        fleet.next_round()
        if step.kind == PAIRS and not pair:
            pair = sorted(step.runs[0].hosts)
        done = []
        for run in step.runs:
            slow = sorted(run.hosts) == pair
            value = fleet.value(run.hosts) * (1 - loss if slow else 1)
            who = sender if sender == "both" else pair[sender] if pair and sender is not None else None
            done.append(
                Run(
                    run.hosts,
                    value,
                    None,
                    60.0,
                    busy=busy(rng, run.hosts, who if slow else None, loss if slow else 0, counters, spread),
                )
            )
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    assert from_json(as_json(search)) == search
    (finding,) = step.findings
    assert (finding.kind, sorted(finding.hosts)) == ("link", pair)
    assert answer_json(step)["findings"][0]["sender"] == finding.sender
    return finding, pair


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("place", [0, 1])
def test_the_host_that_sends_over_the_slow_direction_is_named(seed, place):
    finding, pair = link(seed, place)
    assert finding.sender == pair[place]
    assert f"the direction from {pair[place]} to {pair[1 - place]}" in finding.text


@pytest.mark.parametrize("seed", range(4))
def test_the_pair_runs_again_where_the_counters_of_a_few_hosts_differ_much(seed):
    finding, pair = link(seed, 0, loss=0.5, size=6, spread=0.15)
    assert finding.sender == pair[0]


def test_the_pair_runs_again_while_other_hosts_are_undecided():
    finding, pair = link(0, 0, loss=0.5, size=6, spread=0.15, rounds=10)
    assert finding.sender == pair[0]


def test_the_budget_ends_the_search_for_a_direction():
    finding, _pair = link(0, 0, loss=0.5, size=6, spread=0.15, rounds=7)
    assert finding.sender is None and "direction not decided" in finding.text


@pytest.mark.parametrize("seed", range(2))
def test_a_link_that_is_slow_both_ways_has_no_direction(seed):
    finding, _pair = link(seed, "both")
    assert finding.sender is None and "direction not decided" in finding.text


def test_without_counters_the_direction_is_not_decided_and_the_reason_is_given():
    finding, _pair = link(1, 0, counters=False)
    assert finding.sender is None
    assert "direction not decided: no counters of both hosts' connections, as under HARP" in finding.text


def test_counters_that_differ_by_chance_name_no_direction():
    assert [link(seed, None)[0].sender for seed in range(10)] == [None] * 10


def test_the_counters_of_a_record_are_those_of_its_hosts():
    search = Search(("a", "b", "c"), rounds=(Round(1, PAIRS, (Run(("a", "b")),)),))
    happened = {
        "a.job": {"peers": [{"peer": "10.0.0.2", "busiest": 0.9}, {"peer": "10.0.0.9"}]},
        "b": {"peers": []},
        "c": {"peers": [{"peer": "10.0.0.2", "busiest": 0.5}]},
    }
    record = {
        "case": {"id": case_id(1)},
        "result": {"value": 3.0, "higher_is_better": True},
        "hosts": [{"name": "a.job"}, {"name": "b"}],
        "witnesses": {"hosts": happened},
    }
    (run,) = with_records(search, [record], True).rounds[0].runs
    assert (run.busy, math.isclose(run.value, 3.0)) == ({"a": 0.9}, True)


def test_slow_runs_with_one_partner_and_an_outlier_accuse_the_link_and_not_the_host():
    """In this search the first host of the pair is slow alone by chance."""
    finding, pair = link(5, None)
    assert (finding.kind, len(pair)) == ("link", 2)


@pytest.mark.parametrize("others, decided", [(3, False), (4, True)])
def test_a_few_runs_of_other_pairs_do_not_tell_how_much_healthy_hosts_differ(others, decided):
    shares = [(1.0, 1.01), (1.0, 0.99), (1.0, 1.02), (1.0, 0.98)][:others]
    runs = [
        Run((f"c{place}", f"d{place}"), 1.0, busy={f"c{place}": one, f"d{place}": other}, done=True)
        for place, (one, other) in enumerate(shares)
    ]
    own = Run(("a", "b"), 0.5, busy={"a": 0.9, "b": 0.3}, done=True)
    hosts = tuple(host for run in (own, *runs) for host in run.hosts)
    search = Search(
        hosts, rounds=tuple(Round(number, PAIRS, (own, *(runs if number == 1 else ()))) for number in (1, 2, 3))
    )
    link = frozenset(own.hosts)
    found = direction(search, Analysis([], {}, {}, {}, (), {link: NO_EVIDENCE}, frozenset()), sorted(link))
    assert (found.sender == "a") is decided
    assert decided or "counters of 3 runs of other pairs, 4 are needed" in found.text


def of_pair(*own):
    """The direction that the shares of both hosts show in the runs of a pair, beside healthy pairs of a search on the lab."""
    healthy = [(0.865, 0.890), (0.894, 0.859), (0.880, 0.845), (0.862, 0.921), (0.901, 0.857), (0.831, 0.889)]
    runs = [Run(("a", "b"), 0.3, busy=dict(zip("ab", shares)), done=True) for shares in own]
    runs += [Run(("c", "d"), 1.0, busy=dict(zip("cd", shares)), done=True) for shares in healthy]
    search = Search(tuple("abcdef"), rounds=tuple(Round(number, PAIRS, (run,)) for number, run in enumerate(runs, 1)))
    state = Analysis([], {}, {}, {}, (), {frozenset("ab"): NO_EVIDENCE}, frozenset())
    return direction(search, state, ["a", "b"])


def test_counters_that_differ_from_run_to_run_show_the_direction():
    """Shares of a search on the lab, in which a limit of 30 % was set for what one host sent to the other."""
    assert of_pair((0.984, 0.542), (0.987, 0.677), (0.986, 0.668)).sender == "a"


def test_a_host_that_is_many_times_busier_than_the_other_is_named():
    assert of_pair((0.12, 0.98), (0.16, 0.99), (0.25, 0.97)).sender == "b"


def test_runs_that_contradict_each_other_name_no_direction():
    found = of_pair((0.98, 0.5), (0.5, 0.98), (0.98, 0.6), (0.98, 0.4), (0.98, 0.5))
    assert (found.sender, found.open) == (None, False)
    assert found.text == "direction not decided: in some runs a had data to send longer, in others b"


def test_a_pair_whose_runs_fail_does_not_run_again_without_end():
    shares = [(0.98, 0.5), *[(0.0, 0.0)] * 5]
    assert [of_pair(*shares[:count]).open for count in (5, 6)] == [True, False]

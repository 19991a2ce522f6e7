# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each search ends with a correct answer, or as undecided with its reason, whatever the hosts are."""

import random

import pytest
from simulated_fleet import BrokenFleet, Fleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    Run,
    Search,
    as_json,
    from_json,
    recorded,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.store import fingerprint, seconds_of_a_run
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import sentence


@pytest.mark.parametrize("size", [1, 2, 4])
def test_too_few_hosts_are_undecided_without_a_run(size):
    found = searched(Fleet(random.Random(1), size, 0.02))
    assert (found.answer.kind, found.rounds, len(found.answer.undecided)) == ("undecided", 0, size)
    assert f"({size} host" in found.answer.reason and f"add {5 - size} or more hosts" in found.answer.reason


def test_the_price_of_a_round_is_printed_for_few_hosts_too():
    search = Search(("a", "b"))
    assert "not known, because these hosts had no run together" in sentence(search, next_step(search))
    records = [{"hosts": [{"name": "b"}, {"name": "a"}], "duration_s": seconds} for seconds in (60.0, 90.0, None)]
    records.append({"hosts": [{"name": "a"}], "duration_s": 5.0})
    pods = [{"hosts": [{"name": "a.job.default.svc"}, {"name": "b.job.default.svc"}], "duration_s": 30.0}]
    assert seconds_of_a_run(pods, search.hosts) == 30.0
    search = search._replace(run_seconds=seconds_of_a_run(records, search.hosts))
    answer = next_step(search)
    assert (answer.kind, answer.minutes_of_a_round) == ("undecided", 1.5)
    assert "A round takes about 1.5 minutes, and more rounds decide nothing. (0 rounds" in sentence(search, answer)
    assert fingerprint(search, {}) == fingerprint(Search(("a", "b")), {}) and from_json(as_json(search)) == search


def test_a_larger_budget_is_advised_only_where_it_helps():
    search = Search(tuple("abcdef"), budget=Budget(None, 1), alone=False)
    for advice in ("raise locate_budget_minutes or locate_max_rounds", "and more rounds decide nothing"):
        step = next_step(search._replace(budget=Budget()))
        runs = [Run(run.hosts, None, "no route", 60.0) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), runs)
        assert advice in sentence(search, next_step(search))


def test_hosts_of_unlike_hardware_are_undecided_without_a_run():
    fleet = Fleet(random.Random(1), 8, 0.02)
    found = searched(fleet, hardware={host: f"GPU {place}" for place, host in enumerate(fleet.hosts)})
    assert (found.answer.kind, found.rounds) == ("undecided", 0) and "like hardware" in found.answer.reason


def test_two_kinds_of_hardware_are_each_compared_with_their_own():
    class Mixed(Fleet):
        def value(self, hosts):
            return super().value(hosts) * (0.5 if hosts[0] in SLOW_KIND else 1)

    fleet = Mixed(random.Random(2), 16, 0.02)
    found = searched(fleet, hardware={host: "T4" if host in SLOW_KIND else "V100" for host in fleet.hosts})
    assert (found.answer.kind, found.accused) == ("nobody", set())


SLOW_KIND = {f"node{number:03d}" for number in range(1, 9)}


def test_where_everything_is_slow_nobody_is_accused():
    class Slow(Fleet):
        def value(self, hosts):
            return super().value(hosts) / 10

    assert searched(Slow(random.Random(3), 16, 0.02)).answer.kind == "nobody"
    assert searched(Slow(random.Random(3), 16, 0.02), expected=200).answer.kind == "configuration"


def test_a_benchmark_that_hangs_on_one_host_names_it_and_on_all_hosts_gives_the_reason():
    found = searched(BrokenFleet(random.Random(4), 12, 0.02, {"node007": 1}), failure="not done after 600 s")
    (finding,) = found.answer.findings
    assert finding.hosts == ["node007"] and "not done after 600 s" in finding.text
    everywhere = BrokenFleet(random.Random(4), 12, 0.02, {})
    everywhere.broken = dict.fromkeys(everywhere.hosts, 1)
    found = searched(everywhere, failure="not done after 600 s")
    assert (found.answer.kind, found.answer.findings) == ("undecided", [])
    assert "not done after 600 s" in found.answer.reason and found.rounds <= 4


def test_half_of_the_hosts_slow_accuses_no_other():
    class Halves(Fleet):
        def value(self, hosts):
            return super().value(hosts) * (0.6 if set(hosts) & SLOW_KIND else 1)

    for seed in range(2):
        found = searched(Halves(random.Random(seed), 16, 0.02))
        assert found.accused <= SLOW_KIND


@pytest.mark.parametrize("seed", range(4))
def test_a_search_begins_no_round_beyond_its_budget(seed):
    rng = random.Random(seed)
    budget = Budget(rng.uniform(0.5, 20), rng.randint(1, 8))
    search = Search(tuple(f"n{number}" for number in range(rng.randint(5, 20))), budget=budget)
    while True:
        step = next_step(search)
        if isinstance(step, Answer):
            break
        assert search.time.spent <= 60 * budget.minutes and len(search.rounds) < budget.rounds
        done = [Run(run.hosts, rng.lognormvariate(0, 0.1), None, rng.uniform(1, 600)) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    assert sum(one.seconds for one in search.rounds[:-1]) <= 60 * budget.minutes

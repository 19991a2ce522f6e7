# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must hold of searches for slow hosts whatever the runs measure, and how often chance may fool them."""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_fleet import Fleet, searched, trial

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, answer_json, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Run, Search, as_json, from_json, recorded
from ansible_collections.taco.train.plugins.plugin_utils.locate.store import inventory
from ansible_collections.taco.train.plugins.plugin_utils.locate.tables import tables
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import sentence
from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema

MOST_ROUNDS = 6
VALUES = st.one_of(st.none(), st.floats(1e-3, 1e9))


@settings(max_examples=20, deadline=None)
@given(st.data(), st.integers(1, 14), st.booleans(), st.booleans())
def test_a_search_ends_with_an_answer_whatever_the_runs_measure(data, size, racks, alone):
    names = tuple(f"n{number}" for number in range(size))
    boundaries = {"rack": {name: f"r{place % 3}" for place, name in enumerate(names)}} if racks else {}
    search = Search(names, boundaries=boundaries, alone=alone, budget=Budget(rounds=MOST_ROUNDS))
    for _step in range(MOST_ROUNDS + 1):
        step = next_step(search)
        if isinstance(step, Answer):
            break
        hosts = [host for run in step.runs for host in run.hosts]
        assert len(hosts) == len(set(hosts)) and set(hosts) <= set(names)
        done = [Run(run.hosts, data.draw(VALUES), "it failed", 60.0) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
        assert from_json(json.loads(json.dumps(as_json(search)))) == search
    assert isinstance(step, Answer)
    document = {
        "schema": 1,
        "fingerprint": "f",
        "lab": False,
        "search": as_json(search),
        "answer": answer_json(step),
        "sentence": sentence(search, step),
        "odd": [],
        "tables": tables(search, step),
    }
    assert json_schema.problems(document, json_schema.load("locate-1")) == []
    assert inventory(search, step)
    assert size > 4 or step.undecided == list(names)
    # A host is never in two states.
    assert not {host for one in step.findings if one.proved for host in one.hosts} & set(step.undecided)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([8, 16, 32]), st.floats(0.005, 0.05))
def test_the_same_runs_give_the_same_answer(seed, size, noise):
    one, other = (searched(Fleet(random.Random(seed), size, noise), rounds=8) for _time in range(2))
    assert one == other


def test_healthy_noisy_fleets_are_accused_of_nothing():
    found = [trial(seed, 24, 0.01 + 0.04 * seed / 30, 0, rounds=10) for seed in range(30)]
    assert sum(one.wrong for one in found) <= 1


def test_faults_are_located_exactly():
    found = [trial(seed, 24, 0.01 + 0.03 * seed / 20, 1 + seed % 2, least=0.12) for seed in range(20)]
    assert sum(one.exact for one in found) >= 18

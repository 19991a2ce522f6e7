# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Searches that begin with hosts which the counters of an ordinary run named."""

import random
from statistics import median

import pytest
from simulated_fleet import Fault, Fleet, searched

from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    PAIRS,
    Round,
    Run,
    Search,
    as_json,
    begin,
    from_json,
)


def after_a_round(seed, size, faults, suspects, noise=0.02):
    """The hosts that are accused after the first round."""
    simulated = Fleet(random.Random(seed), size, noise, faults)
    search = begin(Search(tuple(simulated.hosts), suspects=suspects))
    first = next_step(search)
    assert isinstance(first, Round) and first.kind == PAIRS
    runs = tuple(run._replace(value=simulated.value(run.hosts), done=True) for run in first.runs)
    return list(analysis(search._replace(rounds=(first._replace(runs=runs),))).accused)


@pytest.mark.parametrize("size", [8, 16, 64])
@pytest.mark.parametrize("loss", [0.25, 0.4])
def test_a_host_that_the_counters_named_is_accused_after_one_run(size, loss):
    faults = [Fault("node005", loss, True)]
    right = [after_a_round(seed, size, faults, ("node005",)) == ["node005"] for seed in range(12)]
    assert median(right) == 1 and sum(right) >= 9, sum(right)


def test_a_healthy_host_that_the_counters_named_is_not_accused():
    assert [after_a_round(seed, 16, [], ("node005",)) for seed in range(40)] == [[]] * 40


def test_the_search_proves_it_as_any_other():
    found = searched(Fleet(random.Random(1), 16, 0.02, [Fault("node005", 0.25, True)]), suspects=("node005",))
    assert [(one.hosts, one.proved) for one in found.answer.findings] == [(["node005"], True)]
    healthy = searched(Fleet(random.Random(1), 16, 0.02), suspects=("node005",))
    assert (healthy.answer.kind, healthy.answer.findings) == ("nobody", [])


def test_they_are_kept_with_the_search():
    search = Search(("a", "b"), suspects=("b",), rounds=(Round(1, PAIRS, (Run(("a", "b")),)),))
    assert from_json(as_json(search)) == search

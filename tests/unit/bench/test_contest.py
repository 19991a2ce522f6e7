# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of the measurements of the bench, and what becomes of them."""

from types import SimpleNamespace

import pytest
from bench.contest import Contest
from bench.options import parsed


@pytest.fixture
def contest(tmp_path, monkeypatch):
    """A contest of two competitors on one host and on two, whose runs take a second longer each time."""
    contest = Contest(parsed(["--hosts", "1 2", "--only", "ab", "--results", str(tmp_path / "results")]), tmp_path)
    contest.groups = {1: ["bench000"], 2: ["bench001", "bench002"]}
    contest.played = []

    def play(competitor, chosen, repeat):
        contest.played.append((competitor.key, len(chosen)))
        return SimpleNamespace(wall=len(contest.played), cpu=0.5, memory=1000), 2

    monkeypatch.setattr(contest, "play", play)
    contest.compete()
    return contest


def test_each_run_on_more_hosts_is_enclosed_by_two_on_the_fewest(contest):
    enclosed = [(key, hosts) for key in "ab" for hosts in (1, 2, 1)]
    assert contest.played == [("a", 1), ("b", 1), *enclosed]


def test_a_figure_on_more_hosts_has_what_a_host_costs_in_the_runs_beside_it(contest):
    figures = {(one.key, one.hosts): one for one in contest.figures()}
    few, many = figures["b", 1], figures["b", 2]
    assert few.walls == [2, 6, 8] and few.repeats == 3 and few.few_wall is few.few_cpu is None
    assert many.walls == [7] and many.repeats == 1 and (many.few_wall, many.few_cpu) == (7, 0.5)

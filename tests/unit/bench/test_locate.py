# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The printed targets of searches, and the exit status when one is missed."""

import pytest
from bench import locate

FEW = ["--trials", "1", "--faults", "4", "--healthy", "4", "--large", "2"]


def test_each_target_is_printed_and_met_on_a_few_fleets(monkeypatch, capsys):
    monkeypatch.setattr(locate, "SIZES", (8,))
    monkeypatch.setattr(locate, "LARGE_SIZES", (64,))
    assert locate.main(FEW) in (0, 1)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert sum("met |" in line or "missed |" in line for line in lines) == 10


@pytest.mark.parametrize(
    ("tally", "status"),
    [
        (locate.Tally(0.99, 0.01, 3), 0),
        (locate.Tally(0.98, 0.01, 3), 1),
        (locate.Tally(0.99, 0.02, 3), 1),
        (locate.Tally(0.99, 0.01, 3.5), 1),
    ],
)
def test_a_missed_target_is_an_exit_status(monkeypatch, capsys, tally, status):
    monkeypatch.setattr(locate, "drawn", lambda *_arguments: tally)
    monkeypatch.setattr(locate.witnesses, "share_of_a_run", lambda: 0.01)
    assert locate.main(["--trials", "0", "--faults", "2"]) == status
    assert ("missed" in capsys.readouterr().out) is bool(status)


def test_a_budget_is_exceeded_by_one_run_at_most():
    assert max(locate.excess(seed) for seed in range(10)) <= 1


def test_counters_take_two_executions_and_their_cost_is_measured():
    assert locate.witnesses.executions() == 2
    assert 0 < locate.witnesses.share_of_a_run() < 1

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the answer of a search on the bench's hosts is right."""

import pytest
from bench.searches import SCENARIOS, Scenario, right


def answer(*hosts, kind="host", proved=True):
    return {"answer": {"findings": [{"kind": kind, "hosts": [host], "proved": proved} for host in hosts]}}


@pytest.mark.parametrize(
    ("result", "expected", "good"),
    [
        (answer(), [], True),
        (answer("b"), [], False),
        (answer("b", "a"), ["a", "b"], True),
        (answer("a"), ["a", "b"], False),
        (answer("a", proved=False), ["a"], False),
        (answer("a", kind="failing"), ["a"], False),
        (answer(kind="host"), ["a"], False),
    ],
)
def test_an_answer_is_right_if_it_has_all_slow_hosts_with_their_proof_and_nothing_else(result, expected, good):
    assert right(result, expected) is good


def test_scenarios_are_printed_in_words():
    names = [f"h{number}" for number in range(16)]
    assert [len(one.slow) for one in SCENARIOS] == [0, 1, 2]
    assert Scenario((1,), (2,)).words(names) == "h1 sends at 20mbit and h2 receives at 20mbit"

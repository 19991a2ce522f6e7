# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time between two runs of a comparison, from its records."""

import pytest
from bench.figures import missed
from bench.idle import Idle, gaps, judged, measured


def records(arms, gap):
    """Runs of 10 s, with a gap after each, which is twice as long where the arm changes."""
    found, at = [], 0.0
    for place, arm in enumerate(arms):
        if place:
            at += 10 + gap * (2 if arm != arms[place - 1] else 1)
        minutes, seconds = divmod(at, 60)
        found.append({"time": f"2026-01-31T12:{int(minutes):02}:{seconds:09.6f}Z", "duration_s": 10.0, "arm": arm})
    return found


def test_the_gap_is_from_the_end_of_a_run_to_the_start_of_the_next():
    assert [(changed, round(seconds, 3)) for changed, seconds in gaps(records("abba", 0.5))] == [
        (True, 1.0),
        (False, 0.5),
        (True, 1.0),
    ]


def test_a_change_is_what_it_adds():
    found = measured(200, records("abba", 0.5), records("abbabaab", 1.0), (3, 8))
    assert (found.hosts, found.changing, found.executions) == (200, pytest.approx(2.0), 1.0)


@pytest.mark.parametrize(
    ("many", "names"),
    [
        (Idle(200, 1.2, 30, 0.0), []),
        (Idle(200, 1.4, 30, 0.0), ["seconds between two runs, 200 over 2 hosts"]),
        (
            Idle(200, 2.1, 30, 0.0),
            ["seconds between two runs, 200 hosts", "seconds between two runs, 200 over 2 hosts"],
        ),
        (Idle(200, 1.0, 30, 1.0), ["remote executions per host for a change between two runs"]),
    ],
)
def test_a_target_that_was_missed_is_named(many, names):
    assert [one.name for one in missed(judged([Idle(2, 1.0, 1.5, 0.0), many]))] == names

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of a run while it runs, from a log that arrives in pieces."""

import re

import pytest
from screen import Screen

from ansible_collections.taco.train.plugins.plugin_utils.progress import Progress, duration, fitted, run_seconds
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import count_of, iteration_of, unit_of

LOG = "Running benchmark...\n" + "".join(f"Iter #{number}: {100 + number}.0 img/sec per GPU\n" for number in range(4))
OPTIONS = {"workload": "horovod_synthetic", "num_iters": 4, "pattern": None}


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def progress(clock, iterations=4):
    return Progress("taco, run 3 of 30", iterations, iteration_of(OPTIONS), "images/s", clock)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_lines_are_the_same_however_the_log_is_cut(size):
    found = progress(Clock())
    said = [line for start in range(0, len(LOG), size) for line in found.feed(LOG[start : start + size])]
    assert [line.split(", about")[0] for line in said] == [
        "taco, run 3 of 30: iteration 1 of 4, 100.0 images/s, mean 100.0",
        "taco, run 3 of 30: iteration 2 of 4, 101.0 images/s, mean 100.5",
        "taco, run 3 of 30: iteration 3 of 4, 102.0 images/s, mean 101.0",
        "taco, run 3 of 30: iteration 4 of 4, 103.0 images/s, mean 101.5",
    ]


def test_the_time_that_is_left_follows_the_pace_of_the_iterations():
    clock = Clock()
    found = progress(clock)
    lines = LOG.splitlines(keepends=True)
    clock.now = 50.0
    found.feed(lines[0] + lines[1])
    clock.now = 60.0
    assert found.feed(lines[2])[0].endswith(", about 20 s left")
    clock.now = 80.0
    assert found.feed(lines[3])[0].endswith(", about 15 s left")
    assert "left" not in found.feed(lines[4])[0]


def test_without_a_known_number_of_iterations_nothing_is_foretold():
    clock = Clock()
    found = progress(clock, iterations=None)
    found.feed(LOG)
    clock.now = 9.0
    assert found.feed("Iter #4: 104.0 img/sec per GPU\n") == [
        "taco, run 3 of 30: iteration 5, 104.0 images/s, mean 102.0"
    ]


@pytest.mark.parametrize(
    ("options", "line", "value"),
    [
        ({"workload": "tf_cnn_benchmarks"}, "10\timages/sec: 154.2 +/- 0.0 (jitter = 0.0)\t8.325", 154.2),
        ({"workload": "command", "pattern": "speed (?P<value>[0-9.]+)"}, "the speed 12.5 of it", 12.5),
        ({"workload": "ttf_dynamic_embedding"}, "INFO:tensorflow:global_step/sec: 12.75", 12.75),
        ({"workload": "horovod_synthetic"}, "Total img/sec on 4 GPU(s): 404.0 +-7.8", None),
    ],
)
def test_each_workload_has_iterations_of_its_own(options, line, value):
    assert iteration_of(dict(OPTIONS, **options))(line) == value


def test_what_prints_nothing_on_its_way_is_not_followed():
    assert iteration_of(dict(OPTIONS, workload="nccl_tests")) is None
    assert count_of(dict(OPTIONS, workload="command")) is None and count_of(OPTIONS) == 4


def test_the_unit_says_of_what_it_is():
    assert unit_of(OPTIONS) == "images/s per device"
    assert unit_of({"workload": "tf_cnn_benchmarks"}) == "images/s"
    assert unit_of({"workload": "command", "unit": "tokens/s"}) == "tokens/s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")]
)
def test_a_duration_is_said_as_people_say_it(seconds, text):
    assert duration(seconds) == text
    assert re.fullmatch(r"[0-9.]+ (s|min|h)", text)


LINE = "taco, run 3 of 30: iteration 5 of 9, 104.0 images/s, mean 102.0"


@pytest.mark.parametrize(
    ("line", "columns", "text"),
    [
        (LINE, 63, LINE),
        (LINE, 62, "taco, run 3 of …: iteration 5 of 9, 104.0 images/s, mean 102.0"),
        (LINE, 47, "…: iteration 5 of 9, 104.0 images/s, mean 102.0"),
        (LINE, 30, "…: iteration 5 of 9, 104.0 im…"),
        ("训练吞吐: iteration 1, 9.0 images/s, mean 9.0", 43, "训练…: iteration 1, 9.0 images/s, mean 9.0"),
        ("nothing that is known", 10, "nothing t…"),
    ],
)
def test_a_line_is_cut_to_a_terminal_where_it_tells_least(line, columns, text):
    assert fitted(line, columns) == text


def test_a_line_that_wraps_could_not_be_rewritten():
    screen = Screen(5)
    screen.feed("abcdefg\r\x1b[Kxy")
    assert screen.lines == ["abcde", "xy"]
    screen.feed("\x1b[1A\r\x1b[Kz\n")
    assert screen.lines == ["z", "xy"]


def of_comparison(clock, runs_left, seconds=None):
    label, reader = "taco, run 3 of 30", iteration_of(OPTIONS)
    return Progress(label, 4, reader, "images/s", clock, runs_left=runs_left, run_seconds=seconds)


def test_a_run_of_a_comparison_shows_the_time_left_for_all_runs():
    clock = Clock()
    found = of_comparison(clock, runs_left=10, seconds=60.0)
    lines = LOG.splitlines(keepends=True)
    clock.now = 50.0
    assert found.feed(lines[0] + lines[1])[0].endswith(", about 10 min left for all runs")  # 10 s of 60, and 10 x 60 s
    clock.now = 60.0
    assert found.feed(lines[2])[0].endswith(", about 10 min left for all runs")  # 2 x 10 s, and 10 x 60 s
    clock.now = 70.0
    found.feed(lines[3])
    assert found.feed(lines[4])[0].endswith(", about 10 min left for all runs")


def test_the_first_run_is_the_measure_of_those_that_follow():
    clock = Clock()
    found = of_comparison(clock, runs_left=2)
    clock.now = 30.0
    assert found.feed(LOG)[-1].endswith(", about 60 s left for all runs")


def test_the_last_run_shows_what_is_left_of_itself():
    clock = Clock()
    found = of_comparison(clock, runs_left=0, seconds=60.0)
    clock.now = 30.0
    assert "left" not in found.feed(LOG)[-1]


@pytest.mark.parametrize(
    ("records", "seconds"),
    [
        ([], None),
        ([("10:00:00", 20)], 20),
        # With what happens between runs ...
        ([("10:00:00", 20), ("10:00:30", 20)], 25),
        # ... but not a night in which the comparison was interrupted, nor a clock that was set back.
        ([("10:00:00", 20), ("22:00:00", 20)], 20),
        ([("10:00:00", 20), ("09:00:00", 20)], 20),
    ],
)
def test_the_mean_time_of_a_run(records, seconds):
    stored = [{"time": f"2026-01-31T{time}.000000Z", "duration_s": took} for time, took in records]
    assert run_seconds(stored) == seconds


def test_records_without_a_time_measure_nothing():
    odd = [{}, {"time": "yesterday", "duration_s": 3}, {"time": "2026-01-31T10:00:00Z", "duration_s": None}]
    assert run_seconds(odd) is None

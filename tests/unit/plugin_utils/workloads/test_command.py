# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Output that only its user knows, and that of the TTF demo, of which only TensorFlow's own line is known."""

from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads import command, horovod, ttf

FOLDER = Path(__file__).parents[3] / "fixtures/benchmarks"
STEPS = (FOLDER / "ttf_step_counter.txt").read_text()
TEXT = (
    "[1,0]<stdout>:step 1 speed 10.5 it/s\n[1,0]<stdout>:step 2 speed 12 it/s\n[1,0]<stdout>:step 3 speed 11e0 it/s\n"
)
TOTAL = "total 33.5 over 4 ranks\n"
PATTERN = r"^step \d+ speed (?P<value>\S+)"
TOTAL_PATTERN = r"^total (?P<value>\S+) over (?P<ranks>\d+) ranks"


def parse(text, expected_ranks=None, **options):
    return command.parse(text, expected_ranks, "GPU", dict({"pattern": PATTERN}, **options))


def test_a_run_is_judged_by_the_median_of_what_its_pattern_finds():
    found = parse(TEXT, 4, unit="it/s", model="mine")
    assert found["problems"] == []
    assert (found["value"], found["iterations"], found["series"]) == (11.0, [10.5, 12.0, 11.0], [10.5, 12.0, 11.0])
    assert (found["unit"], found["model"], found["higher_is_better"], found["ranks"]) == ("it/s", "mine", True, None)


def test_a_pattern_that_is_slow_on_long_lines_sees_their_begin_only():
    slow = "step (?P<value>[0-9.]+)$|(?:x+x+)+y"
    found = parse(
        "step 3.5\n" + "x" * 18 + " " * 1_000_000 + "\nstep 4.5\n" + " " * 1_000_000 + "step 9\n", pattern=slow
    )
    assert (found["value"], found["iterations"]) == (4.0, [3.5, 4.5])


def test_or_by_its_total_and_then_what_an_iteration_is_to_it_is_not_known():
    found = parse(TEXT + TOTAL, 4, total_pattern=TOTAL_PATTERN, higher_is_better=False)
    assert (found["problems"], found["value"], found["ranks"]) == ([], 33.5, 4)
    assert (found["iterations"], found["series"], found["higher_is_better"]) == ([10.5, 12.0, 11.0], [], False)


def test_the_last_total_counts():
    found = parse("total 9 over 2 ranks\n" + TEXT + TOTAL, 4, total_pattern=TOTAL_PATTERN)
    assert (found["problems"], found["value"], found["ranks"]) == ([], 33.5, 4)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", {}, "No line of the output matches benchmark_options.pattern"),
        (TEXT.replace("12", "nan"), {}, "benchmark_options.pattern found 'nan', which is not a usable number"),
        (TEXT.replace("12", "0"), {}, "benchmark_options.pattern found '0'"),
        (TEXT.replace("12", "-1"), {}, "benchmark_options.pattern found '-1'"),
        (TEXT.replace("12", "1,2"), {}, "benchmark_options.pattern found '1,2', which has a decimal comma"),
        (TEXT.replace("12", "1.200,5"), {}, "benchmark_options.pattern found '1.200,5', which has a decimal comma"),
        ("6,989 it/s\n", {"pattern": "(?P<value>[0-9.]+)"}, "finds '6', which is only a part of the number '6,989'"),
        (
            "6,989 it/s\n",
            {"pattern": "(?P<value>[0-9.]+) it"},
            "finds '989', which is only a part of the number '6,989'",
        ),
        (
            "speed 120.5\n",
            {"pattern": r"speed (?P<value>\d+)"},
            "finds '120', which is only a part of the number '120.5'",
        ),
        ("speed 6,5 it/s\n", {"pattern": r"speed (?P<value>[0-9.]+)"}, "only a part of the number '6,5'"),
        (TEXT.replace("10.5", "1e308").replace("12 ", "1e308 ").replace("step 3", ""), {}, "no usable number"),
        (TEXT, {"total_pattern": TOTAL_PATTERN}, "No line of the output matches benchmark_options.total_pattern"),
        (TEXT + TOTAL.replace("4", "2"), {"total_pattern": TOTAL_PATTERN}, "4 ranks were started and 2 took part"),
        (TEXT, {"pattern": "("}, "no regular expression"),
        (TEXT, {"pattern": "step"}, "must name the group"),
        (TEXT, {"pattern": None}, "benchmark_options.pattern is not set"),
    ],
)
def test_what_makes_numbers_unfit_is_said(text, options, said):
    found = parse(text, 4, **options)
    assert any(said in problem for problem in found["problems"]), found["problems"]
    assert found["value"] is None


@pytest.mark.parametrize(
    ("line", "expression", "value"),
    [
        ("speed 6,989 it/s", r"speed (?P<value>\S+)", 6989),
        ("speed: 1,006,989.5 it/s", r"speed: (?P<value>[0-9.,]+)", 1006989.5),
        ("5,12.5,3", r"^\d+,(?P<value>[0-9.]+)", 12.5),
        ("5,12,3", r"^\d+,(?P<value>[0-9.]+)", 12),
        ("12,3,4", r"^(?P<value>\d+),", 12),
        ("speed 12, 8 ranks", r"speed (?P<value>[0-9.]+)", 12),
        ("speed 12.", r"speed (?P<value>[0-9]+)", 12),
        ("took 11e0 s", r"took (?P<value>\S+)", 11),
    ],
)
def test_commas_of_thousands_and_of_lists(line, expression, value):
    found = parse(line + "\n", pattern=expression)
    assert (found["problems"], found["value"]) == ([], value)
    assert command.iteration_of({"pattern": expression})(line) == value


def test_tensorflows_own_line_is_read_from_the_ttf_demo():
    found = ttf.parse(STEPS, expected_ranks=16, options={"batch_size": 16384})
    assert found["problems"] == []
    assert (found["value"], found["unit"], found["ranks"], found["batch_size"]) == (12.35, "steps/s", 1, 16384)
    assert found["iterations"] == found["series"] == [11.8042, 12.35, 12.4107]


def test_a_number_at_the_cut_end_of_the_text_is_left_out():
    found = ttf.parse(STEPS[: STEPS.index("12.4107") + 2])
    assert found["iterations"] == [11.8042, 12.35]


def test_what_else_the_ttf_demo_prints_needs_a_pattern():
    (problem,) = ttf.parse("step 5, 120 ms\n", expected_ranks=8)["problems"]
    assert "set benchmark_options.pattern" in problem
    found = ttf.parse("step 5, 120 ms\n", 8, options={"pattern": r"(?P<value>\d+) ms", "higher_is_better": False})
    assert (found["problems"], found["value"], found["ranks"], found["unit"]) == ([], 120.0, 1, "steps/s")


def test_a_standstill_is_no_result():
    (problem,) = ttf.parse(STEPS.replace("12.35", "0"))["problems"]
    assert problem == "A number of steps per second is not a usable number."


def test_horovods_text_for_pytorch():
    found = horovod.parse((FOLDER / "horovod_pytorch.txt").read_text(), expected_ranks=16)
    assert (found["problems"], found["value"], found["network"]) == ([], 3561.6, "HARP")

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Horovod's output, as it should be and in every way that it isn't."""

from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.filter import benchmark
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod import parse
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

GOOD = """\
Model: ResNet50
Batch size: 256
Number of GPUs: 16
Running warmup...
Running benchmark...
Iter #0: 698.3 img/sec per GPU
Iter #1: 700.1 img/sec per GPU
Img/sec per GPU: 699.2 +-1.8
Total img/sec on 16 GPU(s): 11187.2 +-28.2
"""


def without(start):
    return "".join(line for line in GOOD.splitlines(True) if not line.startswith(start))


def test_what_horovod_prints():
    assert parse(GOOD, expected_ranks=16) == {
        "model": "ResNet50",
        "batch_size": 256,
        "ranks": 16,
        "device": "GPU",
        "iterations": [698.3, 700.1],
        "per_device": {"mean": 699.2, "ci": 1.8},
        "total": {"mean": 11187.2, "ci": 28.2},
        "network": None,
        "problems": [],
        "unit": "images/s",
        "higher_is_better": True,
        "value": 11187.2,
        "series": [11172.8, 11201.6],
        "details": {},
    }


def test_the_run_is_judged_by_the_median_which_one_stray_iteration_does_not_move():
    lines = "".join(f"Iter #{number}: {speed} img/sec per GPU\n" for number, speed in enumerate([700.0, 1.0, 702.0]))
    text = (
        GOOD[: GOOD.index("Iter #0")]
        + lines
        + "Img/sec per GPU: 467.7 +-646.7\nTotal img/sec on 16 GPU(s): 7482.7 +-10347.2\n"
    )
    found = parse(text, expected_ranks=16)
    assert (found["problems"], found["value"], found["series"]) == ([], 11200.0, [11200.0, 16.0, 11232.0])


def test_spaces_at_the_end_of_a_line_do_not_matter():
    assert parse(GOOD.replace("\n", "  \n"), expected_ranks=16) == parse(GOOD, expected_ranks=16)


def test_ranks_on_different_networks_are_a_problem():
    lines = "a:1:1 [0] NCCL INFO Using network HARP\nb:1:1 [0] NCCL INFO Using network Socket\n"
    found = parse(lines + GOOD)
    assert found["network"] == "HARP, Socket"
    assert found["problems"] == ["The ranks used different networks: HARP, Socket."]


ALONE = GOOD.replace("GPUs: 16", "GPUs: 1").replace("on 16 GPU(s): 11187.2 +-28.2", "on 1 GPU(s): 699.2 +-1.8")

PROBLEMS = {
    "nothing": ("", "no iteration was printed"),
    "no total": (without("Total"), "iterations printed: 2"),
    "nan total": (GOOD.replace("11187.2 +-28.2", "nan +-nan"), "total is not a usable number"),
    "inf total": (GOOD.replace("11187.2", "inf"), "total is not a usable number"),
    "zero total": (GOOD.replace("11187.2", "0.0"), "total is not a usable number"),
    "nan per device": (GOOD.replace("699.2 +-1.8", "nan +-nan"), "per-device is not a usable number"),
    "iteration at a standstill": (GOOD.replace("700.1", "0.0"), "iteration's img/sec is not a usable number"),
    "nan iteration": (GOOD.replace("700.1", "nan"), "iteration's img/sec is not a usable number"),
    "no line per device": (without("Img/sec per"), "'Img/sec per GPU' is missing"),
    "wrong rank count": (GOOD.replace("16", "8"), "16 ranks were started and 8 took part"),
    "ranks lost on the way": (GOOD.replace("GPUs: 16", "GPUs: 8"), "counted 8 at its start and 16 at its end"),
    "each rank alone": (ALONE * 16, "16 ranks each ran alone"),
    "two runs in one log": (GOOD * 2, "2 lines 'Total img/sec'"),
    "other device": (GOOD.replace("GPU", "CPU"), "ran on CPU where GPU was expected"),
    "total doesn't fit": (GOOD.replace("11187.2", "11287.2"), "total is not the mean"),
    "iteration lost": (without("Iter #0"), "Iterations are missing"),
    "last iteration lost": (without("Iter #1").replace("698.3", "690.0"), "not that of the iterations"),
    "no iterations": (without("Iter"), "a total and no iteration"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_makes_numbers_unfit_is_said(name):
    text, said = PROBLEMS[name]
    found = parse(text, expected_ranks=16)
    assert any(said in problem for problem in found["problems"]), found["problems"]
    assert found["value"] is None


def test_numbers_that_json_has_no_word_for_are_null():
    found = parse(GOOD.replace("11187.2 +-28.2", "nan +-inf").replace("700.1", "inf"))
    assert found["total"] == {"mean": None, "ci": None}
    assert found["iterations"] == [698.3, None]
    assert (found["value"], found["series"]) == (None, [11172.8])


def test_a_log_without_its_head_still_has_its_numbers():
    found = parse(GOOD[GOOD.index("Iter #0") :], expected_ranks=16)
    assert found["problems"] == []
    assert (found["model"], found["batch_size"], found["total"]["mean"]) == (None, None, 11187.2)


@pytest.mark.parametrize("text", [None, 5, b"Total", ["x"]])
def test_what_is_no_text_is_a_failed_run(text):
    assert parse(text)["problems"] and parse(text)["total"] is None


def test_the_filter_knows_its_workloads():
    parse_benchmark = benchmark.FilterModule().filters()["parse_benchmark"]
    assert parse_benchmark(GOOD, expected_ranks=16)["total"]["mean"] == 11187.2
    with pytest.raises(AnsibleFilterError, match="no workload x"):
        parse_benchmark(GOOD, "x")


def test_the_filter_documents_the_workloads_that_there_are():
    path = Path(benchmark.__file__).parent / "parse_benchmark.yml"
    options = yaml.safe_load(path.read_text())["DOCUMENTATION"]["options"]
    assert options["workload"]["choices"] == list(WORKLOADS)


def test_the_filter_hands_on_what_reading_needs():
    options = {"pattern": "speed (?P<value>.+)", "unit": "it/s"}
    found = benchmark.FilterModule().filters()["parse_benchmark"]("speed 5\n", "command", options=options)
    assert (found["value"], found["unit"]) == (5.0, "it/s")

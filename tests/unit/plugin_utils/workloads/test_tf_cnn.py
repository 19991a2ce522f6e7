# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of tf_cnn_benchmarks, of which every rank prints its own copy."""

from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.tf_cnn import parse

GOOD = (Path(__file__).parents[3] / "fixtures/benchmarks/tf_cnn_benchmarks_horovod.txt").read_text()


def of_rank(number):
    return "".join(line for line in GOOD.splitlines(True) if line.startswith(f"[1,{number}]"))


def test_the_total_is_the_median_of_the_ranks_and_never_their_sum():
    assert parse(GOOD, expected_ranks=2) == {
        "model": "resnet50",
        "batch_size": 64,
        "ranks": 2,
        "device": "GPU",
        "iterations": [153.0, 154.2, 154.1, 153.9],
        "series": [306.0, 308.4, 308.2, 307.8],
        "per_device": None,
        "total": None,
        "value": 307.06,
        "unit": "images/s",
        "higher_is_better": True,
        "network": "Socket",
        "details": {"totals_seen": 2, "totals": [307.02, 307.1]},
        "problems": [],
    }


def test_one_ranks_copy_is_enough():
    found = parse(of_rank(1), expected_ranks=2)
    assert (found["problems"], found["value"], found["details"]["totals_seen"]) == ([], 307.1, 1)


def test_a_batch_of_nothing_says_nothing_about_the_ranks():
    found = parse(GOOD.replace("64 per device", "0 per device"), expected_ranks=2)
    assert (found["ranks"], found["value"]) == (2, 307.06)


def test_without_prefixes_and_with_other_line_ends():
    text = GOOD.replace("[1,0]<stdout>:", "").replace("[1,1]<stdout>:", "").replace("\n", "\r\n")
    assert parse(text, expected_ranks=2)["value"] == 307.06


PROBLEMS = {
    "nothing": ("", "no step was printed"),
    "nan total": (GOOD.replace("307.02", "nan"), "A total is not a usable number"),
    "zero total": (GOOD.replace("307.02", "0.00"), "A total is not a usable number"),
    "nan step": (GOOD.replace("154.3 +/-", "nan +/-"), "A step's images/sec is not a usable number"),
    "other rank count": (
        GOOD.replace("128 global", "256 global").replace("gpu:1']", "gpu:1', 'horovod/gpu:2', 'horovod/gpu:3']"),
        "2 ranks were started and 4 took part",
    ),
    "each rank alone": (
        GOOD.replace("128 global", "64 global").replace(", 'horovod/gpu:1'", ""),
        "2 ranks were started and 1 took part",
    ),
    "ranks that don't agree": (GOOD.replace("128 global", "192 global"), "don't agree on how many they are: 2, 3"),
    "no head": (GOOD[GOOD.index("[1,0]<stdout>:Step") :], "doesn't say over how many ranks"),
    "two runs": (GOOD * 2, "4 totals of 2 ranks"),
    "other device": (GOOD.replace("horovod/gpu", "horovod/cpu"), "ran on CPU where GPU was expected"),
    "other update": (
        GOOD.replace("Variables:   horovod", "Variables:   replicated"),
        "by replicated and not by horovod",
    ),
    "several models": (GOOD.replace("resnet50", "vgg16", 1), "several models: resnet50, vgg16"),
    "several networks": (GOOD.replace("network Socket", "network HARP", 1), "different networks: HARP, Socket"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_makes_numbers_unfit_is_said(name):
    text, said = PROBLEMS[name]
    found = parse(text, expected_ranks=2)
    assert any(said in problem for problem in found["problems"]), found["problems"]
    assert found["value"] is None


def test_on_cpus_where_that_was_asked_for():
    found = parse(GOOD.replace("horovod/gpu", "horovod/cpu"), expected_ranks=2, device="CPU")
    assert (found["problems"], found["device"]) == ([], "CPU")

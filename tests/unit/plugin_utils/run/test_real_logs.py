# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The formats of real logs: each log in tests/fixtures/logs says what is to be read in it."""

import time

import pytest
import yaml
from recorded import real_logs

from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_log
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

# Hundreds of heads are read faster by libyaml.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CASES = {name: (yaml.load(head, Loader=LOADER), log) for name, (head, log) in real_logs().items()}
RUNS = [name for name, (expected, _text) in CASES.items() if "workload" in expected]
NETWORKS = [name for name, (expected, _text) in CASES.items() if "plugin" in expected]


def test_there_are_enough():
    assert len(CASES) >= 100 and set(CASES) == {*RUNS, *NETWORKS}


@pytest.mark.parametrize("name", RUNS)
def test_a_log_of_a_run(name):
    expected, text = CASES[name]
    found = WORKLOADS[expected["workload"]].parse(
        text, expected.get("ranks"), expected.get("device", "GPU"), expected.get("options")
    )
    if expected["value"] is None:
        assert any(expected["problem"] in problem for problem in found["problems"]), found["problems"]
        return
    assert (found["problems"], found["value"]) == ([], pytest.approx(expected["value"]))
    assert found["iterations"] == pytest.approx(expected.get("iterations", []))
    if "network" in expected:
        assert found["network"] == expected["network"]
    if "average" in expected:
        assert found["details"]["average"] == pytest.approx(expected["average"])
    if "sizes" in expected:
        rows = found["details"]["rows"]
        assert [row["size"] for row in rows] == expected["sizes"]
        assert {rows[-1][place]["busbw"] for place in ("in_place", "out_of_place")} == {expected["busbw"]}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_log_of_the_network(name):
    expected, text = CASES[name]
    assert nccl_log.plugin(text) == expected["plugin"]


NASTY = {
    "numbers": "1" * 60 + " ",
    "columns": "1048576 262144 float sum -1 ",
    "tags": "[1,0]<stdout>:",
    "brackets": "[[[[",
    "colons": "a:1:1 [0] NCCL INFO Using network ",
    "warnings": "gpu1:1:2 [0] x.cc:1 NCCL WARN Call to connect to ",
    "errors": "not enough free error failed CUDA error Error Exception ",
    "dots": "a.b.c.",
    "spaces": " ",
    "stamps": "2026-01-01T00:00:00.000Z ",
    "escapes": "\x1b[",
    "huge pages": "not enough not enough cannot could not ",
}


def seconds(text):
    start = time.process_time()
    for workload in ("horovod_synthetic", "nccl_tests", "tf_cnn_benchmarks", "ttf_dynamic_embedding"):
        WORKLOADS[workload].parse(text, 4)
    nccl_log.plugin(text)
    return time.process_time() - start


@pytest.mark.parametrize("name", NASTY)
def test_the_time_grows_with_the_length_of_a_line_and_not_with_its_square(name):
    def line(length):
        return (NASTY[name] * length)[:length] + "\n"

    short, long = seconds(line(20_000)), seconds(line(200_000))
    assert long < 0.5 or long < 30 * max(short, 0.02), (short, long)


def test_the_time_grows_with_the_number_of_lines():
    text = "".join(
        f"[1,{number % 16}]<stdout>:gpu{number % 4}:{number}:{number} [0] NCCL INFO Channel {number} : {number}[1] -> 2[3]\n"
        f"[1,{number % 16}]<stdout>:worker says {number:x} of everything, {'word ' * 10}\n"
        for number in range(1_000)
    )
    # A log of 100 MB takes five hundred times as long.
    assert seconds(text) < 2

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of one run of each workload: its own unit, its own headline, its own iterations, from a log of the real format."""

import pytest
import recorded
from page import Page

from ansible_collections.taco.train.plugins.plugin_utils.report import run_page, run_table
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

HEADLINES = {
    "horovod_synthetic": (
        "3561.6",
        "images/s over 2 nodes x 8 ranks (arm harp: Horovod and HARP; vgg16, batch size 128, on GPUs).",
    ),
    "tf_cnn_benchmarks": (
        "307.1",
        "images/s over 2 nodes x 1 rank (arm tcp: Horovod over kernel TCP; resnet50, batch size 64, on GPUs).",
    ),
    "nccl_tests": (
        "11.2",
        "GB/s over 2 nodes x 2 ranks (arm harp: Horovod and HARP; all_reduce_perf, 1M to 4M bytes, on GPUs).",
    ),
    "ttf_dynamic_embedding": ("12.3", "steps/s over 1 process (arm harp: Horovod and HARP; TTF demo benchmark)."),
    "command": ("810.0", "samples/s over 2 nodes x 1 rank (arm harp: Horovod and HARP; train.py)."),
}
BESIDE = {
    "horovod_synthetic": [
        "the median of the iterations, over all devices; higher is better.",
        "Per device: 222.6 images/s.",
        "5 iterations from 3352.0 to 3566.4 images/s; percentiles: 5th 3393.3, 50th 3561.6, 95th 3565.8.",
        "times the median time): 0.",
        "median 0.575 s, 95th percentile 0.604 s, longest 0.611 s.",
        "The script's own summary, for comparison: 3520.3 ± 165.0 images/s",
    ],
    "tf_cnn_benchmarks": ["the total that the script prints", "a mean over all steps so far"],
    "nccl_tests": [
        "the bus bandwidth at the largest message size; higher is better.",
        "Average over all message sizes, for comparison: 10.0 GB/s.",
        "4 MiB",
    ],
    "ttf_dynamic_embedding": ["3 intervals from 11.8 to 12.4 steps/s", "Time of a step, as the mean of each interval"],
    "command": ["5 iterations from 300.0 to 812.5 samples/s", "times the median time): 1."],
}


def test_every_workload_has_its_report_tested():
    assert set(HEADLINES) == set(BESIDE) == set(WORKLOADS) == set(recorded.RUNS)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_report_of_a_workload(workload):
    record = recorded.record(workload)
    assert record["problems"] == [] and record["outcome"] == "ok"
    assert run_table.headline([record]) == HEADLINES[workload]
    table = run_table.render([record], title=workload)
    page = run_page.render([record], title=workload)
    for said in BESIDE[workload]:
        assert said in table and said in Page(page).text, said
    assert HEADLINES[workload][0] in Page(page).text and "None" not in page and "nan" not in page
    (row,) = [line for line in table.splitlines() if line.startswith("| ok")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:3] == [HEADLINES[workload][0], record["result"]["unit"]]


@pytest.mark.parametrize(
    ("workload", "nodes", "ranks"), [("horovod_synthetic", "2", "16"), ("ttf_dynamic_embedding", "1", "1")]
)
def test_the_table_counts_the_nodes_that_took_part(workload, nodes, ranks):
    found = recorded.record(workload)
    place = run_table.heads([found]).index("Nodes")
    assert run_table.row(found)[place : place + 2] == (nodes, ranks)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_result_of_a_run_is_as_the_workload_declares_it(workload):
    result, kind = recorded.record(workload)["result"], WORKLOADS[workload]
    assert result["unit"] == (recorded.RUNS[workload][0].get("unit") or kind.unit)
    assert result["higher_is_better"] is kind.higher_is_better
    assert bool(result["series"]) == (kind.iteration is not None)
    assert (result["spread"] is not None) == (kind.iteration is not None and not kind.running_mean)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_failed_run_of_a_workload_has_a_report_too(workload):
    record = recorded.record(workload, text="it broke\n", job={"rc": 1})
    assert record["outcome"] == "failed"
    assert "No result: the run failed." in run_table.render([record]) and "failed." in run_page.render([record])


def test_the_page_of_nccl_tests_draws_bus_bandwidth_by_size_and_says_which_axis_is_logarithmic():
    text = run_page.render([recorded.record("nccl_tests")])
    assert "message size (logarithmic axis)" in text and "harp, 4 MiB: 11.23 GB/s" in text
    assert Page(text).tags.count("svg") == 1, "sizes are no iterations"


def test_running_means_are_a_line_and_not_points():
    text = run_page.render([recorded.record("tf_cnn_benchmarks")])
    assert "<polyline" in text and '<circle class="point"' not in text


def test_a_number_of_which_less_is_better_says_so():
    text = run_table.render([recorded.record("command", higher_is_better=False, unit="s")])
    assert "lower is better" in text and "higher is better" not in text

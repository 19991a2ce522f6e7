# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of a comparison, from logs of the real format to its page: in the order of time, in their unit, with their network."""

import re

import pytest
import recorded
from page import Page
from rendered import of_comparison, text_of_comparison

from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_csv
from ansible_collections.taco.train.plugins.plugin_utils.report import rows as comparison_rows
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import headline, row
from ansible_collections.taco.train.plugins.plugin_utils.run.options import checked
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS

SPEEDS = {
    "horovod_synthetic": {"harp": 240.0, "tcp": 150.0},
    "nccl_tests": {"harp": 11.4, "tcp": 4.1},
    "tf_cnn_benchmarks": {"harp": 160.0, "tcp": 120.0},
}
OPTIONS_OF = {"tf_cnn_benchmarks": {"model": "resnet50", "script": "/b/tf_cnn_benchmarks.py"}}


@pytest.fixture(scope="module", params=SPEEDS)
def measured(request):
    workload = request.param
    return (workload, *recorded.comparison(workload, SPEEDS[workload], **OPTIONS_OF.get(workload, {})))


def page_of(measured):
    _workload, comparison, records = measured
    return of_comparison(comparison, records, None, [], "Title", "run-1")


def test_the_record_the_single_page_and_the_verdict_have_one_value(measured):
    _workload, comparison, records = measured
    values = {run["record"]: run["value"] for arm in comparison["cases"][0]["arms"] for run in arm["runs"]}
    for record in records:
        assert values[record["id"]] == record["result"]["value"]
        assert headline([record]).number == row(record)["Value"]
        assert float(headline([record]).number) == pytest.approx(record["result"]["value"], rel=0.005)


def test_the_network_of_each_arm_stands_on_the_page_with_its_log_line(measured):
    _workload, _comparison, records = measured
    text = Page(page_of(measured)).text
    for arm, network in (("harp", "HARP"), ("tcp", "Socket")):
        log = next(record["log"] for record in records if record["arm"] == arm)
        assert f"{arm} {network} 7 gpu1:2122:2137 [0] NCCL INFO Using network {network} {log}" in text
    assert "Using network Socket" in text_of_comparison(measured[1], measured[2])


def test_runs_that_used_another_network_stand_in_a_row_of_their_own():
    comparison, records = recorded.comparison("horovod_synthetic", SPEEDS["horovod_synthetic"])
    records[-1].update(network="IB", network_line="gpu1:1:2 [0] NCCL INFO Using network IB")
    table = text_of_comparison(comparison, records)
    found = [re.sub(r" +", " ", line) for line in table.splitlines() if "Using network" in line]
    assert len(found) == 3 and sum("| IB | 1 |" in line for line in found) == 1


def test_single_iterations_are_points_and_running_means_are_not(measured):
    workload, comparison, _records = measured
    page = page_of(measured)
    small = page.count('class="mark arm-0 small') + page.count('class="mark arm-1 small')
    assert (small == 140) == (workload == "horovod_synthetic") and small in (0, 140)
    kinds = {line.rsplit(",", 1)[1] for line in comparison_csv.iterations(comparison).splitlines()[1:]}
    wanted = {"tf_cnn_benchmarks": {"running mean"}, "horovod_synthetic": {"iteration"}, "nccl_tests": set()}
    assert kinds == wanted[workload]


def test_the_question_fits_the_workload(measured):
    workload, comparison, _records = measured
    does = "transfer data faster" if workload == "nccl_tests" else "train faster"
    assert comparison["question"] == f"Does harp {does} than tcp?"


def test_the_counts_of_runs_name_whose_they_are(measured):
    head, rows, *_details = comparison_rows.verdicts(measured[1])
    cells = dict(zip(head, rows[0]))
    assert (cells["Arm runs"], cells["Baseline runs"]) == ("6", "6") and "Runs" not in cells


def test_bus_bandwidth_by_size_has_the_arms_in_one_drawing_and_the_share_of_the_line_rate_at_the_largest_size():
    comparison, records = recorded.comparison("nccl_tests", SPEEDS["nccl_tests"])
    harp, tcp = comparison["bus_bandwidth"]
    assert len(harp["sizes"]) == len(tcp["sizes"]) == 25 and harp["sizes"][-1]["size"] == 128 << 20
    assert harp["value_gbps"] == pytest.approx(8 * harp["sizes"][-1]["gb_per_s"])
    assert harp["share"] == pytest.approx(8 * 11.3 / 100, rel=0.03)
    text = of_comparison(comparison, records)
    assert "message size (logarithmic axis)" in text and "line rate of a host 12.5" in text
    for arm in ("harp", "tcp"):
        assert f"{arm}, 128 MiB: " in text and f"{arm}, 8 B: " in text


def test_within_one_host_no_share_of_the_line_rate_is_shown():
    comparison, _records = recorded.comparison("nccl_tests", SPEEDS["nccl_tests"], node_counts=(1,))
    assert [one["share"] for one in comparison["bus_bandwidth"]] == [None, None]


def test_an_arm_is_lossy_by_the_environment_that_its_ranks_had():
    quiet = {"name": "quiet", "base": "taco", "env": {"LIGHT_TOPK_ALLREDUCE": "0"}}
    options = {"model": "ResNet50", "batch_size": 64, "framework": "tensorflow", "lightcc": {"topk_allreduce": True}}
    wanted = read({"arms": [quiet, "tcp"]}, recorded.hosts(4), checked(options, OPTIONS))
    text = recorded.log_of("horovod_synthetic", 200.0, 8, "HARP")
    case = {"id": wanted.cases[0].id, "repeat": 0, "warmup": False}
    record = recorded.record("horovod_synthetic", text, case=case, arm=quiet, hosts=recorded.hosts(4), **options)
    assert (
        record["environment"]["LIGHT_TOPK_ALLREDUCE"] == "1"
        and record["arm_spec"]["env"]["LIGHT_TOPK_ALLREDUCE"] == "0"
    )
    lossy = {arm["name"]: arm["lossy"] for arm in assemble(wanted, [record], "default")["arms"]}
    assert lossy == {"quiet": True, "tcp": False}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Results of version 1.0.0 are read with the values of this version, or not compared with them."""

import copy
import json

import pytest
import recorded

from ansible_collections.taco.train.plugins.plugin_utils.comparison import store
from ansible_collections.taco.train.plugins.plugin_utils.comparison.regression import regression
from ansible_collections.taco.train.plugins.plugin_utils.run import store as records

SPEEDS = {"harp": 24.0, "tcp": 12.0}


def of_1_0_0(record):
    """Return a record of nccl_tests as version 1.0.0 wrote it."""
    record = copy.deepcopy(record)
    result = record["result"]
    result["value"] = result["details"].pop("average")
    del result["spread"], record["environment"], record["network_line"]
    return record


def earlier(folder, comparison, found, with_records):
    """Write a comparison as version 1.0.0 left it, and return it as it is read."""
    averages = {one["id"]: one["result"]["details"]["average"] for one in found}
    old = copy.deepcopy(comparison)
    del old["looks"]
    for block in old["blocks"]:
        for arm in block["arms"]:
            for run in arm["runs"]:
                run["value"] = averages[run["record"]]
    (folder / "comparison.json").write_text(json.dumps(old))
    if with_records:
        (folder / "records.jsonl").write_text("".join(json.dumps(of_1_0_0(one)) + "\n" for one in found))
    return store.stored(str(folder))


def test_a_record_of_nccl_tests_has_the_bandwidth_at_the_largest_size(tmp_path):
    new = recorded.record("nccl_tests")
    assert of_1_0_0(new)["result"]["value"] != new["result"]["value"]
    (tmp_path / "records.jsonl").write_text(json.dumps(of_1_0_0(new)) + "\n" + json.dumps(new) + "\n")
    (old, same), _problems = records.read(str(tmp_path))
    assert old["result"]["value"] == same["result"]["value"] == new["result"]["value"]
    assert old["result"]["details"] == new["result"]["details"]


@pytest.mark.parametrize("workload", [name for name in recorded.RUNS if name != "nccl_tests"])
def test_other_records_are_read_as_they_are(tmp_path, workload):
    new = json.loads(json.dumps(recorded.record(workload)))
    (tmp_path / "records.jsonl").write_text(json.dumps(new) + "\n")
    assert records.read(str(tmp_path))[0] == [new]


def test_an_earlier_comparison_of_nccl_tests_is_read_with_the_values_of_its_records(tmp_path):
    comparison, found = recorded.comparison("nccl_tests", SPEEDS)
    then = earlier(tmp_path, comparison, found, with_records=True)
    assert [arm["runs"] for arm in then["blocks"][0]["arms"]] == [
        arm["runs"] for arm in comparison["blocks"][0]["arms"]
    ]
    judged = regression(comparison, [("old", then)], refuse_unlike=False)
    assert judged["better"] == [] and {one["ratio"] for one in judged["comparisons"]} == {1.0}


def test_averages_of_an_earlier_comparison_without_records_are_not_compared(tmp_path):
    comparison, found = recorded.comparison("nccl_tests", SPEEDS)
    judged = regression(comparison, [("old", earlier(tmp_path, comparison, found, with_records=False))])
    assert {one["verdict"] for one in judged["comparisons"]} == {"refused"}
    assert any("was the average" in said for said in judged["unlike"])

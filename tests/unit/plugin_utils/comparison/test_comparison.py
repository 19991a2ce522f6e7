# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verdicts, scaling and differences, from the records of comparisons whose outcome is known."""

import json
from pathlib import Path

import jsonschema
import pytest
from measured import DEFAULTS, HOSTS, SYSTEM, record, records

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording as words
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparison import assemble
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.report import rows

ROOT = Path(__file__).parents[4]
SCHEMA = json.loads((ROOT / "collections/ansible_collections/taco/train/docs/schemas/comparison-1.json").read_text())


def compared(**spec):
    return read(dict({"arms": ["tcp", "taco"]}, **spec), HOSTS, DEFAULTS)


def assembled(comparison, found, **options):
    result = assemble(comparison, found, "test", **options)
    jsonschema.validate(json.loads(json.dumps(result)), SCHEMA)
    return result


def test_a_faster_arm_is_better_and_the_sentence_says_by_how_much():
    comparison = compared()
    found = assembled(comparison, records(comparison, {"tcp": 100, "taco": 210}))
    (judged,) = found["cases"][0]["comparisons"]
    assert (judged["arm"], judged["baseline"], judged["verdict"]) == ("taco", "tcp", "better")
    assert judged["ratio"] == pytest.approx(2.1)
    assert judged["runs"] == [6, 6]
    assert found["complete"] and (found["planned"], found["done"], found["failed"]) == (14, 14, 0)
    assert found["question"] == "Does taco train faster than tcp?"
    assert found["sentence"].startswith(
        "taco (lossy) is faster than tcp on ResNet50: 2.10 times (95% interval 2.10 to 2.10)"
    )


def test_runs_that_only_warm_the_machine_are_shown_and_not_counted():
    comparison = compared(repeats=4)
    found = assembled(comparison, records(comparison, lambda run: 1 if run.warmup else 100))
    arm = found["cases"][0]["arms"][0]
    assert len(arm["runs"]) == 5 and arm["median"] == pytest.approx(100, rel=0.01)
    assert found["cases"][0]["comparisons"][0]["verdict"] == "equivalent"


def test_an_interrupted_comparison_is_judged_by_what_there_is():
    comparison = compared()
    found = assembled(comparison, records(comparison, {"tcp": 100, "taco": 200})[:5])
    assert not found["complete"] and found["done"] == 5
    judged = found["cases"][0]["comparisons"][0]
    assert (judged["verdict"], judged["more_repeats"]) == ("inconclusive", 3)
    assert found["sentence"].endswith("5 of 14 runs are done.")


def test_failed_runs_are_listed_and_measure_nothing():
    comparison = compared()
    kept = [record(run, 1.0, outcome="failed") for run in plan(comparison)]
    found = assembled(comparison, kept)
    assert (found["done"], found["failed"], len(found["failures"])) == (0, 14, 14)
    judged = found["cases"][0]["comparisons"][0]
    assert judged["verdict"] == "inconclusive" and judged["ratio"] is None
    assert "not measured" in found["sentence"]


def with_other_driver(run, value):
    return record(run, value, system=dict(SYSTEM, driver="470" if run.arm == "taco" else "535"))


def test_runs_that_differ_in_more_than_their_arm_are_refused():
    comparison = compared()
    kept = [with_other_driver(run, 100.0) for run in plan(comparison)]
    found = assembled(comparison, kept)
    assert found["unlike"] == [
        f"horovod_synthetic/ResNet50/2x2/64: the GPU driver of {host} was not the same in all runs: 535 in tcp; 470 in taco."
        for host in ("gpu1", "gpu2")
    ]
    assert found["cases"][0]["comparisons"][0]["verdict"] == "refused"
    assert "can't be compared with" in found["sentence"]
    allowed = assembled(comparison, kept, refuse_unlike=False)
    assert allowed["unlike"] == found["unlike"]
    assert allowed["cases"][0]["comparisons"][0]["verdict"] == "equivalent"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": dict(DEFAULTS, batch_size=32)}, "the batch size was not the same"),
        ({"hosts": HOSTS[:1]}, "the placement was not the same"),
        ({"system": {"gpu1": dict(SYSTEM, image="taco@sha256:2")}}, "the training image of gpu1"),
        ({"system": {"gpu1": dict(SYSTEM, interfaces=["eth0"])}}, "the network interfaces of gpu1"),
    ],
)
def test_a_single_run_that_is_unlike_the_others_is_seen(change, words):
    comparison = compared()
    kept = records(comparison, {"tcp": 100, "taco": 100})
    kept[-1].update(change)
    assert any(words in said for said in assembled(comparison, kept)["unlike"])


def test_efficiency_is_what_the_vendor_means_by_it():
    hosts = [{"name": f"gpu{number}", "slots": 8} for number in (1, 2)]
    comparison = read({"arms": ["tcp", "harp"], "node_counts": [1, 2], "single_device": True}, hosts, DEFAULTS)
    speeds = {1: 777, 8: 6105, 16: 5504}
    found = assembled(comparison, [record(run, speeds[run.case.ranks]) for run in plan(comparison)])
    lines = {(line["arm"], line["basis"]): line["points"] for line in found["scaling"]}
    assert set(lines) == {(arm, basis) for arm in ("tcp", "harp") for basis in ("1 device", "1 node")}
    points = {point["ranks"]: point["efficiency"] for point in lines["tcp", "1 device"]}
    assert points == {1: 1, 8: pytest.approx(0.9821, abs=1e-4), 16: pytest.approx(0.4427, abs=1e-4)}
    assert lines["tcp", "1 node"][1]["efficiency"] == pytest.approx(5504 / (2 * 6105))


def test_pods_are_counted_as_workers():
    hosts = [{"name": f"taco-worker-{number}", "slots": 2} for number in (0, 1)]
    comparison = read({"arms": ["tcp", "harp"], "node_counts": [1, 2]}, hosts, DEFAULTS)
    placed = {host["name"]: "gpu1" for host in hosts}
    found = assembled(comparison, [record(run, 100 * run.case.ranks, placement=placed) for run in plan(comparison)])
    assert {line["basis"] for line in found["scaling"]} == {"1 worker"}
    assert list(words.case_labels(found).values()) == ["ResNet50, 1 worker, 2 ranks", "ResNet50, 2 workers, 4 ranks"]
    assert rows.scaling(found).head[2] == "Workers"
    assert rows.scaling(dict(found, scaling=[dict(line, pods=False) for line in found["scaling"]])).head[2] == "Nodes"


def test_the_bus_bandwidth_stands_beside_the_line_rate():
    comparison = read({"arms": ["tcp", "harp"]}, HOSTS, dict(DEFAULTS, workload="nccl_tests", model=None))
    found = assembled(comparison, records(comparison, {"tcp": 1.5, "harp": 2.5}), line_rate_gbps=25)
    shares = {one["arm"]: one["share"] for one in found["bus_bandwidth"]}
    assert shares == {"tcp": pytest.approx(0.48, rel=0.01), "harp": pytest.approx(0.8, rel=0.01)}


def test_measured_time_stands_beside_what_the_bytes_need():
    comparison = compared()
    kept = records(comparison, {"tcp": 100, "taco": 200})
    for one in kept:
        one["result"]["details"] = {"exchange": {"bytes": 25_000_000, "seconds": 1.0}}
    expected = assembled(comparison, kept)["cases"][0]["expected"]
    assert expected[0] == {
        "arm": "tcp",
        "bytes": 25_000_000,
        "seconds": 1.0,
        "measured_seconds": pytest.approx(2.56, rel=0.01),
    }


def test_published_figures_stand_beside_those_of_the_same_model():
    comparison = compared()
    published = assembled(comparison, [])["cases"][0]["published"]
    assert {one["value"] for one in published} >= {777.0, 5504.0, 11173.0} and all(one["source"] for one in published)
    assert assembled(compared(workloads=[{"model": "MobileNetV2"}]), [])["cases"][0]["published"] == []


def test_memory_that_differs_by_a_few_pages_after_a_reboot_is_the_same_memory():
    comparison = compared()
    kept = [
        record(run, 100.0, system=dict(SYSTEM, memory_bytes=(1 << 34) - run.round * 4096)) for run in plan(comparison)
    ]
    assert assembled(comparison, kept)["unlike"] == []


COMMAND = {"workload": "command", "command": ["/opt/train.sh"], "pattern": "(?P<value>[0-9.]+)"}


def test_the_size_of_a_case_is_what_ran_and_not_what_was_planned():
    comparison = read({"arms": ["tcp", "harp"]}, HOSTS, dict(DEFAULTS, **COMMAND, model=None, mpi=False))
    found = [dict(one, ranks=1) for one in records(comparison, {"tcp": 100, "harp": 120})]
    (case,) = assembled(comparison, found)["cases"]
    assert (case["nodes"], case["ranks"]) == (1, 1)
    (planned,) = assembled(comparison, [])["cases"]
    assert (planned["nodes"], planned["ranks"]) == (2, 4)


def test_names_of_cases_are_in_the_sentence_and_in_the_labels():
    workloads = [{"name": name, "batch_size": size} for name, size in (("bs32", 32), ("bs64", 64))]
    comparison = read({"arms": ["tcp", "harp"], "workloads": workloads}, HOSTS, dict(DEFAULTS, **COMMAND, model=None))
    found = assembled(comparison, records(comparison, {"tcp": 100, "harp": 120}))
    assert list(words.case_labels(found).values()) == ["bs32 (train.sh)", "bs64 (train.sh)"]
    assert "on bs32 (train.sh): 1.20 times" in found["sentence"] and "/" not in found["sentence"]


def test_two_sizes_of_a_case_are_told_apart_in_words_in_the_sentence():
    comparison = compared(node_counts=[1, 2])
    found = assembled(comparison, records(comparison, {"tcp": 100, "taco": 210}))
    assert "on ResNet50, 1 node, 2 ranks: " in found["sentence"] and "2x2" not in found["sentence"]


def test_runs_are_numbered_as_they_are_planned():
    comparison = compared()
    found = assembled(comparison, records(comparison, {"tcp": 100, "taco": 210}))
    numbers = [run["number"] for arm in found["cases"][0]["arms"] for run in arm["runs"]]
    assert sorted(numbers) == list(range(1, 15))

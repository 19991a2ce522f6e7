# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Planning and judging on results that lie in a folder."""

import json
import os
from pathlib import Path

import action_run
import pytest
from measured import DEFAULTS, HOSTS, records

from ansible_collections.taco.train.plugins.action import comparison as action
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read

PLANNED = {"results_dir": "/nonexistent/results", "arms": ["tcp", "taco"], "hosts": HOSTS}


class Cluster:
    """A folder of results, and the task that works on it."""

    def __init__(self, folder):
        self.folder = folder
        self.results = folder / "results"

    def rounds(self, **options):
        return action_run.run(action, {"state": "continued", **options})

    def verdict(self, *arguments, **options):
        return action_run.run(action, {"state": "decided", **options}, "--check" in arguments)

    def plan(self, *arguments, warning=None, **spec):
        spec = dict({"arms": ["tcp", "taco"], "repeats": 4, "warmup_runs": 0}, **spec)
        told = {"state": "planned", "results_dir": str(self.results), "hosts": HOSTS, "defaults": DEFAULTS}
        return action_run.run(action, {**told, **spec}, "--check" in arguments, warning=warning)

    def measure(self, run_dir, speeds, number=None):
        comparison = read({"arms": ["tcp", "taco"], "repeats": 4, "warmup_runs": 0}, HOSTS, DEFAULTS)
        lines = [json.dumps(dict(one, schema=1)) for one in records(comparison, speeds)]
        Path(run_dir, "records.jsonl").write_text("\n".join(lines[:number]) + "\n")


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path)


def test_a_plan_says_every_run_and_makes_their_folder(cluster):
    found = cluster.plan()
    assert (found["planned"], found["done"], len(found["runs"])) == (8, 0, 8), found
    assert found["msg"] == (
        "8 runs: 2 arms in 1 case, 4 measured and 0 warm-up runs each. "
        "4 repeats detect, with a chance of 80%, a difference of 6.4% at 1%, 9.9% at 2%, 21.2% at 5% "
        "of spread between the runs of an arm."
    )
    first = found["runs"][0]
    assert first["label"] == "tcp, ResNet50 on 2x2, run 1 of 8"
    assert first["case"] == {"id": "horovod_synthetic/ResNet50/2x2/64", "repeat": 0, "warmup": False}
    assert first["hosts"] == HOSTS and first["arm"]["name"] == "tcp"
    assert os.readlink(cluster.results / "latest") == Path(found["run_dir"]).name


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_damaged_plan_of_an_earlier_comparison_is_named_and_does_not_block_a_new_one(cluster, text):
    damaged = cluster.results / "20260101-old" / "comparison-plan.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text(text)
    warnings = []
    assert cluster.plan(warning=warnings.append)["planned"] == 8
    assert len(warnings) == 1 and str(damaged) in warnings[0] and "compare_fresh: true" in warnings[0], warnings
    assert cluster.plan(fresh=True, warning=pytest.fail)["planned"] == 8


def test_a_comparison_that_another_playbook_runs_is_not_continued_beside_it(cluster):
    lock = Path(cluster.plan()["run_dir"], "series.lock")
    lock.write_text(json.dumps(dict(json.loads(lock.read_text()), pid=os.getppid(), controller="elsewhere")))
    found = cluster.plan()
    assert (
        found["failed"] and "on elsewhere has the lock of the comparison" in found["msg"] and str(lock) in found["msg"]
    ), found
    assert cluster.plan(fresh=True)["planned"] == 8


def test_a_preset_is_planned_and_its_arms_reach_the_runs(cluster):
    found = cluster.plan(preset="embedding", arms=[], baseline="")
    assert found["runs"][0]["label"] == "static, ttf_dynamic_embedding on 1x1, run 1 of 8"
    assert found["runs"][0]["arm"]["options"] == {"is_dynamic": False}
    assert found["runs"][0]["overrides"]["batch_size"] == 64, "what benchmark_options.batch_size sets wins"
    kept = json.loads(Path(found["run_dir"], "comparison-plan.json").read_text())["spec"]
    assert (kept["baseline"], [arm["name"] for arm in kept["arms"]]) == ("static", ["static", "dynamic"])


def test_an_interrupted_comparison_goes_on_where_it_stopped(cluster):
    first = cluster.plan()
    cluster.measure(first["run_dir"], {"tcp": 100, "taco": 200}, number=3)
    second = cluster.plan()
    assert second["run_dir"] == first["run_dir"]
    assert [run["label"].rsplit(", ", 1)[1] for run in second["runs"]] == [f"run {place} of 8" for place in range(4, 9)]
    assert "3 of them done before; 5 to go" in second["msg"]


def test_another_comparison_or_a_fresh_one_begins_in_a_folder_of_its_own(cluster):
    first = cluster.plan()["run_dir"]
    assert cluster.plan(warmup_runs=1)["run_dir"] != first
    assert cluster.plan(fresh=True)["run_dir"] != first


def test_one_that_was_finished_and_judged_is_measured_anew(cluster):
    first = cluster.plan()["run_dir"]
    cluster.measure(first, {"tcp": 100, "taco": 200})
    assert cluster.plan()["run_dir"] == first, "it was not judged yet"
    judged = cluster.verdict(run_dir=first)
    assert judged["comparison"]["cases"][0]["comparisons"][0]["verdict"] == "better"
    assert json.loads(Path(first, "comparison.json").read_text()) == judged["comparison"]
    assert judged["msg"].startswith("taco (lossy) is faster than tcp on ResNet50: 2.00 times")
    assert cluster.plan()["run_dir"] != first


def test_more_repeats_take_up_the_finished_comparison(cluster):
    first = cluster.plan()["run_dir"]
    cluster.measure(first, {"tcp": 100, "taco": 200})
    cluster.verdict(run_dir=first)
    second = cluster.plan(repeats=6)
    assert second["run_dir"] == first and len(second["runs"]) == 4


def test_options_that_arrive_as_text_are_the_same_comparison(cluster):
    first = cluster.plan()["run_dir"]
    text = {"defaults": dict(DEFAULTS, batch_size="64")}
    told = {
        "state": "planned",
        "results_dir": str(cluster.results),
        "hosts": HOSTS,
        "arms": ["tcp", "taco"],
        "repeats": 4,
        "warmup_runs": 0,
    }
    assert action_run.run(action, {**told, **text})["run_dir"] == first


def test_a_baseline_that_is_the_latest_is_the_one_from_before(cluster):
    then = cluster.plan()["run_dir"]
    cluster.measure(then, {"tcp": 100, "taco": 200})
    cluster.verdict(run_dir=then)
    found = cluster.plan(against=str(cluster.results / "latest"))
    assert found.get("against") == [os.path.realpath(then)], found


def test_an_unusable_baseline_is_refused_before_the_first_run_and_costs_no_verdict(cluster):
    other = cluster.plan(batch_sizes=[32])["run_dir"]
    comparison = read({"arms": ["tcp", "taco"], "repeats": 4, "warmup_runs": 0, "batch_sizes": [32]}, HOSTS, DEFAULTS)
    lines = [json.dumps(dict(one, schema=1)) for one in records(comparison, {"tcp": 100, "taco": 200})]
    Path(other, "records.jsonl").write_text("\n".join(lines) + "\n")
    cluster.verdict(run_dir=other)
    assert "has none of the arms and settings" in cluster.plan(against=other)["msg"]
    now = cluster.plan()["run_dir"]
    cluster.measure(now, {"tcp": 100, "taco": 200})
    assert cluster.verdict(run_dir=now, against=other)["failed"]
    assert json.loads(Path(now, "comparison.json").read_text())["regression"] is None


def test_a_comparison_that_is_continued_is_no_baseline_of_itself(cluster):
    run_dir = cluster.plan()["run_dir"]
    cluster.measure(run_dir, {"tcp": 100, "taco": 200})
    cluster.verdict(run_dir=run_dir)
    found = cluster.plan(repeats=6, against=str(cluster.results / "latest"))
    assert found["failed"] and "this comparison is continued there" in found["msg"]


def test_a_day_that_is_named_three_times_is_one_day(cluster):
    then = cluster.plan()["run_dir"]
    cluster.measure(then, {"tcp": 100, "taco": 200})
    cluster.verdict(run_dir=then)
    now = cluster.plan()["run_dir"]
    cluster.measure(now, {"tcp": 100, "taco": 190})
    found = cluster.verdict(
        run_dir=now,
        against=[then, then + "/comparison.json", os.path.join(then, "..", Path(then).name)],
    )
    assert not found.get("failed"), found
    assert {one["earlier"] for one in found["comparison"]["regression"]["comparisons"]} == {1}


def test_check_mode_plans_and_judges_and_writes_nothing(cluster):
    found = cluster.plan("--check")
    assert len(found["runs"]) == 8 and not cluster.results.exists()
    run_dir = cluster.plan()["run_dir"]
    cluster.measure(run_dir, {"tcp": 100, "taco": 200})
    assert cluster.verdict("--check", run_dir=run_dir)["comparison"]["complete"]
    assert not Path(run_dir, "comparison.json").exists()


def test_an_arm_that_became_slower_fails_the_task_after_the_results_were_written(cluster):
    then = cluster.plan()["run_dir"]
    cluster.measure(then, {"tcp": 100, "taco": 200})
    cluster.verdict(run_dir=then)
    now = cluster.plan()["run_dir"]
    cluster.measure(now, {"tcp": 100, "taco": 170})
    found = cluster.verdict(run_dir=now, against=then)
    assert found["failed"] and "taco (lossy) on horovod_synthetic/ResNet50/2x2/64: 0.85 times" in found["msg"]
    assert json.loads(Path(now, "comparison.json").read_text())["regression"]["worse"]
    # The options of an earlier run come from its records: version 1.0.0 kept a part of them in comparison.json.
    stored = json.loads(Path(then, "comparison.json").read_text())
    for case in stored["cases"]:
        del case["settings"]
    Path(then, "comparison.json").write_text(json.dumps(stored))
    assert cluster.verdict(run_dir=now, against=then)["failed"]
    same = cluster.verdict(run_dir=then, against=then)
    assert not same.get("failed") and same["comparison"]["regression"]["worse"] == []


@pytest.mark.parametrize(
    ("state", "options", "words"),
    [
        ("planned", {"arms": ["tcp", "taco"]}, "results_dir"),
        ("decided", {}, "run_dir"),
        ("continued", {"run_dir": "/nonexistent"}, "/nonexistent/comparison-plan.json can't be read"),
        ("decided", {"run_dir": "/nonexistent"}, "/nonexistent/comparison-plan.json can't be read"),
        ("decided", {"run_dir": "/nonexistent", "min_effect": 3}, "compare_min_effect is 3.0"),
        ("planned", {**PLANNED, "arms": ["tcp"]}, "compare_arms has only tcp"),
        (
            "planned",
            {**PLANNED, "defaults": {"model": "vgg16"}},
            "tcp on horovod_synthetic/vgg16/2x2/256 can't be run: benchmark_options.model is vgg16",
        ),
        ("planned", {**PLANNED, "workloads": [{"batch_size": "many"}]}, "compare_workloads"),
        ("planned", {**PLANNED, "against": "/nonexistent"}, "/nonexistent can't be read as the result of a comp"),
        (
            "planned",
            {**PLANNED, "defaults": {"lightcc": {"topk_ratio": 7}}},
            "tcp on horovod_synthetic/ResNet50/2x2/256 can't be run",
        ),
    ],
)
def test_an_error_is_a_sentence(state, options, words):
    result = action_run.run(action, {"state": state, **options})
    assert result["failed"] and words in result["msg"]


def test_with_auto_a_look_adds_rounds_until_the_verdicts_are_decided(cluster):
    spec = {"repeats": "auto", "budget_minutes": 60}
    first = cluster.plan(**spec)
    assert first["auto"] and len(first["runs"]) == 8, first
    assert first["msg"].startswith(
        "8 runs: 2 arms in 1 case, 4 measured and 0 warm-up runs each, and more until every verdict"
    )
    comparison = read({"arms": ["tcp", "taco"], "repeats": 6, "warmup_runs": 0}, HOSTS, DEFAULTS)
    noisy = {0: 100, 1: 130, 2: 90, 3: 110, 4: 105, 5: 105}
    lines = [
        json.dumps(dict(one, schema=1))
        for one in records(comparison, lambda run: noisy[run.round] if run.arm == "taco" else 100)
    ]
    file = Path(first["run_dir"], "records.jsonl")
    file.write_text("\n".join(lines[:8]) + "\n")
    second = cluster.rounds(run_dir=first["run_dir"], records=first["records"])
    assert [run["case"]["repeat"] for run in second["runs"]] == [4, 4, 5, 5], second
    assert second["msg"] == "horovod_synthetic/ResNet50/2x2/64: 6 rounds; it goes on."
    # Interrupted here, the rounds that were added are those that are left.
    again = cluster.plan(**spec)
    assert again["run_dir"] == first["run_dir"] and len(again["runs"]) == 4
    file.write_text("\n".join(lines) + "\n")
    third = cluster.rounds(run_dir=first["run_dir"], records=0)
    assert [run["case"]["repeat"] for run in third["runs"]] == [6, 6, 7, 7]
    stored = json.loads(Path(first["run_dir"], "comparison.json").read_text())
    assert stored["looks"] == [8, 12] and stored["auto"]["cases"] == {
        "horovod_synthetic/ResNet50/2x2/64": {"rounds": 8, "stop": None}
    }
    judged = cluster.verdict(run_dir=first["run_dir"])
    assert judged["comparison"]["looks"] == [8, 12] and judged["comparison"]["auto"] == stored["auto"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The witnesses in a record: valid, and a run over another path is a failed one."""

import json

import pytest
import recorded
from counted import counters, results, snapshot

from ansible_collections.taco.train.plugins.plugin_utils.report.counters import path_sentence
from ansible_collections.taco.train.plugins.plugin_utils.run.record_check import record_problems
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.hosts import suspects
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.record import at_the_same_time, with_witnesses

SENT = 2 * 138 * 10**9


def run(arm):
    text = recorded.log_of("horovod_synthetic", 300.0, 16, "HARP" if arm == "harp" else "Socket")
    return recorded.record("horovod_synthetic", text=text, arm=arm, num_iters=10)


@pytest.mark.parametrize(
    ("arm", "sent", "verdict"), [("tcp", SENT, "proved"), ("harp", 5, "proved"), ("harp", SENT, "contradicted")]
)
def test_a_record_with_witnesses_is_valid(arm, sent, verdict):
    (record,), taken = with_witnesses([run(arm)], counters({"gpu1": sent, "gpu2": sent, "other": 1}))
    assert taken.verdict == verdict and record_problems(json.loads(json.dumps(record))) == []
    assert set(record["witnesses"]["hosts"]) == {"gpu1", "gpu2"} and record["witnesses"]["too_few"]
    assert record["outcome"] == ("failed" if verdict == "contradicted" else "ok")
    assert f"the path over {record['witnesses']['path']['promise']}" in path_sentence(record)


def test_a_silent_fall_back_fails_with_the_reason_and_the_fix():
    (record,), _taken = with_witnesses([run("harp")], counters({"gpu1": SENT, "gpu2": SENT}))
    (problem,) = record["problems"]
    assert record["result"] is None and "fell back to kernel TCP" in problem and "NCCL_DEBUG=INFO" in problem
    assert "images/s are not a number of this arm" in problem


def test_a_failed_run_keeps_its_reason():
    record = recorded.record("horovod_synthetic", text="ssh: no", job={"rc": 255}, arm="harp")
    (after,), taken = with_witnesses([record], counters({"gpu1": SENT, "gpu2": SENT}))
    assert taken.verdict == "unknown" and after["problems"] == record["problems"]


def test_hosts_without_counters_are_null():
    (record,), _taken = with_witnesses(
        [run("tcp")], {"gpu1": {"before": {}, "after": {}}, "gpu2": results(snapshot(), None)}
    )
    assert record["witnesses"]["hosts"] == {"gpu1": None, "gpu2": None} and record_problems(record) == []


def test_runs_at_the_same_time_over_other_hosts_have_witnesses_of_their_own():
    def record(*hosts):
        return {"hosts": [{"name": host} for host in hosts]}

    one, other, again, both = record("a", "b"), record("c", "d"), record("b", "a"), record("d", "a")
    assert at_the_same_time([one, other]) == [[one], [other]]
    assert at_the_same_time([one, other, again]) == [[other], [one, again]]
    assert at_the_same_time([one, other, both]) == [[one, other, both]]
    assert at_the_same_time([]) == []


def test_a_pod_has_its_counters_under_the_name_that_mpirun_knows():
    record = run("tcp")
    for host in record["hosts"]:
        host["name"] += ".job.default.svc"
    (after,), taken = with_witnesses([record], counters({"gpu1": SENT, "gpu2": SENT}))
    assert taken.verdict == "proved" and record_problems(json.loads(json.dumps(after))) == []
    assert set(after["witnesses"]["hosts"]) == {"gpu1.job.default.svc", "gpu2.job.default.svc"}


def test_suspects_are_the_hosts_that_stand_out_in_the_newest_run_over_all_hosts():
    def record(*named, hosts=("a", "b")):
        return {
            "hosts": [{"name": host} for host in hosts],
            "witnesses": {"outliers": [{"host": host} for host in named]},
        }

    assert suspects([], ["a"]) == [] and suspects([{"hosts": [{"name": "a"}]}], ["a"]) == []
    records = [record("a"), record("b", "a", "b"), record("a", hosts=("a",))]
    assert suspects(records, ["b", "a"]) == ["b", "a"]
    pods = ("a.job.default.svc", "b.job.default.svc")
    assert suspects([record(pods[1], hosts=pods)], ["a", "b"]) == ["b"]

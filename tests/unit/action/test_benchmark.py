# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The benchmark through ansible-playbook, with an mpirun that prints what a test asks for."""

import os
import shlex
import time
from pathlib import Path

import jsonschema
import playbook
import pytest
from bench_play import GOOD, HOSTS, SCHEMA, SEEN
from screen import run_in_terminal


def test_a_good_run_is_recorded_with_all_that_it_was_made_of(bench):
    workers = {"gpu1": {"after": SEEN}}
    result = bench.play(env={"MINE": "a b"}, lab=True, num_iters=2, workers=workers)
    assert result["changed"] is True and not result.get("failed"), bench.output
    (record,) = bench.records()
    jsonschema.validate(record, SCHEMA)
    assert record == result["record"]
    assert (record["outcome"], record["run"], record["arm"], record["ranks"]) == ("ok", "run-1", "taco", 4)
    assert record["result"]["total"] == {"mean": 404.0, "ci": 7.8}
    assert record["result"]["iterations"] == [100.0, 102.0]
    assert (record["network"], record["problems"], record["timed_out"]) == ("HARP", [], False)
    assert (record["hosts"], record["lab"]) == (HOSTS, True)
    assert [note.split(":")[0] for note in record["notes"]] == ["LightCC's top-k is on", "lab"]
    assert record["parameters"]["launcher"] == "localhost" and record["parameters"]["num_iters"] == 2
    assert record["argv"][:5] == [str(bench.mpirun), "-np", "4", "-H", "gpu1:2,gpu2:2"]
    assert "MINE=a b" in record["argv"] and "LIGHT_INTRA_SIZE=2" in record["argv"]
    assert record["parameters"]["env"] == {"MINE": "a b"}
    assert record["system"]["gpu1"] == {
        "hostname": "gpu1",
        "os": "Debian 12",
        "instance_type": None,
        "kernel": "6.1",
        "kernel_line": "ro quiet",
        "cpus": 2,
        "memory_bytes": 1024,
        "hugepages": [{"size_bytes": 1073741824, "total": 20}],
        "gpus": 2,
        "gpu_names": ["V100"],
        "driver": "535",
        "engine": None,
        "interfaces": ["eth0"],
        "image": "taco@sha256:12",
        "packages": {"light-horovod": "0.1"},
    }
    assert (bench.run_dir / record["log"]).read_text() == GOOD
    assert (bench.folder / "target" / (record["id"] + ".log")).read_text() == GOOD
    assert os.readlink(bench.run_dir.parent / "latest") == "run-1"
    # A second run adds a line, and latest follows the run.
    bench.play(arm="harp")
    assert [record["arm"] for record in bench.records()] == ["taco", "harp"]
    assert len({record["id"] for record in bench.records()}) == 2
    bench.run_dir = bench.folder / "results/run-2"
    bench.play()
    assert os.readlink(bench.run_dir.parent / "latest") == "run-2"


def test_check_mode_runs_and_writes_nothing_and_shows_the_command(bench):
    result = bench.play("--check")
    assert result["skipped"] is True and result["changed"] is False
    assert shlex.join(result["argv"]) in result["msg"] and "-np 4" in result["msg"]
    assert not bench.run_dir.exists() and not (bench.folder / "target").exists()


# What mpirun does -> words of the message. Each reason is tested with the parser of its workload, and with run.record.
FAILURES = {
    "no total and status 1": ("echo 'Boom went the GPU' >&2; exit 1\n", ("status 1", "'Boom went the GPU'")),
    "kernel TCP": (
        "cat <<'END'\n0:7:7 [0] NCCL INFO Using network Socket\n" + GOOD + "END\n",
        ("NCCL used network Socket", "arm taco promises HARP", "look for the plugin libnccl-net.so"),
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_run_is_recorded_and_says_why(bench, name):
    script, words = FAILURES[name]
    bench.fake(script)
    result = bench.play()
    record = bench.the_failed_record(result)
    assert record["timed_out"] is False
    for word in words:
        assert word in result["msg"]


def test_one_that_hangs_is_ended_with_its_children_and_its_log_is_kept(bench):
    bench.fake("echo begun; sleep 1000 & echo $! > child; wait\n".replace("child", str(bench.folder / "child")))
    result = bench.play(timeout=2)
    record = bench.the_failed_record(result)
    assert record["timed_out"] is True
    assert "still running after 2 s" in result["msg"] and "benchmark_timeout" in result["msg"]
    assert (bench.run_dir / record["log"]).read_text() == "begun\n"
    child = Path("/proc") / (bench.folder / "child").read_text().strip() / "stat"
    end = time.monotonic() + 5
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)


def test_within_a_container_the_limit_reaches_inside(bench):
    # `env` stands for `docker exec NAME`: it runs the words after it.
    bench.fake("echo begun; sleep 1000\n")
    result = bench.play(exec_prefix=["env", "INSIDE=1"], timeout=2)
    record = bench.the_failed_record(result)
    assert record["argv"][:8] == ["env", "INSIDE=1", "timeout", "--foreground", "-k", "10", "2", str(bench.mpirun)]
    assert record["timed_out"] is True and "still running after 2 s" in result["msg"]


def test_an_mpirun_that_is_not_there(bench):
    result = bench.play(mpirun="/no/such/mpirun")
    record = bench.the_failed_record(result)
    assert "Can't run /no/such/mpirun" in result["msg"] and "benchmark_mpirun" in result["msg"]
    assert record["duration_s"] is None and result["changed"] is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": []}, ("at least one host", "benchmark_hosts")),
        ({"arm": "tpc"}, ("There is no arm 'tpc'", "benchmark_arm")),
        ({"options": {"modell": "x"}}, ("no option modell", "model")),
        ({"workload": "nccltest"}, ("workload", "horovod_synthetic")),
        ({"modell": "x"}, ("modell",)),
        ({"run_dir": "/proc/none"}, ("/proc/none", "taco_results_dir")),
    ],
)
def test_what_cant_be_run_is_refused_before_anything_runs(bench, options, words):
    said = bench.refused(**options)
    assert [word for word in words if word not in said] == [], said


def test_a_bad_run_of_a_comparison_is_kept_and_does_not_stop_it(bench):
    bench.fake("cat <<'END'\n" + GOOD + "END\nexit 3\n")
    case = {"id": "horovod_synthetic/ResNet50/2x2/256", "repeat": -1, "warmup": True}
    result = bench.play(fail_on_bad_run=False, case=case, options={"model": "VGG16", "batch_size": 8})
    assert not result.get("failed") and "status 3" in result["msg"]
    (record,) = bench.records()
    jsonschema.validate(record, SCHEMA)
    assert (record["outcome"], record["case"]) == ("failed", case)
    assert (record["parameters"]["model"], record["parameters"]["batch_size"]) == ("VGG16", 8)


def test_the_iterations_of_a_running_benchmark_are_shown_as_they_come(bench):
    head, _, tail = GOOD.partition("Iter #1")
    bench.fake(f"cat <<'END'\n{head}END\nsleep 1.5\ncat <<'END'\nIter #1{tail}END\n")
    bench.play(label="taco on 2x2, run 3 of 30", num_iters=2, progress_interval=0.3)
    said = [line for line in bench.output.splitlines() if line.startswith("taco on 2x2, run 3 of 30: ")]
    assert [line.partition(": ")[2] for line in said] == [
        "iteration 1 of 2, 100.0 images/s per device, mean 100.0",
        "iteration 2 of 2, 102.0 images/s per device, mean 101.0",
    ]


def test_on_a_terminal_an_iteration_takes_the_place_of_the_one_before_it(bench):
    head, _, tail = GOOD.partition("Iter #1")
    bench.fake(f"cat <<'END'\n{head}END\nsleep 1.5\ncat <<'END'\nIter #1{tail}END\n")
    label = "horovod, ResnetInceptionV2 on 2x8, run 23 of 36"
    command = ["ansible-playbook", *bench.prepared(label=label, num_iters=2, progress_interval=0.3)]
    environment = playbook.environment(ANSIBLE_DISPLAY_OK_HOSTS="true", ANSIBLE_DISPLAY_SKIPPED_HOSTS="true")
    status, screen = run_in_terminal(command, 80, env=environment, cwd=str(bench.folder))
    assert status == 0, screen.lines
    said = [number for number, line in enumerate(screen.lines) if "iteration" in line]
    assert [screen.lines[number] for number in said] == [
        "horovod, ResnetIncept…: iteration 2 of 2, 102.0 images/s per device, mean 101.0"
    ]
    assert screen.lines[said[0] - 1].startswith("TASK [Run]")
    assert screen.lines[said[0] + 1].startswith("changed: [localhost]")

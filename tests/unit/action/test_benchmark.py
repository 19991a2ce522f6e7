# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The benchmark through ansible-playbook, with an mpirun that prints what a test asks for."""

import json
import os
import shlex
import time
from pathlib import Path

import jsonschema
import playbook
import pytest
import yaml
from screen import run_in_terminal

from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import OPTIONS

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "collections/ansible_collections/taco/train/docs/schemas/record-1.json").read_text())
GOOD = """\
gpu1:7:7 [0] NCCL INFO Using network HARP
Model: ResNet50
Batch size: 256
Number of GPUs: 4
Running warmup...
Running benchmark...
Iter #0: 100.0 img/sec per GPU
Iter #1: 102.0 img/sec per GPU
Img/sec per GPU: 101.0 +-2.0
Total img/sec on 4 GPU(s): 404.0 +-7.8
"""
NODE = {
    "hostname": "gpu1",
    "os": {"name": "Debian 12"},
    "kernel": {"release": "6.1", "cmdline": "ro quiet"},
    "cpu": {"count": 2},
    "memory": {"total_bytes": 1024},
    "hugepages": {"pools": [{"size_bytes": 1073741824, "total": 20, "free": 20, "nodes": []}]},
    "gpus": {"count": 2, "driver_version": "535", "devices": [{"name": "V100"}, {"name": "V100"}]},
    "nics": [{"name": "eth0", "kind": "physical"}, {"name": "docker0", "kind": "bridge"}],
    "container_engine": None,
}
SEEN = {
    "container": {"repo_digests": ["taco@sha256:12"], "image_id": "sha256:34"},
    "packages": {"light-horovod": "0.1"},
}
HOSTS = [{"name": "gpu1", "slots": 2}, {"name": "gpu2", "slots": 2}]


class Bench:
    """A folder with a fake mpirun and the results of the runs with it."""

    def __init__(self, folder):
        self.folder = folder
        self.run_dir = folder / "results/run-1"
        self.mpirun = folder / "mpirun"
        self.output = ""
        self.settings = {}

    def fake(self, script):
        self.mpirun.write_text("#!/bin/sh\n" + script)
        self.mpirun.chmod(0o755)

    def prepared(self, *arguments, **options):
        """Write a play of the benchmark with these options; returns the arguments of ansible-playbook."""
        run = {"timeout": 20, **options.pop("options", {})}
        run.update({name: options.pop(name) for name in list(options) if name in OPTIONS})
        options = dict(
            {
                "options": run,
                "hosts": HOSTS,
                "mpirun": str(self.mpirun),
                "run_dir": str(self.run_dir),
                "target_log_dir": str(self.folder / "target"),
                "system": {"gpu1": NODE},
            },
            **options,
        )
        tasks = [{"name": "Run", "taco.train.benchmark": options}]
        play = {"name": "Bench", "hosts": "localhost", "gather_facts": False, "tasks": tasks}
        (self.folder / "play.yml").write_text(yaml.safe_dump([play]))
        return ["play.yml", "-i", "localhost,", "-c", "local", *arguments]

    def play(self, *arguments, **options):
        _status, self.output = playbook.run(self.folder, self.prepared(*arguments, **options), **self.settings)
        results = playbook.results(self.folder, "Run")
        assert results, self.output
        return results["localhost"]

    def records(self):
        return [json.loads(line) for line in (self.run_dir / "records.jsonl").read_text().splitlines()]

    def the_failed_record(self, result):
        """Return the one record of a run that failed, after checking what holds for each of them."""
        assert result["failed"] is True
        (record,) = self.records()
        jsonschema.validate(record, SCHEMA)
        assert (record["outcome"], record["result"]) == ("failed", None)
        assert record["problems"]
        log = self.run_dir / record["log"]
        assert log.is_file() and str(log) in result["msg"]
        assert "launcher localhost" in result["msg"] and "\n" not in result["msg"]
        return record


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    bench.fake("cat <<'END'\n" + GOOD + "END\n")
    return bench


def test_a_good_run_is_recorded_with_all_that_it_was_made_of(bench):
    workers = {"gpu1": {"after": SEEN, "environment": {"PYTHONPATH": "/opt/h"}}}
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
    assert "PYTHONPATH=/opt/h" in record["argv"] and record["parameters"]["env"] == {"MINE": "a b"}
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


def test_a_second_run_adds_a_line_and_latest_follows_the_run(bench):
    bench.play()
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
    "good numbers and status 3": ("cat <<'END'\n" + GOOD + "END\nexit 3\n", ("status 3",)),
    "kernel TCP": (
        "cat <<'END'\n0:7:7 [0] NCCL INFO Using network Socket\n" + GOOD + "END\n",
        ("NCCL used network Socket", "HARP was not in use"),
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
    result = bench.play(**options)
    assert result["failed"] is True and "Traceback" not in bench.output
    for word in words:
        assert word in result["msg"]
    assert not (bench.folder / "target").exists() and not bench.run_dir.exists()


def test_a_bad_run_of_a_comparison_is_kept_and_does_not_stop_it(bench):
    bench.fake("exit 3\n")
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


# Terminal's columns -> what remains on it of a run whose lines take up to 105.
ON_A_TERMINAL = {
    80: "horovod, ResnetIncept…: iteration 2 of 2, 102.0 images/s per device, mean 101.0",
    200: "horovod, ResnetInceptionV2 on 2x8, run 23 of 36: iteration 2 of 2, 102.0 images/s per device, mean 101.0",
}


@pytest.mark.parametrize("columns", ON_A_TERMINAL)
def test_on_a_terminal_an_iteration_takes_the_place_of_the_one_before_it(bench, columns):
    head, _, tail = GOOD.partition("Iter #1")
    bench.fake(f"cat <<'END'\n{head}END\nsleep 1.5\ncat <<'END'\nIter #1{tail}END\n")
    label = "horovod, ResnetInceptionV2 on 2x8, run 23 of 36"
    command = ["ansible-playbook", *bench.prepared(label=label, num_iters=2, progress_interval=0.3)]
    environment = playbook.environment(ANSIBLE_DISPLAY_OK_HOSTS="true", ANSIBLE_DISPLAY_SKIPPED_HOSTS="true")
    status, screen = run_in_terminal(command, columns, env=environment, cwd=str(bench.folder))
    assert status == 0, screen.lines
    said = [number for number, line in enumerate(screen.lines) if "iteration" in line]
    assert [screen.lines[number] for number in said] == [ON_A_TERMINAL[columns]]
    assert screen.lines[said[0] - 1].startswith("TASK [Run]")
    assert screen.lines[said[0] + 1].startswith("changed: [localhost]")


def test_a_quiet_run_shows_no_iterations(bench):
    bench.play(progress=False)
    assert "iteration 1" not in bench.output


def run_of(arm, number, **own):
    case = {"id": "horovod_synthetic/ResNet50/2x2/256", "repeat": number, "warmup": False}
    return dict({"label": f"{arm}, run {number}", "arm": arm, "case": case, "hosts": HOSTS, "overrides": {}}, **own)


# Fails for the arm harp, and counts every start.
FAILS_WITHOUT_LIGHTCC = """\
echo called >> {calls}
case "$*" in *LIGHT_*) ;; *) exit 3 ;; esac
cat <<'END'
{good}END
"""


def test_the_runs_of_a_segment_are_done_one_after_the_other_and_each_shows_what_came_of_it(bench):
    bench.fake(FAILS_WITHOUT_LIGHTCC.format(calls=bench.folder / "calls", good=GOOD))
    turns = ["taco", "harp", "harp", "taco", "harp"]
    runs = [run_of(arm, number, runs_left=5 - number) for number, arm in enumerate(turns, 1)]
    result = bench.play(hosts=[], runs=runs, options={"model": "VGG16"}, num_iters=2)
    assert not result.get("failed"), bench.output
    kept = bench.records()
    for record in kept:
        jsonschema.validate(record, SCHEMA)
    # The fifth would have been the third failure of its arm in a row.
    assert [(one["arm"], one["outcome"]) for one in kept] == [
        *(("taco", "ok"), ("harp", "failed"), ("harp", "failed"), ("taco", "ok")),
    ]
    assert [one["case"]["repeat"] for one in kept] == [1, 2, 3, 4]
    assert {one["parameters"]["model"] for one in kept} == {"VGG16"}
    assert result["given_up"] == ["horovod_synthetic/ResNet50/2x2/256 harp"]
    assert [one["outcome"] for one in result["runs"]] == ["ok", "failed", "failed", "ok"]
    assert "taco, run 1: iteration 2 of 2, 102.0 images/s per device, mean 101.0" in bench.output
    assert "harp, run 2: The benchmark on launcher localhost failed: " in bench.output
    assert (bench.folder / "calls").read_text() == 4 * "called\n"


def test_failures_of_before_this_comparison_was_planned_do_not_count(bench):
    bench.fake("exit 3\n")
    bench.play(runs=[run_of("taco", 1), run_of("taco", 2), run_of("taco", 3)])
    assert len(bench.records()) == 2
    bench.play(runs=[run_of("taco", 3)])
    assert len(bench.records()) == 2, "two failures in a row, since no record is from before"
    bench.play(runs=[run_of("taco", 3)], records_before=2)
    assert len(bench.records()) == 3


def test_a_run_that_shows_no_iterations_shows_its_value(bench):
    bench.play(runs=[run_of("taco", 1)], progress=False)
    assert "taco, run 1: 404 images/s" in bench.output


def test_an_arm_that_is_not_active_gives_failed_records_and_starts_nothing(bench):
    bench.fake(f"echo called >> {bench.folder}/calls\n")
    workers = {"gpu2": {"failed": True, "msg": "no such container"}}
    result = bench.play(runs=[run_of("taco", 1), run_of("harp", 2)], workers=workers)
    assert not result.get("failed")
    problems = [record["problems"] for record in bench.records()]
    assert problems == 2 * [["The arm is not active on gpu2: no such container."]]
    assert not (bench.folder / "calls").exists()


LOSES = '''
DOCUMENTATION = """
name: loses
short_description: The local connection, lost once where a file says so
description: For tests.
author: Taco Team (@taco)
extends_documentation_fragment: [connection_pipelining]
"""
import os
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import local

class Connection(local.Connection):
    transport = "loses"
    def exec_command(self, *arguments, **options):
        if os.path.exists(os.environ["LOSE"]):
            os.unlink(os.environ["LOSE"])
            raise AnsibleConnectionFailure("gone away")
        return super().exec_command(*arguments, **options)
'''


def test_a_connection_lost_in_the_middle_of_a_segment_is_a_failed_run_and_the_next_one_is_tried(bench):
    lose = bench.folder / "lose"
    bench.fake(f"[ -e {lose}.once ] || touch {lose} {lose}.once\ncat <<'END'\n{GOOD}END\n")
    plugins = bench.folder / "connection_plugins"
    plugins.mkdir()
    (plugins / "loses.py").write_text(LOSES)
    bench.settings = {"LOSE": str(lose)}
    result = bench.play("-c", "loses", runs=[run_of("taco", number) for number in (1, 2, 3)], progress=False)
    assert not result.get("failed"), bench.output
    kept = bench.records()
    assert [record["outcome"] for record in kept] == ["ok", "failed", "ok"], bench.output
    assert "the connection to it was lost: gone away" in kept[1]["problems"][0].lower()


def test_what_is_wrong_with_one_of_the_runs_is_refused_before_the_first(bench):
    result = bench.play(runs=[run_of("taco", 1), run_of("taco", 2, overrides={"batch_size": "many"})])
    assert result["failed"] is True and "batch_size" in result["msg"]
    result = bench.play(runs=[run_of("taco", 1, model="VGG16")])
    assert result["failed"] is True and "Each of 'runs' has no model" in result["msg"]
    assert not bench.run_dir.exists()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparisons on the lab that `make lab-up` started, whose outcome is known beforehand."""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from types import SimpleNamespace

import faults
import jsonschema
import pytest
from integration.paths import COLLECTION, ROOT

INVENTORY = "inventories/lab"
NODES = ("taco-lab-node-0", "taco-lab-node-1")
LIBRARY = "/var/lib/taco-train/without-plugin/libnccl-net.so"
# Sleep takes as long on a busy machine as on a quiet one, so what comes out is known beforehand.
SLEEPER = """
import os, time
seconds = 0.2 * float(os.environ.get("SLOWER", "1"))
for number in range(5):
    begun = time.perf_counter()
    time.sleep(seconds)
    if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
        print("step %d: %.4f steps/s" % (number, 1 / (time.perf_counter() - begun)), flush=True)
"""
# The same arm under another name, and one that is made 10 % slower.
KNOWN = {
    "compare_name": "known",
    "compare_arms": [
        "tcp",
        {"name": "again", "base": "tcp"},
        {"name": "sabotaged", "base": "tcp", "env": {"SLOWER": "1.1"}},
    ],
    "compare_repeats": 6,
    "compare_warmup_runs": 1,
    "benchmark_workload": "command",
    "compare_workloads": [{"model": "Sleeper"}],
    "benchmark_options": {
        "command": ["python3", "-c", SLEEPER],
        "pattern": "step [0-9]+: (?P<value>[0-9.]+) steps/s",
        "unit": "steps/s",
    },
}
# Many short runs, to be interrupted.
SHORT = {
    "compare_name": "short",
    "compare_arms": ["tcp", "harp"],
    "compare_workloads": [{"model": "MobileNetV2"}],
    "compare_repeats": 4,
    "compare_warmup_runs": 0,
    "benchmark_options": {
        "script": str(ROOT / "labs/docker/training/gradient_exchange.py"),
        "batch_size": 64,
        "num_iters": 2,
        "num_batches_per_iter": 1,
        "num_warmup_batches": 0,
    },
}
RUNS = 8


@pytest.fixture(scope="module", autouse=True)
def deployed(command):
    playbooks = ("playbooks/prepare.yml", "playbooks/deploy.yml")
    done = command("ansible-playbook", *playbooks, "-i", INVENTORY, timeout=600)
    assert done.returncode == 0, done.stdout


def arguments(results, variables):
    extra = json.dumps(dict(variables, taco_results_dir=str(results)))
    return ["ansible-playbook", "playbooks/compare.yml", "-i", INVENTORY, "-e", extra]


def records_of(folder):
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


@pytest.fixture(scope="module")
def known(command, tmp_path_factory):
    """Run the comparison whose outcome is known, and return what it left behind."""
    results = tmp_path_factory.mktemp("results")
    done = command(*arguments(results, KNOWN), timeout=900)
    assert done.returncode == 0, done.stdout
    folder = (results / "latest").resolve()
    return SimpleNamespace(
        stdout=done.stdout, folder=folder, result=json.loads((folder / "comparison.json").read_text())
    )


def verdicts(result):
    return {one["arm"]: one for case in result["cases"] for one in case["comparisons"]}


def test_an_arm_against_itself_is_equivalent(known):
    judged = verdicts(known.result)["again"]
    assert judged["verdict"] == "equivalent", judged


def test_an_arm_that_was_made_10_percent_slower_is_worse(known):
    judged = verdicts(known.result)["sabotaged"]
    assert judged["verdict"] == "worse", judged
    assert judged["ratio"] == pytest.approx(1 / 1.1, abs=0.01)


def test_every_run_is_on_record_and_the_arms_took_turns(known):
    schema = json.loads((COLLECTION / "docs/schemas/record-1.json").read_text())
    records = records_of(known.folder)
    for record in records:
        jsonschema.validate(record, schema)
    assert [record["arm"] for record in records[:6]] == 2 * ["tcp", "again", "sabotaged"]
    assert [record["arm"] for record in records[6:9]] == ["sabotaged", "again", "tcp"]
    assert len(records) == known.result["planned"] == 21 and known.result["complete"]
    assert {record["arm_spec"]["plugin"] for record in records} == {"off"}
    assert all(record["system"]["taco-lab-node-1"]["image"].startswith("sha256:") for record in records)
    jsonschema.validate(known.result, json.loads((COLLECTION / "docs/schemas/comparison-1.json").read_text()))


def test_what_a_person_sees_says_it_all(known):
    said = " ".join(known.stdout.split())
    assert "tcp, Sleeper on 2x2, run 1 of 21 (warm-up): iteration 5, " in said
    assert "sabotaged is slower than tcp on Sleeper" in said and "again is as fast as tcp on Sleeper" in said
    page = (known.folder / "report.html").read_text()
    assert (
        "sabotaged is slower than tcp on Sleeper" in page
        and "LAB" in page
        and "http://" not in page.replace("http://www.w3.org", "")
    )
    rows = list(csv.DictReader((known.folder / "runs.csv").open()))
    assert len(rows) == 21 and {row["outcome"] for row in rows} == {"ok"}


def test_a_comparison_prints_two_lines_a_run_the_time_left_and_the_report_last(known):
    lines = known.stdout.splitlines()
    runs = [line for line in lines if ": iteration 5, " in line]
    # With as many for the site, a demo of 36 runs stays below 400.
    assert len(runs) == 21 and len(lines) < 2 * 21 + 80, known.stdout
    # Of a command nobody knows how many iterations it makes: the first run has nothing to go by, and the last none after it.
    assert ["left for all runs" in line for line in runs] == [False] + 19 * [True] + [False], runs
    assert "skipping: [" not in known.stdout and "\nok: [" not in known.stdout
    assert lines[-1] == f"Report: {known.folder}/report.html"


def test_the_comparison_is_its_own_baseline(known, command):
    options = f"state=decided run_dir={known.folder} against={known.folder}"
    done = command("ansible", "localhost", "-m", "taco.train.comparison", "-a", options)
    assert done.returncode == 0, done.stdout


def on_node(node, script):
    done = subprocess.run(faults.command(node, script), stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def changed_in_container(node):
    """The files of a training container that were removed since it was created, and everything by the name of the plugin."""
    return {
        line for line in on_node(node, "docker diff taco-train").splitlines() if line[0] == "D" or "libnccl" in line
    }


def processes(node):
    """The command lines on a node, also in its containers, that are neither of the system nor of connections to it."""
    lines = on_node(node, "ps -eo args").splitlines()[1:]
    return Counter(
        line for line in lines if not re.match(r"\[|ps |sshd|/usr/sbin/sshd|\(sd-pam|/lib/systemd|sh -c|bash", line)
    )


@contextlib.contextmanager
def running(folder, records):
    """A comparison of short runs in a process group of its own, from the moment when it has so many records."""
    environment = dict(os.environ, PATH=str(ROOT / ".venv/bin") + os.pathsep + os.environ["PATH"])
    with (folder / "output").open("w") as output:
        started = subprocess.Popen(
            arguments(folder, SHORT), cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            end = time.monotonic() + 300
            while len(records_of(folder / "latest")) < records:
                assert started.poll() is None and time.monotonic() < end, (folder / "output").read_text()
                time.sleep(0.2)
            yield started
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def test_killed_in_the_middle_it_goes_on_and_no_worker_differs(command, tmp_path):
    with running(tmp_path, 2):
        pass
    folder = (tmp_path / "latest").resolve()
    before = records_of(folder)
    assert 2 <= len(before) < RUNS and not (folder / "comparison.json").exists()
    assert [changed_in_container(node) for node in NODES] == 2 * [{f"A {LIBRARY}"}]

    done = command(*arguments(tmp_path, SHORT), timeout=600)
    assert done.returncode == 0, done.stdout
    assert f"{len(before)} of them done before; {RUNS - len(before)} to go" in done.stdout
    after = records_of(folder)
    assert after[: len(before)] == before
    keys = [(record["arm"], record["case"]["repeat"]) for record in after]
    assert len(keys) == len(set(keys)) == RUNS
    assert {(record["arm"], record["network"]) for record in after} == {("tcp", "Socket"), ("harp", "LabHARP")}
    assert json.loads((folder / "comparison.json").read_text())["complete"]
    assert [changed_in_container(node) for node in NODES] == 2 * [{f"A {LIBRARY}"}]


def test_30_seconds_after_ctrl_c_no_process_of_it_is_left(tmp_path):
    before = [processes(node) for node in NODES]
    with running(tmp_path, 1) as started:
        os.killpg(started.pid, signal.SIGINT)
        end = time.monotonic() + 30
        started.wait(timeout=30)
        while time.monotonic() < end and any((processes(node) - one) for node, one in zip(NODES, before)):
            time.sleep(1)
        assert [processes(node) - one for node, one in zip(NODES, before)] == [Counter(), Counter()]
    assert [changed_in_container(node) for node in NODES] == 2 * [{f"A {LIBRARY}"}]

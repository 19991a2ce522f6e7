# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The benchmark through ansible-playbook, with an mpirun that prints what a test asks for."""

import json
from pathlib import Path

import action_run
import jsonschema
import playbook
import pytest
import yaml

from ansible_collections.taco.train.plugins.action import benchmark
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import OPTIONS

ROOT = Path(__file__).parents[2]
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

    def options(self, **options):
        run = {"timeout": 20, **options.pop("options", {})}
        run.update({name: options.pop(name) for name in list(options) if name in OPTIONS})
        return {
            "options": run,
            "hosts": HOSTS,
            "mpirun": str(self.mpirun),
            "run_dir": str(self.run_dir),
            "target_log_dir": str(self.folder / "target"),
            "facts_of": ["gpu1"],
            **options,
        }

    def refused(self, **options):
        """The message with which the action refuses options, before it runs or writes anything."""
        result = action_run.run(benchmark, self.options(**options))
        assert result["failed"] is True and not self.run_dir.exists() and not (self.folder / "target").exists()
        return result["msg"]

    def prepared(self, *arguments, **options):
        """Write a play of the benchmark with these options; returns the arguments of ansible-playbook."""
        tasks = [{"name": "Run", "taco.train.benchmark": self.options(**options)}]
        play = {"name": "Bench", "hosts": "localhost", "gather_facts": False, "tasks": tasks}
        (self.folder / "play.yml").write_text(yaml.safe_dump([play]))
        hosts = {"localhost": {}, "gpu1": {"taco_node": NODE}}
        (self.folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        return ["play.yml", "-i", "hosts.yml", "-c", "local", *arguments]

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

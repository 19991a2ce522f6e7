# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module arena_job, against an Arena that checks its arguments."""

import json
import os
import sys
import time
from pathlib import Path

import pytest
from kubernetes_modules import execute

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest

ROOT = Path(__file__).parents[2]
JOB = {"workers": 2, "gpus_per_worker": 1, "image": "i:1", "command": ["sleep", "infinity"], "shm_size": 0}
JOB |= {"hugepages": 0, "privileged": False, "mounts": [], "memory": "4Gi", "gpu_topology": True}

LABEL = "app.kubernetes.io/managed-by"


class Arena:
    """A folder in which the stand-in keeps what it was told, and plays that tell it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        path = folder / "bin/arena"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {ROOT}/tests/support/fake_arena.py "$@"\n')
        path.chmod(0o755)
        self.managed_by("taco.train")
        self.kubectl("exit 0\n")

    def answers(self, **verbs):
        """Let Arena answer by scripts, each for a verb, in place of the stand-in. A file named submitted is there after a submit."""
        cases = " ".join(f"{verb})\n{script};;\n" for verb, script in verbs.items())
        (self.folder / "bin/arena").write_text(
            f'#!/bin/sh\ncd {self.folder}\necho "[\\"$1\\"]" >> calls.jsonl\ncase "$1" in {cases} esac\n'
            '[ "$1" != submit ] || touch submitted\n'
        )

    def verbs(self):
        return [call[0] for call in self.calls()]

    def plan(self, **plan):
        (self.folder / "plan.json").write_text(json.dumps(plan))

    def managed_by(self, manager):
        """Let the job have a label with its manager, or none."""
        labels = {LABEL: manager} if manager else {"app": "mpijob"}
        (self.folder / "object.json").write_text(
            json.dumps({"kind": "MPIJob", "metadata": {"name": "j", "labels": labels}})
        )

    def kubectl(self, script):
        """Lay a kubectl on the path that prints the job, and of its pods knows the launcher alone."""
        path = self.folder / "bin/kubectl"
        get = f'*"get mpijobs.kubeflow.org j --output=json") cat {self.folder}/object.json; exit;;'
        pods = f'*"get pods --selector=release=j --output=name") cat {self.folder}/pods; exit;;'
        (self.folder / "pods").touch()
        path.write_text(f'#!/bin/sh\ncase "$*" in {get} {pods} esac\n{script}')
        path.chmod(0o755)

    def calls(self):
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def play(self, *tasks, check=False):
        """Run the module for each task until one fails; returns a status, the lines of progress and the results."""
        lines, answers = [], {}
        for number, options in enumerate(tasks):
            options = dict(options)
            job = {**JOB, **options.pop("job", {})}
            basics = {"name": "j", "namespace": "train", "poll": 0.05, "definition": mpijob_manifest(job)}
            result = execute("taco.train.arena_job", {**basics, **options}, check=check)
            lines += result.get("progress", [])
            if result.get("failed"):
                return 2, "\n".join([*lines, result["msg"]]), answers
            answers[str(number)] = result
        return 0, "\n".join(lines), answers


@pytest.fixture
def arena(tmp_path, monkeypatch):
    """Arena and kubectl of the test are found first, and a second of a pause takes 20 ms."""
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds / 50))
    monkeypatch.setenv("FAKE_ARENA", str(tmp_path))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    return Arena(tmp_path)


NONE = "echo \"Not found training job j in namespace train,please use 'arena submit' to create it.\" >&2; exit 1"


def shown(status, *lines):
    """Return a script that prints lines of a log and a job with its launcher alone."""
    instances = [{"name": "j-launcher-x", "status": status.capitalize(), "node": "n1", "chief": True}]
    job = json.dumps({"name": "j", "namespace": "train", "status": status, "instances": instances})
    return "\n".join(f"echo '{line}'" for line in (*lines, job))


def after_submit(script):
    return f"if [ -e submitted ]; then\n{script}\nelse\n{NONE}\nfi"

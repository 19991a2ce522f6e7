# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action arena_job in plays over this machine, against an Arena that checks what it is told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
JOB = {"name": "j", "workers": 2, "gpus_per_worker": 1, "image": "i:1", "command": ["sleep", "infinity"], "shm_size": 0}
JOB |= {"hugepages": 0, "privileged": False, "mounts": [], "memory": "4Gi", "gpu_topology": True, "namespace": "train"}


class Arena:
    """A folder in which the stand-in keeps what it was told, and plays that tell it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        path = folder / "bin/arena"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/fake_arena.py "$@"\n')
        path.chmod(0o755)

    def plan(self, **plan):
        (self.folder / "plan.json").write_text(json.dumps(plan))

    def kubectl(self, script):
        """Lay a kubectl on the path that knows the launcher alone."""
        path = self.folder / "bin/kubectl"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def calls(self):
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def play(self, *tasks, check=False, path=True):
        body = [{"name": f"Task {number}", "taco.train.arena_job": task} for number, task in enumerate(tasks)]
        for number, task in enumerate(body):
            task["taco.train.arena_job"] = {"poll": 0.05, "job": JOB, **tasks[number]}
            task["register"] = f"answer_{number}"
        answers = "{{ {" + ", ".join(f"'{number}': answer_{number}" for number in range(len(tasks))) + "} | to_json }}"
        body.append(
            {
                "ansible.builtin.copy": {"dest": str(self.folder / "answers.json"), "content": answers},
                "check_mode": False,
            }
        )
        play = [{"name": "Arena", "hosts": "localhost", "gather_facts": False, "tasks": body}]
        (self.folder / "play.yml").write_text(yaml.safe_dump(play))
        folders = [str(self.folder / "bin")] * path + [str(Path(sys.executable).parent), os.environ["PATH"]]
        environment = dict(
            os.environ,
            FAKE_ARENA=str(self.folder),
            ANSIBLE_COLLECTIONS_PATH=str(ROOT / "collections"),
            ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
            ANSIBLE_HOME=str(self.folder / "home"),
            ANSIBLE_LOCAL_TEMP=str(self.folder / "tmp"),
            PATH=os.pathsep.join(folders),
        )
        command = ["ansible-playbook", "play.yml", "-i", "localhost,", "-c", "local", *(["--check"] if check else [])]
        command += ["-e", f"ansible_python_interpreter={sys.executable}"]
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, text=True
        )
        answers = self.folder / "answers.json"
        return (
            done.returncode,
            " ".join(done.stdout.split()),
            json.loads(answers.read_text()) if answers.exists() else {},
        )


@pytest.fixture
def arena(tmp_path):
    return Arena(tmp_path)


def test_a_job_comes_up_and_is_taken_down_with_its_log(arena):
    logs = str(arena.folder / "logs")
    rc, output, answers = arena.play({}, {"state": "absent", "logs_dir": logs}, {"state": "absent"})
    assert rc == 0, output
    up, down, again = answers["0"], answers["1"], answers["2"]
    assert (up["changed"], up["phase"], up["namespace"]) == (True, "RUNNING", "train")
    assert up["placement"] == {"j-worker-0": "n2", "j-worker-1": "n2"}
    assert up["launcher"]["pod"].startswith("j-launcher-x") and up["container"] == "mpi"
    assert up["hosts"] == [{"name": "j-worker-0", "slots": 1}, {"name": "j-worker-1", "slots": 1}]
    assert up["argv"][-1] == "sleep infinity" and "--gputopology=true" in up["argv"]
    assert "Waiting for j: j-worker-0 doesn't exist yet" in output
    (path,) = down["logs"].values()
    assert Path(path).read_text() == "mpirun said this\n" and Path(path).parent == Path(logs)
    assert (down["changed"], again["changed"]) == (True, False)
    verbs = [call[0] for call in arena.calls()]
    assert verbs[:2] == ["get", "submit"] and verbs.count("delete") == 1


def test_a_command_that_is_the_job_ends_with_its_log(arena):
    arena.plan(statuses=["PENDING", "RUNNING", "SUCCEEDED"], log="total images/sec: 991.92\n")
    rc, output, answers = arena.play({"until": "succeeded"})
    assert rc == 0, output
    assert answers["0"]["stdout"] == "total images/sec: 991.92" and answers["0"]["duration"] > 0


def test_a_job_in_which_mpirun_runs_is_not_deleted_unasked(arena):
    arena.kubectl(
        'case "$*" in "--kubeconfig=/k --context=c --namespace=train exec j-launcher-x"*" --container=mpi -- sh -c "*) '
        "echo mpirun -np 2 python3 train.py;; *) echo unexpected: $* >&2; exit 1;; esac\n"
    )
    assert arena.play({})[0] == 0
    absent = {"state": "absent", "kubeconfig": "/k", "context": "c"}
    rc, output, _answers = arena.play(absent)
    assert rc != 0 and "would end running work: mpirun -np 2 python3 train.py runs in the launcher pod" in output
    assert (
        "taco_interrupt_running_work: true" in output and "running pods: j-worker-0, j-worker-1, j-launcher-x" in output
    )
    rc, output, answers = arena.play(absent, check=True)
    assert rc == 0 and answers["0"]["changed"] and "would end running work" in answers["0"]["warnings"][0], output
    assert not [call for call in arena.calls() if call[0] == "delete"]
    rc, output, answers = arena.play({**absent, "interrupt_running_work": True})
    assert rc == 0 and answers["0"]["changed"], output


def test_a_job_stays_while_the_log_of_its_launcher_can_not_be_read(arena):
    arena.plan(logs_fail="Get https://10.0.0.5:10250/containerLogs: dial tcp 10.0.0.5:10250: i/o timeout")
    absent = {"state": "absent", "logs_dir": str(arena.folder / "logs")}
    rc, output, _answers = arena.play({}, absent)
    assert rc != 0 and "is not deleted, since these logs can't be read" in output, output
    assert "10.0.0.5:10250: i/o timeout" in output and "mpijob_allow_lost_logs: true" in output
    assert not [call for call in arena.calls() if call[0] == "delete"]
    rc, output, answers = arena.play({**absent, "allow_lost_logs": True})
    assert rc == 0 and answers["0"]["changed"], output
    (path,) = answers["0"]["logs"].values()
    assert Path(path).read_text().startswith("There is no log: ")


def test_a_launcher_that_cannot_be_reached_is_deleted_with_a_warning(arena):
    arena.kubectl("echo error: unable to upgrade connection >&2; exit 1\n")
    rc, output, answers = arena.play({}, {"state": "absent"})
    assert rc == 0, output
    (warning,) = answers["1"]["warnings"]
    assert "was not checked: error: unable to upgrade connection" in warning


@pytest.mark.parametrize(
    ("plan", "options", "said"),
    [
        ({"statuses": ["FAILED"], "log": "out of memory\n"}, {}, "The job j is FAILED: out of memory"),
        ({"statuses": ["RUNNING", "SUCCEEDED"]}, {"wait_timeout": 3, "job": {**JOB, "workers": 2, "name": "k"}}, None),
        (
            {"statuses": ["PENDING"]},
            {"wait_timeout": 0},
            "the job j was not running after 0 s: j-worker-0 doesn't exist yet",
        ),
        ({"submit_fails": "no permission"}, {}, "arena submit j failed on localhost:"),
        ({}, {"job": {**JOB, "privileged": True}}, "Arena can't say privileged"),
    ],
)
def test_what_goes_wrong_is_said(arena, plan, options, said):
    arena.plan(**plan)
    rc, output, _answers = arena.play(options)
    assert (rc == 0) == (said is None), output
    assert said is None or said in output
    assert "Traceback" not in output


def test_a_job_that_is_there_already_is_refused(arena):
    rc, output, _answers = arena.play({}, {})
    assert rc == 2 and "There is a job j in train already (RUNNING), and Arena can't change one" in output


def test_check_mode_submits_nothing(arena):
    rc, output, answers = arena.play({}, check=True)
    assert rc == 0 and answers["0"]["changed"], output
    assert [call[0] for call in arena.calls()] == ["get"]


def test_without_arena_a_sentence_says_so(arena):
    rc, output, _answers = arena.play({"arena": "no-arena-here"})
    assert rc == 2 and "There is no no-arena-here on localhost that can be started: install it there" in output

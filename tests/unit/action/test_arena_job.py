# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action arena_job, against an Arena that checks its arguments. Plays with it are in unit/roles/test_ack.py."""

import json
import os
import sys
import time
from pathlib import Path

import action_run
import pytest

from ansible_collections.taco.train.plugins.action import arena_job

ROOT = Path(__file__).parents[3]
JOB = {"name": "j", "workers": 2, "gpus_per_worker": 1, "image": "i:1", "command": ["sleep", "infinity"], "shm_size": 0}
JOB |= {"hugepages": 0, "privileged": False, "mounts": [], "memory": "4Gi", "gpu_topology": True, "namespace": "train"}

LABEL = "app.kubernetes.io/managed-by"


class Arena:
    """A folder in which the stand-in keeps what it was told, and plays that tell it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        path = folder / "bin/arena"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/support/fake_arena.py "$@"\n')
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
        get = f'case "$*" in *"get mpijobs.kubeflow.org j --output=json") cat {self.folder}/object.json; exit;; esac\n'
        path.write_text("#!/bin/sh\n" + get + script)
        path.chmod(0o755)

    def calls(self):
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def play(self, *tasks, check=False):
        """Run the action for each task until one fails; returns a status, what was displayed and the results."""
        lines, answers = [], {}
        for number, options in enumerate(tasks):
            result = action_run.run(arena_job, {"poll": 0.05, "job": JOB, **options}, check, display=lines.append)
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
    assert f"--label={LABEL}=taco.train" in up["argv"]
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
        'case "$*" in "--kubeconfig=/k config current-context") echo c;; '
        '"--kubeconfig=/k --context=c --namespace=train exec j-launcher-x"*" --container=mpi -- sh -c "*) '
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
    assert arena.verbs().count("logs") > 3
    assert "10.0.0.5:10250: i/o timeout" in output and "mpijob_allow_lost_logs: true" in output
    assert not [call for call in arena.calls() if call[0] == "delete"]
    rc, output, answers = arena.play({**absent, "allow_lost_logs": True})
    assert rc == 0 and answers["0"]["changed"], output
    (path,) = answers["0"]["logs"].values()
    assert Path(path).read_text().startswith("There is no log: ")


def test_a_job_whose_launcher_cannot_be_asked_is_not_deleted_unasked(arena):
    arena.kubectl("echo error: unable to upgrade connection >&2; exit 1\n")
    rc, output, _answers = arena.play({}, {"state": "absent"})
    assert (
        rc != 0 and "localhost: the MPIJob j in the namespace train is not deleted, since whether mpirun runs" in output
    )
    assert "was not checked: error: unable to upgrade connection" in output
    assert "set taco_interrupt_running_work: true" in output and "delete" not in arena.verbs()
    rc, output, answers = arena.play({"state": "absent"}, check=True)
    assert rc == 0 and "was not checked: error" in answers["0"]["warnings"][0], output
    rc, output, answers = arena.play({"state": "absent", "interrupt_running_work": True})
    assert rc == 0 and answers["0"]["changed"], output


def test_a_launcher_that_can_be_asked_later_is_asked_again(arena):
    arena.kubectl(f"[ -e {arena.folder}/asked ] || {{ touch {arena.folder}/asked; echo EOF >&2; exit 1; }}\n")
    rc, output, answers = arena.play({}, {"state": "absent"})
    assert rc == 0 and answers["1"]["changed"], output


def test_a_context_that_arena_would_not_take_is_refused(arena):
    arena.kubectl('case "$*" in *current-context) echo test;; *) exit 0;; esac\n')
    for task in ({"context": "prod", "kubeconfig": "/k"}, {"context": "prod", "state": "absent"}):
        rc, output, _answers = arena.play(task)
        assert rc != 0 and "localhost: Arena would not use taco_kube_context prod" in output, output
        assert "expected prod, found test" in output and "config use-context prod`" in output
    assert arena.calls() == []
    rc, output, _answers = arena.play({"context": "test"}, {"context": "test", "state": "absent"})
    assert rc == 0 and arena.verbs().count("submit") == 1, output


def test_a_context_is_refused_where_the_current_one_is_not_known(arena):
    arena.kubectl("echo error: current-context is not set >&2; exit 1\n")
    rc, output, _answers = arena.play({"context": "prod"})
    assert rc != 0 and "found no answer (error: current-context is not set)" in output and arena.calls() == [], output


NONE = "echo \"Not found training job j in namespace train,please use 'arena submit' to create it.\" >&2; exit 1"


def shown(status, *lines):
    """Return a script that prints lines of a log and a job with its launcher alone."""
    instances = [{"name": "j-launcher-x", "status": status.capitalize(), "node": "n1", "chief": True}]
    job = json.dumps({"name": "j", "namespace": "train", "status": status, "instances": instances})
    return "\n".join(f"echo '{line}'" for line in (*lines, job))


def after_submit(script):
    return f"if [ -e submitted ]; then\n{script}\nelse\n{NONE}\nfi"


def test_the_log_of_a_job_that_ended_is_asked_for_again(arena):
    logs = "[ -e asked ] || { touch asked; echo EOF >&2; exit 1; }; echo total images/sec: 991.92"
    arena.answers(get=after_submit(shown("SUCCEEDED")), submit="", logs=logs)
    rc, output, answers = arena.play({"until": "ended"})
    assert rc == 0 and answers["0"]["stdout"] == "total images/sec: 991.92", output


def test_a_job_whose_log_can_not_be_read_is_no_result(arena):
    logs = "echo Get https://10.0.0.5:10250/containerLogs: i/o timeout >&2; exit 1"
    arena.answers(get=after_submit(shown("SUCCEEDED")), submit="", logs=logs)
    rc, output, _answers = arena.play({"until": "ended"})
    assert rc != 0 and "localhost: the job j is SUCCEEDED, and its log can't be read: Get https://10.0.0.5" in output
    assert "`arena logs j --type=mpijob --namespace=train`" in output and "delete" not in arena.verbs()


@pytest.mark.parametrize(
    "odd",
    [shown("UNKNOWN"), shown("Restarting"), "echo Service Unavailable", "echo dial tcp: i/o timeout >&2; exit 1"],
    ids=["unknown", "odd", "text", "failure"],
)
def test_an_odd_answer_midway_does_not_end_the_wait(arena, odd):
    odd = odd.replace("exit 1", "exit 1 # once")
    get = f"if [ -e asked ]; then\n{shown('SUCCEEDED')}\nelse\ntouch asked\n{odd}\nfi"
    arena.answers(get=after_submit(get), submit="", logs="echo done")
    rc, output, answers = arena.play({"until": "ended", "wait_timeout": 20})
    assert rc == 0 and answers["0"]["stdout"] == "done", output


def test_answers_that_stay_odd_end_the_wait_with_what_was_said(arena):
    arena.answers(get=after_submit("echo Service Unavailable"), submit="")
    rc, output, _answers = arena.play({"wait_timeout": 1})
    assert rc != 0 and "localhost: the job j was not running after 1 s: " in output, output
    assert "printed no JSON about j, but: Service Unavailable" in output and "can't be submitted" not in output


def test_lines_of_a_log_with_braces_are_passed_over(arena):
    get = shown("SUCCEEDED", 'time=x level=warning msg="throttled {map[a:b]}"', '{"level": "info"}')
    arena.answers(get=after_submit(get), submit="", logs="echo done")
    rc, output, answers = arena.play({"until": "ended", "wait_timeout": 20})
    assert rc == 0 and answers["0"]["stdout"] == "done", output


LEFT = (
    'echo "level=warning msg=\\"Failed to get the training job j, but the trainer config is found, please clean it by using '
    f"'arena delete j --type mpijob'.\\\"\" >&2; {NONE}"
)


def test_the_record_of_a_job_that_is_gone_is_removed(arena):
    arena.answers(get=f"if [ -e cleaned ]; then\n{NONE}\nelse\n{LEFT}\nfi", delete="touch cleaned")
    rc, output, answers = arena.play({"state": "absent"}, check=True)
    assert rc == 0 and answers["0"]["changed"] and "delete" not in arena.verbs(), output
    rc, output, answers = arena.play({"state": "absent"}, {"state": "absent"})
    assert rc == 0 and (answers["0"]["changed"], answers["1"]["changed"]) == (True, False), output
    assert arena.verbs().count("delete") == 1


@pytest.mark.parametrize("get", [LEFT, NONE], ids=["said by get", "said by submit"])
def test_a_job_is_submitted_although_arena_keeps_the_record_of_one(arena, get):
    get = f"if [ -e cleaned ] && [ -e submitted ]; then\n{shown('SUCCEEDED')}\nelse\n{get}\nfi"
    exists = "echo 'the job configmap j-mpijob is already exist, please delete it first.' >&2; exit 1"
    arena.answers(get=get, delete="touch cleaned", submit=f"[ -e cleaned ] || {{ {exists}; }}", logs="echo done")
    rc, output, _answers = arena.play({"until": "ended", "wait_timeout": 20})
    assert rc == 0 and arena.verbs().count("delete") == 1, output


def test_an_error_about_something_else_that_is_missing_is_no_job_that_is_gone(arena):
    arena.answers(get="echo 'error: context \"zz\" does not exist' >&2; exit 1")
    rc, output, _answers = arena.play({"state": "absent"})
    assert rc != 0 and 'localhost: arena get j failed: error: context "zz" does not exist' in output, output


@pytest.mark.parametrize(
    ("plan", "options", "said"),
    [
        ({"statuses": ["FAILED"], "log": "out of memory\n"}, {}, "localhost: the job j is FAILED: out of memory"),
        ({"statuses": ["RUNNING", "SUCCEEDED"]}, {"wait_timeout": 3, "job": {**JOB, "workers": 2, "name": "k"}}, None),
        (
            {"statuses": ["PENDING"]},
            {"wait_timeout": 0},
            "the job j was not running after 0 s: j-worker-0 doesn't exist yet",
        ),
        ({"submit_fails": "no permission"}, {}, "localhost: arena submit j failed: "),
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
    assert rc == 2 and "localhost: there is a job j in train already (RUNNING), and Arena can't change one" in output


@pytest.mark.parametrize(
    ("manager", "words"), [(None, f"it has no label {LABEL}"), ("argo", f"its label {LABEL} is argo")]
)
def test_a_job_of_another_manager_is_refused_unless_that_is_permitted(arena, manager, words):
    assert arena.play({})[0] == 0
    arena.managed_by(manager)
    for task, doing in (({"state": "absent"}, "deleted"), ({}, "replaced")):
        rc, output, _answers = arena.play(task)
        said = f"localhost: the MPIJob j in the namespace train is not managed by taco.train ({words}), so it is not {doing}"
        assert rc != 0 and said in output and "mpijob_any_manager: true" in output, output
    assert "delete" not in arena.verbs() and arena.verbs().count("submit") == 1
    rc, output, answers = arena.play({"state": "absent", "any_manager": True})
    assert rc == 0 and answers["0"]["changed"], output


def test_a_job_whose_manager_can_not_be_read_stays(arena):
    assert arena.play({})[0] == 0
    (arena.folder / "object.json").unlink()
    rc, output, _answers = arena.play({"state": "absent"})
    assert rc != 0 and "localhost: the manager of the MPIJob j in the namespace train can't be read (cat: " in output, (
        output
    )
    assert "mpijob_any_manager: true" in output and "delete" not in arena.verbs()


@pytest.mark.parametrize("part", ['configmaps \\"j-mpijob\\"', 'mpijobs.kubeflow.org "j"'])
def test_a_deletion_that_is_not_found_is_done(arena, part):
    """Another client may delete the job, or a part of it, between arena get and arena delete."""
    get = f"if [ -e deleted ]; then\n{NONE}\nelse\n{shown('SUCCEEDED')}\nfi"
    arena.answers(get=get, delete=f"touch deleted; echo 'Error from server (NotFound): {part} not found' >&2; exit 1")
    rc, output, answers = arena.play({"state": "absent"})
    assert rc == 0 and answers["0"]["changed"], output


def test_a_deletion_that_fails_otherwise_fails(arena):
    arena.answers(get=shown("SUCCEEDED"), delete="echo 'namespaces \"j\" is forbidden' >&2; exit 1")
    rc, output, _answers = arena.play({"state": "absent"})
    assert rc != 0 and "arena delete j failed: namespaces" in output, output


def test_a_job_that_is_recreated_during_its_deletion_is_named_at_once(arena):
    first, second = (shown("SUCCEEDED").replace('"status"', f'"uuid": "{number}", "status"', 1) for number in (1, 2))
    arena.answers(get=f"if [ -e deleted ]; then\n{second}\nelse\n{first}\nfi", delete="touch deleted")
    rc, output, _answers = arena.play({"state": "absent", "wait_timeout": 600})
    assert rc != 0 and "localhost: another client created the MPIJob j in the namespace train again" in output, output
    assert f"its label {LABEL} is taco.train" in output


def test_check_mode_submits_nothing(arena):
    rc, output, answers = arena.play({}, check=True)
    assert rc == 0 and answers["0"]["changed"], output
    assert [call[0] for call in arena.calls()] == ["get"]


def test_without_arena_a_sentence_says_so(arena):
    rc, output, _answers = arena.play({"arena": "no-arena-here"})
    assert rc == 2 and "localhost: there is no no-arena-here that can be started: install it there" in output


def test_a_job_that_is_recreated_just_before_its_deletion_stays(arena):
    """Another client recreates it while its log is saved."""
    first, second = (shown("SUCCEEDED").replace('"status"', f'"uuid": "{number}", "status"', 1) for number in (1, 2))
    arena.answers(
        get=f"if [ -e logged ]; then\n{second}\nelse\n{first}\nfi", logs="touch logged; echo end", delete="exit 0"
    )
    rc, output, _answers = arena.play({"state": "absent", "logs_dir": str(arena.folder / "logs")})
    assert rc != 0 and "localhost: another client created the MPIJob j in the namespace train again" in output, output
    assert "delete" not in arena.verbs()


def test_a_job_that_gets_another_manager_just_before_its_deletion_stays(arena):
    other = json.dumps({"kind": "MPIJob", "metadata": {"name": "j", "labels": {LABEL: "argo"}}})
    logs = f"echo '{other}' > {arena.folder}/object.json; echo end"
    arena.answers(get=shown("SUCCEEDED"), logs=logs, delete="exit 0")
    rc, output, _answers = arena.play({"state": "absent", "logs_dir": str(arena.folder / "logs")})
    assert rc != 0 and f"its label {LABEL} is argo" in output, output
    assert "delete" not in arena.verbs()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module arena_job, against an Arena that checks its arguments. Plays with it are in unit/roles/test_ack.py."""

from pathlib import Path

import pytest
from arena_actor import LABEL, NONE, after_submit, shown


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


def test_a_context_that_arena_would_not_take_is_refused(arena):
    arena.kubectl('case "$*" in *current-context) echo test;; *) exit 0;; esac\n')
    for task in ({"context": "prod", "kubeconfig": "/k"}, {"context": "prod", "state": "absent"}):
        rc, output, _answers = arena.play(task)
        assert rc != 0 and "Arena would not use taco_kube_context prod" in output, output
        assert "expected prod, found test" in output and "config use-context prod`" in output
    assert arena.calls() == []
    rc, output, _answers = arena.play({"context": "test"}, {"context": "test", "state": "absent"})
    assert rc == 0 and arena.verbs().count("submit") == 1, output


def test_a_context_is_refused_where_the_current_one_is_not_known(arena):
    arena.kubectl("echo error: current-context is not set >&2; exit 1\n")
    rc, output, _answers = arena.play({"context": "prod"})
    assert rc != 0 and "found no answer (error: current-context is not set)" in output and arena.calls() == [], output


def test_the_log_of_a_job_that_ended_is_asked_for_again(arena):
    logs = "[ -e asked ] || { touch asked; echo EOF >&2; exit 1; }; echo total images/sec: 991.92"
    arena.answers(get=after_submit(shown("SUCCEEDED")), submit="", logs=logs)
    rc, output, answers = arena.play({"until": "ended"})
    assert rc == 0 and answers["0"]["stdout"] == "total images/sec: 991.92", output


def test_a_job_whose_log_can_not_be_read_is_no_result(arena):
    logs = "echo Get https://10.0.0.5:10250/containerLogs: i/o timeout >&2; exit 1"
    arena.answers(get=after_submit(shown("SUCCEEDED")), submit="", logs=logs)
    rc, output, _answers = arena.play({"until": "ended"})
    assert rc != 0 and "the job j is SUCCEEDED, and its log can't be read: Get https://10.0.0.5" in output
    assert "`arena logs j --type=mpijob --namespace=train`" in output and "delete" not in arena.verbs()


@pytest.mark.parametrize(
    "odd",
    [shown("UNKNOWN"), "echo Service Unavailable", "echo dial tcp: i/o timeout >&2; exit 1"],
    ids=["unknown", "text", "failure"],
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
    assert rc != 0 and "the job j was not running after 1 s: " in output, output
    assert "printed no JSON about j, but: Service Unavailable" in output and "can't be submitted" not in output


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


@pytest.mark.parametrize(
    ("plan", "options", "said"),
    [
        ({"statuses": ["FAILED"], "log": "out of memory\n"}, {}, "the job j is FAILED: out of memory"),
        ({"statuses": ["RUNNING", "SUCCEEDED"]}, {"wait_timeout": 3, "name": "k", "job": {"workers": 2}}, None),
        (
            {"statuses": ["PENDING"]},
            {"wait_timeout": 0},
            "the job j was not running after 0 s: j-worker-0 doesn't exist yet",
        ),
        ({"submit_fails": "no permission"}, {}, "arena submit j failed: "),
        ({}, {"job": {"privileged": True}}, "Arena can't set privileged"),
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
    assert rc == 2 and "there is a job j in train already (RUNNING), and Arena can't change one" in output


def test_check_mode_submits_nothing(arena):
    rc, output, answers = arena.play({}, check=True)
    assert rc == 0 and answers["0"]["changed"], output
    assert [call[0] for call in arena.calls()] == ["get"]


def test_without_arena_a_sentence_says_so(arena):
    rc, output, _answers = arena.play({"arena": "no-arena-here"})
    assert rc == 2 and "there is no no-arena-here that can be started: install it there" in output

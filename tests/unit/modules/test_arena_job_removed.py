# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job of Arena is deleted with its log kept, and only where it is ours and idle."""

import json
from pathlib import Path

import pytest
from arena_actor import LABEL, NONE, shown


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


def test_the_home_folder_in_the_path_of_the_kubeconfig_is_that_of_the_host(arena, monkeypatch):
    monkeypatch.setenv("HOME", str(arena.folder))
    arena.kubectl(f'[ "$*" = "--kubeconfig={arena.folder}/k config current-context" ] && echo c\n')
    rc, output, answers = arena.play({"kubeconfig": "~/k", "context": "c"})
    assert rc == 0 and f"--config={arena.folder}/k" in arena.calls()[0], (output, arena.calls())
    assert {pod["variables"]["ansible_kubectl_kubeconfig"] for pod in answers["0"]["pods"]} == {f"{arena.folder}/k"}


@pytest.mark.parametrize("state", ["pods stay", "kubectl fails"])
def test_a_job_is_gone_when_its_pods_are(arena, state):
    """Arena lists it no more while its pods still have the GPUs."""
    assert arena.play({})[0] == 0
    pods = arena.folder / "pods"
    pods.write_text("pod/j-worker-0\n") if state == "pods stay" else pods.unlink()
    rc, output, _answers = arena.play({"state": "absent", "wait_timeout": 1})
    words = (
        "pods of the job j are still there 1 s after"
        if state == "pods stay"
        else "whether the pods of the job j are gone"
    )
    assert rc != 0 and words in output and "delete" in arena.verbs(), output
    pods.write_text("")
    rc, output, answers = arena.play({"state": "absent"})
    assert rc == 0 and not answers["0"]["changed"], output


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


def test_commands_in_pods_that_are_forbidden_need_both_verbs_and_nothing_is_interrupted(arena):
    arena.kubectl("echo 'Error from server (Forbidden): pods \"j-launcher-x\" is forbidden: ' >&2; exit 1\n")
    rc, output, _answers = arena.play({}, {"state": "absent"})
    assert rc != 0 and "can't run a command in the pod j-launcher-x" in output and "of the namespace train" in output, (
        output
    )
    assert "pods/exec" in output and "get" in output and "create" in output
    assert "taco_interrupt_running_work" not in output and "delete" not in arena.verbs()


def test_a_job_whose_launcher_cannot_be_asked_is_not_deleted_unasked(arena):
    arena.kubectl("echo error: unable to upgrade connection >&2; exit 1\n")
    rc, output, _answers = arena.play({}, {"state": "absent"})
    assert rc != 0 and "the MPIJob j in the namespace train is not deleted, since whether mpirun runs" in output
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


@pytest.mark.parametrize(
    ("manager", "words"), [(None, f"it has no label {LABEL}"), ("argo", f"its label {LABEL} is argo")]
)
def test_a_job_of_another_manager_is_refused_unless_that_is_permitted(arena, manager, words):
    assert arena.play({})[0] == 0
    arena.managed_by(manager)
    for task, doing in (({"state": "absent"}, "deleted"), ({}, "replaced")):
        rc, output, _answers = arena.play(task)
        said = f"the MPIJob j in the namespace train is not managed by taco.train ({words}), so it is not {doing}"
        assert rc != 0 and said in output and "mpijob_any_manager: true" in output, output
    assert "delete" not in arena.verbs() and arena.verbs().count("submit") == 1
    rc, output, answers = arena.play({"state": "absent", "any_manager": True})
    assert rc == 0 and answers["0"]["changed"], output


def test_a_job_whose_manager_can_not_be_read_stays(arena):
    assert arena.play({})[0] == 0
    (arena.folder / "object.json").unlink()
    rc, output, _answers = arena.play({"state": "absent"})
    assert rc != 0 and "the manager of the MPIJob j in the namespace train can't be read (cat: " in output, output
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
    assert rc != 0 and "another client created the MPIJob j in the namespace train again" in output, output
    assert f"its label {LABEL} is taco.train" in output


def test_a_job_that_is_recreated_just_before_its_deletion_stays(arena):
    """Another client recreates it while its log is saved."""
    first, second = (shown("SUCCEEDED").replace('"status"', f'"uuid": "{number}", "status"', 1) for number in (1, 2))
    arena.answers(
        get=f"if [ -e logged ]; then\n{second}\nelse\n{first}\nfi", logs="touch logged; echo end", delete="exit 0"
    )
    rc, output, _answers = arena.play({"state": "absent", "logs_dir": str(arena.folder / "logs")})
    assert rc != 0 and "another client created the MPIJob j in the namespace train again" in output, output
    assert "delete" not in arena.verbs()


def test_a_job_that_gets_another_manager_just_before_its_deletion_stays(arena):
    other = json.dumps({"kind": "MPIJob", "metadata": {"name": "j", "labels": {LABEL: "argo"}}})
    logs = f"echo '{other}' > {arena.folder}/object.json; echo end"
    arena.answers(get=shown("SUCCEEDED"), logs=logs, delete="exit 0")
    rc, output, _answers = arena.play({"state": "absent", "logs_dir": str(arena.folder / "logs")})
    assert rc != 0 and f"its label {LABEL} is argo" in output, output
    assert "delete" not in arena.verbs()

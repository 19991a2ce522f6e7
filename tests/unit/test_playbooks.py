# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever part of a playbook a person asks for by its tag, the tasks that it relies on come with it."""

import json
import re
from pathlib import Path

import playbook
import pytest
import yaml

ROOT = Path(__file__).parents[2]


def run(folder, name, *arguments):
    return playbook.run(folder, [ROOT / f"playbooks/{name}.yml", *arguments])


def test_every_tag_of_a_playbook_brings_the_look_at_the_host(tmp_path):
    names = [ROOT / f"playbooks/{name}.yml" for name in ("prepare", "deploy", "benchmark", "rollback")]
    status, output = playbook.run(tmp_path, [*names, "-i", "localhost,", "--list-tasks", "--tags", "no-such-tag"])
    listed = output.split("\nplaybook: ")[1:]
    assert status == 0 and len(listed) == len(names), output
    assert all("taco.train.common : Set the folder of the run and gather" in tasks for tasks in listed), output


def tasks(playbook):
    plays = yaml.safe_load((ROOT / f"playbooks/{playbook}.yml").read_text())
    return [task for play in plays for kind in ("pre_tasks", "tasks") for task in play.get(kind, [])]


@pytest.mark.parametrize("playbook", ["site", "rollback"])
def test_a_playbook_decides_which_plan_it_applies(playbook):
    of_plan = [
        task
        for task in tasks(playbook)
        if task.get("ansible.builtin.include_role", {}).get("name") == "taco.train.plan"
    ]
    assert [task["ansible.builtin.include_role"]["tasks_from"] for task in of_plan] == ["checked", "compared"]
    for task in of_plan:
        assert task["vars"] == {"plan_playbook": playbook} and task["when"] == "taco_plan | default(none) is not none"


PLAYBOOKS = sorted(path.stem for path in (ROOT / "playbooks").glob("*.yml"))
INVENTORY = "[web]\nweb1 ansible_connection=local\n[gpu_nodes]\ngpu1 ansible_connection=local\n"


def refused(tmp_path, playbook, *arguments, inventory=INVENTORY):
    (tmp_path / "hosts.ini").write_text(inventory)
    status, output = run(tmp_path, playbook, "-i", "hosts.ini", *arguments)
    assert status not in (0, 2) and "TASK [" not in output, output
    return " ".join(output.split())


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_every_play_fails_when_no_host_matches_or_belongs_to_workers_that_another_play_adds(playbook):
    for play in yaml.safe_load((ROOT / f"playbooks/{playbook}.yml").read_text()):
        checked = "query('taco.train.hosts', taco_hosts | default('gpu_nodes'))" in play.get("hosts", "")
        assert checked or "ansible.builtin.import_playbook" in play or play["hosts"] == "taco_workers", play["name"]


# They change no host, or they apply a plan.
WITH_A_PLAN = {"plan", "preflight", "rollback", "site"}


@pytest.mark.parametrize("name", sorted({*PLAYBOOKS} - WITH_A_PLAN))
def test_the_first_task_of_a_playbook_alone_refuses_a_plan(name):
    plays = yaml.safe_load((ROOT / f"playbooks/{name}.yml").read_text())
    own = next(play for play in plays if "hosts" in play)
    first = (own.get("pre_tasks") or own["tasks"])[0]
    assert first["taco.train.plan"] == {"state": "refused"} and first["run_once"] and first["tags"] == ["always"]
    assert "when" not in first and ("pre_tasks" in own or "roles" not in own)


# On TKE, three playbooks begin with mpijob.
@pytest.mark.parametrize(("name", "platform"), [("benchmark", "tke"), ("prepare", "cvm")])
def test_a_playbook_alone_refuses_a_plan_before_any_other_task(tmp_path, name, platform):
    (tmp_path / "hosts.ini").write_text(INVENTORY)
    extra = {"taco_plan": "plan.json", "taco_platform": platform, "taco_results_dir": str(tmp_path)}
    arguments = ["-i", "hosts.ini", ROOT / f"playbooks/{name}.yml", "-e", json.dumps(extra)]
    status, output = playbook.run(tmp_path, arguments)
    assert status == 2 and "taco_plan is plan.json, and this playbook does not apply plans" in " ".join(output.split())
    assert [task for task in re.findall(r"^TASK \[(.*)\]", output, re.M) if "if taco_plan is" not in task] == [], output


@pytest.mark.parametrize("name", ["site", "rollback"])
def test_a_plan_is_applied_as_a_whole(tmp_path, name):
    options = ["--start-at-task", "x", "--tags", "harp", "--skip-tags", "eni"]
    output = refused(tmp_path, name, "-e", "taco_plan=plan.json", *options)
    assert "--start-at-task, --tags, --skip-tags could skip a change of it" in output, output


def test_a_playbook_without_hosts_fails_and_names_the_groups_that_exist(tmp_path):
    said = refused(tmp_path, "site", inventory=INVENTORY.replace("gpu_nodes", "gpus"))
    assert "no host matches 'gpu_nodes' (variable taco_hosts)" in said and "gpus (1 host), web (1 host)" in said, said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--limit", "web1"], "--limit web1 excludes every host of 'gpu_nodes' (gpu1)"),
        (["-e", '{"taco_hosts": ["nope", "neither"]}'], "no host matches 'nope,neither'"),
        (["-e", "taco_hosts=", "--tags", "harp"], "the variable taco_hosts is empty"),
    ],
)
def test_a_limit_or_a_pattern_that_leaves_no_host_fails(tmp_path, arguments, words):
    assert words in refused(tmp_path, "prepare", *arguments)


def test_a_pattern_and_a_limit_that_leave_hosts_are_used_as_they_are(tmp_path):
    (tmp_path / "hosts.ini").write_text(INVENTORY)
    for arguments in (["-e", '{"taco_hosts": ["gpu_nodes", "web"]}', "--limit", "web1"], ["-e", "taco_hosts=w*"]):
        options = ["--tags", "none", "-e", f"taco_results_dir={tmp_path}"]
        _status, output = run(tmp_path, "prepare", "-i", "hosts.ini", *arguments, *options)
        assert "web1" in output and "gpu1" not in output, output

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whoever waits for pods reads why, while the module still waits."""

import threading
from unittest.mock import MagicMock

import pytest
from ansible.playbook.task import Task
from kubernetes_modules import execute

from ansible_collections.taco.train.plugins.action import mpijob
from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest
from ansible_collections.taco.train.plugins.module_utils.cluster import client

SAY = client.Client.say
LONG = 60


def action(show, transport="local", become=None, **options):
    task = Task()
    task.args = options
    made = mpijob.ActionModule(
        task, MagicMock(transport=transport, become=become), MagicMock(), MagicMock(), MagicMock(), None
    )
    made._display = MagicMock()
    made._display.display = show
    made._remove_tmp_path = lambda _path: None
    made._execute_module = lambda **_more: execute("taco.train.mpijob", made._task.args)
    return made


@pytest.mark.parametrize(
    ("state", "words"), [("Unschedulable", "no node can take it"), ("NotReady", "1 of 2 workers ready")]
)
def test_the_reason_of_a_wait_is_shown_before_the_module_ends(on, monkeypatch, state, words):
    cluster = on().cluster
    cluster.script("worker-1", [state])
    shown, lines = threading.Event(), []

    def show(line):
        lines.append(line)
        shown.set()

    def say(asked, line):
        """The module goes on when its first line has been shown."""
        SAY(asked, line)
        assert shown.wait(LONG)

    monkeypatch.setattr(client.Client, "say", say)
    definition = mpijob_manifest({"workers": 2, "gpus_per_worker": 8})
    options = {"definition": definition, "kubeconfig": cluster.kubeconfig, "wait_timeout": 30, "poll": 0.05}
    result = action(show, **options).run(task_vars={})
    assert result["failed"] and lines == result["progress"]
    assert "0 of 2 workers ready" in lines[0] and any(words in line for line in lines), lines


@pytest.mark.parametrize("elsewhere", [{"transport": "ssh"}, {"become": MagicMock()}])
def test_a_module_on_another_host_or_of_another_user_writes_no_file(elsewhere):
    made = action(print, **elsewhere)
    made._execute_module = lambda **_more: {"args": made._task.args}
    assert made.run(task_vars={})["args"] == {}


def test_a_file_that_a_task_names_gets_the_lines(on, monkeypatch, tmp_path):
    cluster = on().cluster
    monkeypatch.setattr(client.Client, "say", SAY)
    path = tmp_path / "lines"
    options = {"kubeconfig": cluster.kubeconfig, "state": "absent", "progress_file": str(path), "poll": 0.05}
    execute(
        "taco.train.mpijob",
        {**options, "state": "present", "definition": mpijob_manifest({"workers": 2, "gpus_per_worker": 8})},
    )
    assert "2 of 2 workers ready" in path.read_text()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file of a plan that another playbook replaces while it is applied."""

from unittest.mock import MagicMock

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.playbook.task import Task
from guides import COLLECTION
from planned import IDENTITY

from ansible_collections.taco.train.plugins.action import plan
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan, render
from ansible_collections.taco.train.plugins.plugin_utils.preflight.controller import collection_version

PLAN = Plan(
    "site",
    collection_version(),
    "2026-11-25T15:00:00Z",
    {"gpu1": ()},
    {"gpu1": "gpu1"},
    {"gpu1": IDENTITY},
    {"batches": [], "seconds": 0, "basis": "no reboot", "not_allowed": {}},
)
HOSTS = {"gpu1": {"changes": [], "identity": IDENTITY}}


def act(**options):
    task = Task()
    task.args = options
    action = plan.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), None)
    names = {"groups": {"all": ["gpu1"]}, "hostvars": {"gpu1": {}}, "ansible_play_hosts": ["gpu1"]}
    return action.run(task_vars={"inventory_hostname": "gpu1", **names})


def test_a_plan_that_was_replaced_after_the_hosts_were_locked_is_not_applied(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(render(PLAN))
    common = {"path": str(path), "checksum": act(state="loaded", path=str(path))["checksum"], "hosts": HOSTS}
    assert act(state="checked", **common)["refused"] == act(state="compared", **common)["refused"] == {}
    path.write_text(render(PLAN._replace(time="2026-11-25T16:00:00Z")))
    checked = act(state="checked", **common)
    assert checked["fatal"] and "was replaced by another plan" in checked["refused"]["gpu1"]
    with pytest.raises(AnsibleActionFail, match="was replaced by another plan"):
        act(state="compared", **common)


UNREADABLE = {
    "missing": (None, "can't be read: No such file or directory. Set taco_plan"),
    "other bytes": (b"\xff", "can't be read: it is no text in UTF-8. Set taco_plan"),
    "cut off": (render(PLAN)[:99].encode(), "is truncated or is no JSON"),
    "of an earlier version": (b'{"schema": 1, "digest": ""}', "has schema 1, expected 2: create the plan again"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_plan_that_cannot_be_read_is_named_once_with_the_way_out(tmp_path, name):
    content, expected = UNREADABLE[name]
    path = tmp_path / "plan.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AnsibleActionFail) as error:
        act(state="loaded", path=str(path))
    # Of a cause Ansible shows the message as well.
    assert (
        f"{path} {expected}" in str(error.value) and error.value.__cause__ is None and "Errno" not in str(error.value)
    )


def test_the_locks_are_released_before_a_comparison_that_may_fail():
    tasks = yaml.safe_load((COLLECTION / "roles/plan/tasks/compared.yml").read_text())
    names = [
        task.get("ansible.builtin.include_tasks", task.get("taco.train.plan", {}).get("state"))
        for task in tasks
        if "taco.train.plan" in task or "ansible.builtin.include_tasks" in task
    ]
    assert names.index("released.yml") < names.index("compared")

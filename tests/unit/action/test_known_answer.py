# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An action answers in its module's place when the host was observed, and goes there for everything else."""

from unittest.mock import MagicMock

import pytest
from ansible.playbook.task import Task
from observed import NODE

from ansible_collections.taco.train.plugins.action import harp_config, hugepages

RESERVED = {
    "reboot_required": False,
    "layout": "grub-d",
    "page_size": "1G",
    "count": 50,
    "said": ["50"],
    "kernel_args": {"before": [], "after": []},
    "kept": [],
    "trial": False,
    "state_dir": "/var/lib/taco-train",
}
SETTLED = dict(NODE, boot=dict(NODE["boot"], hugepages=RESERVED))


@pytest.fixture
def act():
    """Return a function that runs an action and returns its result and what it had executed on the host."""

    def run(plugin, run_async=0, **options):
        task = Task()
        task.args, task.async_val = options, run_async
        connection = MagicMock(has_native_async=False)
        action = plugin.ActionModule(task, connection, MagicMock(), None, MagicMock(), None)
        calls = []

        def execute(**call):
            calls.append(call)
            return {"changed": True}

        action._execute_module = execute
        return action.run(task_vars={}), calls

    return run


def test_a_host_that_was_seen_to_have_its_pages_is_not_asked(act):
    result, calls = act(hugepages, count="50", trial="false", node=SETTLED)
    assert calls == []
    assert (result["changed"], result["count"], result["reboot_required"], result["files"]) == (False, 50, False, [])
    assert "state_dir" not in result


@pytest.mark.parametrize("options", [{"count": 40, "node": SETTLED}, {"count": 50, "node": NODE}, {"count": 50}])
def test_any_other_host_is_asked_without_what_it_said_itself(act, options):
    result, calls = act(hugepages, **options)
    assert result["changed"] and len(calls) == 1
    assert calls[0]["module_args"] == {"count": options["count"]} and calls[0]["wrap_async"] is False


def test_the_manifest_needs_what_the_host_said(act):
    result, calls = act(harp_config, run_async=60, source="none", node=SETTLED)
    assert result["changed"] and len(calls) == 1
    assert calls[0]["module_args"] == {"source": "none", "node": SETTLED} and calls[0]["wrap_async"] is True

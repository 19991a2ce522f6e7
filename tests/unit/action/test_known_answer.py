# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An action answers in its module's place when the host was observed, and goes there for everything else."""

import hashlib
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.playbook.task import Task
from observed import NODE

from ansible_collections.taco.train.plugins.action import harp_config, hugepages
from ansible_collections.taco.train.plugins.module_utils._harp.harp import manifest_text

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


def test_the_desired_options_have_precedence_and_those_that_the_controller_does_not_know_are_for_the_host(act):
    desired = {"count": 50, "state": "present"}
    assert act(hugepages, desired=desired, count=40, node=SETTLED)[1] == []
    _result, calls = act(hugepages, desired=dict(desired, later="x"), node=SETTLED)
    assert [call["module_args"] for call in calls] == [{"count": 50, "state": "present", "later": "x"}]
    with pytest.raises(AnsibleActionFail, match="expected a dictionary with options"):
        act(hugepages, desired="count=50", node=SETTLED)


@pytest.mark.parametrize(
    "options",
    [
        {"count": 40, "node": SETTLED},
        {"count": 50, "node": NODE},
        # It was changed since.
        {"count": 50, "node": dict(SETTLED, observed_at=None)},
        # The module reports it.
        {"count": "many", "node": SETTLED},
        {"count": 50},
    ],
)
def test_any_other_host_is_asked_without_what_it_said_itself(act, options):
    result, calls = act(hugepages, **options)
    assert result["changed"] and len(calls) == 1
    assert calls[0]["module_args"] == {"count": options["count"]} and calls[0]["wrap_async"] is False


def test_a_host_that_was_seen_to_have_its_configuration_is_not_asked(act):
    enis, digest = [f"eth{number}" for number in range(1, 9)], hashlib.sha256(b"x").hexdigest()
    harp = dict(
        NODE["harp"],
        config_files=[
            {"path": f"/usr/local/tfabric/tools/config/ztcp{n}.conf", "size": 1, "sha256": digest} for n in range(8)
        ],
        manifest="/var/lib/taco-train/host-manifest.json",
        manifest_sha256=hashlib.sha256(manifest_text(NODE, enis).encode()).hexdigest(),
    )
    rendered = [{"dest": f"ztcp{number}.conf", "content": "x"} for number in range(8)]
    result, calls = act(
        harp_config, source="template", rendered=rendered, minimum_files="8", node=dict(NODE, harp=harp)
    )
    assert calls == [] and result["changed"] is False
    assert result["enis"] == enis and len(result["files"]) == 8
    rendered[7]["content"] = "y"
    assert act(harp_config, source="template", rendered=rendered, node=dict(NODE, harp=harp))[1]


def test_an_asynchronous_task_has_a_job_on_the_host(act):
    result, calls = act(hugepages, run_async=60, count=50, node=SETTLED)
    assert result["changed"] and calls[0]["wrap_async"] is True


def test_the_manifest_needs_what_the_host_said(act):
    result, calls = act(harp_config, source="none", node=SETTLED)
    assert result["changed"] and len(calls) == 1
    assert calls[0]["module_args"] == {"source": "none", "node": SETTLED}

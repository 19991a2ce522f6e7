# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ENIs are judged on the controller when the host has been observed, and on the host when it has not."""

from unittest.mock import MagicMock

import pytest
from ansible.playbook.task import Task

from ansible_collections.taco.train.plugins.action import eni_check


def nic(number, **options):
    name = f"eth{number}"
    found = {"name": name, "mac": f"52:54:00:00:00:0{number}", "pci": f"0000:00:0{number}.0", "kind": "physical"}
    return dict(found, numa_node=None, driver="virtio_net", up=True, primary=number == 0, addresses=[], **options)


NICS = [nic(number) for number in range(5)]


@pytest.fixture
def act():
    """Return a function that runs the action and returns its result and how often it went to the host."""

    def run(**options):
        task = Task()
        task.args = options
        action = eni_check.ActionModule(task, MagicMock(), MagicMock(), None, MagicMock(), None)
        calls = []

        def execute(**call):
            calls.append(call)
            return {"changed": False, "enis": [], "problems": []}

        action._execute_module = execute
        return action.run(task_vars={"inventory_hostname": "gpu-1"}), len(calls)

    return run


def test_observed_interfaces_cost_no_execution(act):
    result, calls = act(expected=4, nics=NICS)
    assert calls == 0
    assert [eni["name"] for eni in result["enis"]] == ["eth1", "eth2", "eth3", "eth4"]
    assert result["problems"] == [] and result["changed"] is False and not result.get("failed")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"expected": 8}, ["4 of 8", "4 missing", "eth0 (primary)"]),
        ({"expected": "4", "pattern": "("}, ["'(' is not a regular expression"]),
        ({"expected": 4, "subnet": "10.0.1.0/24"}, ["eth1 (", "has no address"]),
    ],
)
def test_what_is_wrong_is_said_as_the_module_says_it(act, options, words):
    result, calls = act(nics=NICS, **options)
    assert calls == 0 and result["failed"] is True
    for word in [*words, "gpu-1: ", "correct eni_count"]:
        assert word in result["msg"]


def test_an_unknown_host_is_looked_at(act):
    result, calls = act(expected=4)
    assert calls == 1 and result["problems"] == []

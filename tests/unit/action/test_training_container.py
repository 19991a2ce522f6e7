# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action tells community.docker.docker_container, and what it makes of the answer."""

import re
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.playbook.task import Task

from ansible_collections.taco.train.plugins.action import training_container
from ansible_collections.taco.train.plugins.plugin_utils.container_options import OPTIONS

COLLECTION = Path(__file__).parents[3] / "collections/ansible_collections/taco/train"
FILES = [{"path": "/usr/local/tfabric/tools/config/ztcp0.conf", "size": 9}]
RUNNING = {"changed": True, "container": {"State": {"Status": "running"}}}


@pytest.fixture
def act():
    """Return a function that runs the action and returns its result and every call of a module."""

    def run(answer=None, check=False, **options):
        task = Task()
        task.args = dict({"name": "box", "image": "img:1"}, **options)
        task.check_mode = check
        connection = MagicMock()
        action = training_container.ActionModule(task, connection, MagicMock(), None, MagicMock(), None)
        calls = []

        def execute(module_name, module_args, task_vars):
            calls.append((module_name, module_args))
            return dict(RUNNING if answer is None else answer)

        action._execute_module = execute
        return action.run(task_vars={"inventory_hostname": "node-0"}), calls

    return run


def test_one_call_tells_all_that_docker_is_to_do(act):
    result, calls = act(profile="lightcc")
    assert [name for name, _options in calls] == ["community.docker.docker_container"]
    told = calls[0][1]
    label = told.pop("labels")["taco.train.options"]
    assert re.fullmatch("[0-9a-f]{64}", label)
    assert told == {
        "name": "box",
        "image": "img:1",
        "state": "started",
        "command": ["sleep", "infinity"],
        "command_handling": "correct",
        "comparisons": {
            "volumes": "strict",
            "env": "strict",
            "ulimits": "strict",
            "device_requests": "strict",
            "labels": "ignore",
        },
        "detach": True,
        "device_requests": [{"driver": "", "count": -1, "capabilities": [["gpu"]]}],
        "env": {},
        "init": True,
        "network_mode": "host",
        "privileged": True,
        "pull": "missing",
        "restart_policy": "unless-stopped",
        "shm_size": "32g",
        "ulimits": ["memlock:-1:-1", "stack:67108864:67108864"],
        "volumes": [],
    }
    assert result["changed"] and not result.get("failed")
    assert result["docker_run"][:2] == ["docker", "run"]


def test_options_replace_what_the_profile_says(act):
    _result, calls = act(
        harp_config_files=FILES,
        gpus="0,1",
        privileged="false",
        ulimits=[],
        mounts_extra=["/d:/d"],
        environment={"A": 1},
        pull="never",
    )
    told = calls[0][1]
    assert told["device_requests"] == [{"driver": "", "device_ids": ["0", "1"], "capabilities": [["gpu"]]}]
    assert told["privileged"] is False
    assert told["volumes"][-1] == "/d:/d" and len(told["volumes"]) == 7
    assert told["env"] == {"A": "1"}
    assert told["pull"] == "never"


@pytest.mark.parametrize("files", [[], [{"path": "/h/ztcp0.conf", "size": 0}]])
def test_a_container_in_which_harp_would_abort_is_not_started(act, files):
    with pytest.raises(AnsibleActionFail) as refused:
        act(harp_config_dir="/h", harp_config_files=files)
    for word in ("node-0: ", "ztcp*.conf in /h", "taco.train.harp", "training_container_profile"):
        assert word in str(refused.value)


def test_a_check_only_warns_of_that(act):
    result, calls = act(check=True)
    assert len(calls) == 1
    assert "ztcp*.conf" in result["warnings"][0]


@pytest.mark.parametrize("options", [{"profile": "lightcc"}, {"require_harp": False}, {"harp_config_files": FILES}])
def test_a_container_without_harp_needs_no_configuration(act, options):
    assert len(act(**options)[1]) == 1


def test_removing_needs_nothing_but_the_name(act):
    _result, calls = act(answer={"changed": True}, state="absent", image=None)
    assert calls[0][1] == {"name": "box", "state": "absent"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"failed": True, "msg": "Error pulling image img:1 - 404"}, ["node-0: ", "img:1", "taco_image"]),
        (
            {"changed": True, "container": {"State": {"Status": "exited", "ExitCode": 3}}},
            ["node-0: ", "exited", "status 3"],
        ),
    ],
)
def test_errors_say_what_to_do(act, answer, words):
    result, _calls = act(answer=answer, profile="ttf")
    assert result["failed"]
    for word in words:
        assert word in result["msg"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image": ""}, "image is empty"),
        ({"shm_size": "much"}, "shm_size"),
        ({"profile": "other"}, "profile"),
        ({"shmsize": "1g"}, "shmsize"),
    ],
)
def test_bad_options_never_reach_the_host(act, options, words):
    with pytest.raises(AnsibleError, match=words):
        act(**dict({"require_harp": False}, **options))


def test_the_documentation_has_the_same_options():
    text = (COLLECTION / "plugins/modules/training_container.py").read_text()
    documented = yaml.safe_load(text.split('DOCUMENTATION = r"""')[1].split('"""')[0])["options"]
    for option in documented.values():
        option.pop("description")
    assert documented == OPTIONS["argument_spec"]

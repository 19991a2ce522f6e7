# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action tells community.docker.docker_container, and what it makes of the answer."""

import re
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.playbook.task import Task

from ansible_collections.taco.train.plugins.action import training_container

FILES = [{"path": "/usr/local/tfabric/tools/config/ztcp0.conf", "size": 9}]
FOLDERS = "taco.train.host_folders"
ENGINE = {"name": "docker", "version": "24.0.7", "running": True, "runtimes": ["nvidia", "runc"], "nvidia_toolkit": "1"}
IDLE = {"python": {"requests": True}, "container_engine": ENGINE, "training_container": None}
THERE = {"name": "box", "id": "4c01", "status": "running", "image": "old", "image_id": "1", "image_id_by_name": "1"}
THERE.update(restart_policy="no", options_sha256="0")
BUSY = dict(IDLE, training_container=THERE)
STOPPED = dict(BUSY, container_engine=dict(ENGINE, running=False))
RUNNING = {"changed": True, "container": {"State": {"Status": "running"}}}


@pytest.fixture
def act():
    """Return a function that runs the action and returns its result and every call of a module."""

    def run(answer=None, check=False, **options):
        task = Task()
        task.args = dict({"name": "box", "image": "img:1", "node": IDLE}, **options)
        task.check_mode = check
        connection = MagicMock()
        action = training_container.ActionModule(task, connection, MagicMock(), None, MagicMock(), None)
        calls = []

        def execute(module_name, module_args, task_vars):
            calls.append((module_name, module_args))
            if module_name == FOLDERS:
                return {}
            if callable(answer):
                return answer(module_name, task.check_mode)
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
    assert calls[0] == (FOLDERS, {"paths": ["/usr/local/tfabric/tools", "/d"], "state_dir": "/var/lib/taco-train"})
    told = calls[1][1]
    assert told["device_requests"] == [{"driver": "", "device_ids": ["0", "1"], "capabilities": [["gpu"]]}]
    assert told["privileged"] is False
    assert told["volumes"][-1] == "/d:/d" and len(told["volumes"]) == 7
    assert told["env"] == {"A": "1"}
    assert told["pull"] == "never"


@pytest.mark.parametrize("files", [[], [{"path": "/h/ztcp0.conf", "size": 0}]])
def test_a_container_in_which_harp_would_abort_is_not_started(act, files):
    with pytest.raises(AnsibleActionFail) as refused:
        act(harp_config_dir="/h", harp_config_files=files)
    for word in ("node-0: ", "harp_config_files has no file", "taco.train.harp", "training_container_profile"):
        assert word in str(refused.value)


def test_a_check_only_warns_of_that(act):
    result, calls = act(check=True)
    assert len(calls) == 1
    assert "harp_config_files" in result["warnings"][0]


@pytest.mark.parametrize("options", [{"profile": "lightcc"}, {"require_harp": False}, {"harp_config_files": FILES}])
def test_a_container_without_harp_needs_no_configuration(act, options):
    assert [name for name, _told in act(**options)[1]][-1] == "community.docker.docker_container"


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


def engine(actions, work=""):
    """Answers of the modules: what docker_container would do, and what runs in the container."""

    def answer(module, check):
        if module == "taco.train.running_work":
            return {"failed": True, "msg": work} if work and not check else {"warnings": [work] if work else []}
        return dict(RUNNING, actions=actions) if check else dict(RUNNING)

    return answer


RECREATE = [{"removed": "4c01"}, {"created": "new"}]


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "lightcc", "answer": engine(RECREATE, "pid 7")},
        {"profile": "lightcc", "answer": engine([{"restarted": "4c01"}], "pid 7")},
        # A later version of docker_container may not list what it would do.
        {"profile": "lightcc", "answer": engine(None, "pid 7")},
        {"profile": "lightcc", "answer": engine(RECREATE, "pid 7"), "node": None},
        {"state": "absent", "answer": engine(RECREATE, "pid 7")},
        {"state": "absent", "answer": engine(RECREATE, "pid 7"), "node": dict(BUSY, python={"requests": False})},
    ],
)
def test_a_container_with_running_processes_is_not_ended_unasked(act, options):
    result, calls = act(**{"node": BUSY, **options})
    assert result["failed"] and result["msg"] == "pid 7"
    assert [name for name, _options in calls][-1] == "taco.train.running_work"

    allowed, calls = act(**{"node": BUSY, **options, "interrupt_running_work": True})
    assert not allowed.get("failed") and "taco.train.running_work" not in [name for name, _options in calls]


def test_a_check_asks_the_engine_once(act):
    result, calls = act(answer=engine(RECREATE, ""), check=True, node=BUSY, profile="lightcc")
    assert result["actions"] == RECREATE
    assert [name for name, _told in calls] == ["community.docker.docker_container", "taco.train.running_work"]


def test_a_check_warns_of_running_processes_and_ends_well(act):
    for state in ("started", "absent"):
        result, _calls = act(answer=engine(RECREATE, "pid 7"), check=True, node=BUSY, state=state, profile="lightcc")
        assert not result.get("failed") and "pid 7" in result["warnings"]


def test_a_change_that_ends_no_process_is_made_at_once(act):
    result, calls = act(answer=engine([{"updated": "4c01"}], "pid 7"), node=BUSY, profile="lightcc")
    assert not result.get("failed") and [name for name, _told in calls if name != FOLDERS] == [calls[0][0]] * 2


@pytest.mark.parametrize(
    "node",
    [STOPPED, dict(IDLE, python={"requests": False}), dict(IDLE, container_engine=None)],
)
def test_a_check_of_a_host_whose_engine_is_not_ready_says_that_the_container_would_start(act, node):
    result, calls = act(check=True, node=node, profile="lightcc")
    assert result["changed"] and "would be started" in result["msg"] and calls == []


def test_a_container_that_a_stopped_engine_keeps_is_reported_with_the_fix(act):
    with pytest.raises(AnsibleActionFail, match="node-0: the container box .* stopped: .*systemctl start docker"):
        act(state="absent", node=STOPPED)
    result, calls = act(state="absent", node=STOPPED, may_stay=True)
    assert (result["changed"], calls) == (False, []) and "systemctl start docker" in result["left"]
    # There is nothing to remove.
    gone, calls = act(state="absent", node=dict(STOPPED, training_container=None))
    assert (gone["changed"], calls) == (False, [])


def test_a_container_is_removed_without_requests(act):
    result, calls = act(answer=engine([]), state="absent", node=dict(BUSY, python={"requests": False}))
    assert result["changed"]
    assert calls[-1] == ("ansible.legacy.command", {"argv": ["docker", "rm", "--force", "box"]})

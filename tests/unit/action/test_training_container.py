# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the action tells community.docker.docker_container, and what it makes of the answer."""

import json
import re
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.playbook.task import Task

from ansible_collections.taco.train.plugins.action import training_container

FILES = [{"path": "/usr/local/tfabric/tools/config/ztcp0.conf", "size": 9}]
DOCKER, INFO, IMAGE, FOLDERS, WORK, COMMAND = (
    "community.docker.docker_container",
    "community.docker.docker_container_info",
    "community.docker.docker_image_info",
    "taco.train.host_folders",
    "taco.train.running_work",
    "ansible.legacy.command",
)
LABEL = {"taco.train.options": "0"}
OURS = {"Image": "sha256:1", "Config": {"Image": "img:1", "Labels": LABEL}}
RUNNING = {"changed": True, "container": dict(OURS, State={"Status": "running"})}
CREATE, RECREATE = [{"created": "new"}], [{"removed": "4c01"}, {"created": "new"}]
NO_REQUESTS = {"failed": True, "msg": "Failed to import the required Python library (requests) on gpu1's Python."}
NO_ENGINE = {
    "failed": True,
    "msg": "Error connecting: Error while fetching server API version: ('Connection aborted.')",
}


GONE = "gone"


@pytest.fixture
def act():
    """Return a function that runs the action and returns its result and every call of a module: its name, options and mode."""

    def run(answer=None, check=False, there=OURS, image_labels=None, **options):
        task = Task()
        task.args = dict({"name": "box", "image": "img:1"}, **options)
        task.check_mode = check
        action = training_container.ActionModule(task, MagicMock(), MagicMock(), None, MagicMock(), None)
        calls = []

        def execute(module_name, module_args, task_vars):
            calls.append((module_name, module_args, task.check_mode))
            if module_name == FOLDERS:
                return {}
            if module_name == INFO:
                return {"exists": True, "container": there}
            image = [] if image_labels == GONE else [{"Config": {"Labels": image_labels}}]
            if module_name == IMAGE:
                return {"images": image if module_args["name"] == ["sha256:1"] else []}
            if module_name == COMMAND and "image" in module_args["argv"]:
                error = {} if image else {"failed": True, "stderr": "Error: No such image: sha256:1"}
                return dict(error, stdout=json.dumps(image))
            if callable(answer):
                return answer(module_name, task.check_mode)
            if answer is None:
                return {"changed": True, "actions": CREATE} if task.check_mode else dict(RUNNING, actions=CREATE)
            return dict(answer)

        action._execute_module = execute
        result = action.run(task_vars={"inventory_hostname": "node-0"})
        assert task.check_mode is check
        return result, calls

    return run


def modules(calls):
    return [name for name, _options, _check in calls]


def test_a_container_that_is_as_required_takes_one_execution(act):
    settled = dict(RUNNING, changed=False, actions=[])
    for check in (False, True):
        result, calls = act(answer=settled, check=check, harp_config_files=FILES)
        assert [(name, predicted) for name, _told, predicted in calls] == [(DOCKER, True)]
        assert result["changed"] is False and result["container"] == RUNNING["container"]
    # An update in place, such as of the restart policy, is shown by the difference alone.
    updated = dict(settled, diff={"before": {"restart_policy": "no"}, "after": {"restart_policy": "unless-stopped"}})
    assert act(answer=updated, check=True, profile="lightcc")[0]["changed"]
    assert modules(act(answer=updated, profile="lightcc")[1]) == [DOCKER, IMAGE, DOCKER]
    # A newer image shows only without check mode.
    _result, calls = act(answer=settled, profile="lightcc", pull="always")
    assert [predicted for _name, _told, predicted in calls] == [True, False]


def test_the_options_are_those_of_docker(act):
    result, calls = act(profile="lightcc")
    assert [(name, predicted) for name, _told, predicted in calls] == [(DOCKER, True), (DOCKER, False)]
    told = calls[1][1]
    assert {**calls[0][1], "labels": told["labels"]} == told
    label = told.pop("labels")["taco.train.options"]
    assert re.fullmatch(r"[0-9a-f]{64}\.[0-9a-f]{32}", label)
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
    assert calls[1] == (
        FOLDERS,
        {"paths": ["/usr/local/tfabric/tools", "/d"], "state_dir": "/var/lib/taco-train"},
        False,
    )
    told = calls[2][1]
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


def test_a_module_used_alone_states_nothing_about_files_that_it_was_not_told(act):
    with pytest.raises(AnsibleActionFail, match="option harp_config_files doesn't say .* require_harp to false"):
        act()


def test_a_check_only_warns_of_that(act):
    result, calls = act(check=True, harp_config_files=[])
    assert len(calls) == 1
    assert "harp_config_files" in result["warnings"][0]


@pytest.mark.parametrize("options", [{"profile": "lightcc"}, {"require_harp": False}, {"harp_config_files": FILES}])
def test_a_container_without_harp_needs_no_configuration(act, options):
    assert modules(act(**options)[1])[-1] == DOCKER


def test_removing_needs_nothing_but_the_name(act):
    _result, calls = act(answer={"changed": True}, state="absent", image=None)
    assert calls[0][1] == {"name": "box", "state": "absent"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"failed": True, "msg": "Error pulling image img:1 - 404"}, ["node-0: ", "img:1", "taco_image"]),
        (
            dict(RUNNING, container=dict(RUNNING["container"], State={"Status": "exited", "ExitCode": 3})),
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
        if module == WORK:
            return {"failed": True, "msg": work} if work and not check else {"warnings": [work] if work else []}
        return dict(RUNNING, actions=actions) if check else dict(RUNNING)

    return answer


def unready(failure, inspected=None, work=""):
    """Answers of the modules where docker_container can't work, and the command docker answers this."""

    def answer(module, check):
        return {DOCKER: failure, COMMAND: inspected or {"rc": 0, "stdout": json.dumps([OURS])}}.get(module) or engine(
            None, work
        )(module, check)

    return answer


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "lightcc", "answer": engine(RECREATE, "pid 7")},
        {"profile": "lightcc", "answer": engine([{"restarted": "4c01"}], "pid 7")},
        # A later version of docker_container may not list what it would do.
        {"profile": "lightcc", "answer": engine(None, "pid 7")},
        {"state": "absent", "answer": engine(RECREATE, "pid 7")},
        {"state": "absent", "answer": unready(NO_REQUESTS, work="pid 7")},
    ],
)
def test_a_container_with_running_processes_is_not_ended_unasked(act, options):
    result, calls = act(**options)
    assert result["failed"] and result["msg"] == "pid 7"
    assert modules(calls)[-1] == WORK

    allowed, calls = act(**options, interrupt_running_work=True)
    assert not allowed.get("failed") and allowed["changed"] and WORK not in modules(calls)


def test_a_check_warns_of_running_processes_and_changes_nothing(act):
    for state in ("started", "absent"):
        result, calls = act(answer=engine(RECREATE, "pid 7"), check=True, state=state, profile="lightcc")
        assert not result.get("failed") and result["actions"] == RECREATE and "pid 7" in result["warnings"]
        assert [name for name in modules(calls) if name not in (INFO, IMAGE)] == [DOCKER, WORK]
        assert all(check for _name, _told, check in calls)


def test_a_change_that_ends_no_process_is_made_at_once(act):
    result, calls = act(answer=engine([{"updated": "4c01"}], "pid 7"), profile="lightcc")
    assert not result.get("failed") and modules(calls) == [DOCKER, IMAGE, DOCKER]


@pytest.mark.parametrize("failure", [NO_REQUESTS, NO_ENGINE])
def test_a_check_of_a_host_whose_engine_is_not_ready_says_that_the_container_would_start(act, failure):
    result, calls = act(answer=failure, check=True, profile="lightcc")
    assert result["changed"] and "would be started" in result["msg"] and len(calls) == 1
    assert not result.get("failed")
    refused, calls = act(answer=failure, profile="lightcc")
    assert refused["failed"] and "taco.train.container_engine" in refused["msg"] and len(calls) == 1


def test_missing_rights_fail_a_check_too(act):
    denied = {
        "failed": True,
        "msg": "Error connecting: ('Connection aborted.', PermissionError(13, 'Permission denied'))",
    }
    for state in ("started", "absent"):
        result, _calls = act(answer=denied, check=True, state=state, profile="lightcc")
        assert result["failed"] and "become: true" in result["msg"]


def test_a_container_that_cannot_be_removed_is_reported_with_the_fix(act):
    for check in (False, True):
        with pytest.raises(AnsibleActionFail, match="node-0: the container box .* reached .*systemctl start docker"):
            act(answer=NO_ENGINE, check=check, state="absent")
        result, calls = act(answer=NO_ENGINE, check=check, state="absent", may_stay=True)
        assert (result["changed"], len(calls)) == (False, 1) and "systemctl start docker" in result["left"]
    stopped = unready(NO_REQUESTS, {"failed": True, "rc": 1, "stderr": "Cannot connect to the Docker daemon"})
    assert "Cannot connect" in act(answer=stopped, state="absent", may_stay=True)[0]["left"]


def test_a_container_is_removed_without_requests(act):
    result, calls = act(answer=unready(NO_REQUESTS), state="absent")
    assert result["changed"]
    assert calls[-1] == (COMMAND, {"argv": ["docker", "rm", "--force", "box"]}, False)
    predicted, calls = act(answer=unready(NO_REQUESTS), state="absent", check=True)
    assert predicted["changed"] and modules(calls) == [DOCKER, COMMAND, COMMAND, WORK]


@pytest.mark.parametrize(
    "inspected",
    [
        {"failed": True, "rc": 1, "stderr": "Error: No such container: box"},
        {"failed": True, "rc": 2, "msg": "No such file"},
    ],
)
def test_without_requests_a_container_that_is_not_there_is_no_change(act, inspected):
    result, calls = act(answer=unready(NO_REQUESTS, inspected), state="absent")
    assert result["changed"] is False and modules(calls) == [DOCKER, COMMAND]


OTHERS = {"Image": "sha256:1", "Config": {"Image": "other:1", "Labels": {"owner": "alice"}}}
# Ways in which the action comes to know of a container, where it would change or remove it.
WAYS = [
    lambda container: {"profile": "lightcc", "answer": dict(RUNNING, container=container, actions=RECREATE)},
    lambda container: {"state": "absent", "there": container},
    lambda container: {
        "state": "absent",
        "answer": unready(NO_REQUESTS, {"rc": 0, "stdout": json.dumps([container])}),
    },
]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("container", "image_labels", "words"),
    [
        (OTHERS, None, "it has no label taco.train.options"),
        ({"Config": None}, None, "it has no label"),
        ({}, None, "it has no label"),
        # docker commit copies the label into the image, and docker run from there into a container, also of the same name.
        (OURS, LABEL, "it has its label taco.train.options from the image"),
        (OURS, GONE, "no longer has the image sha256:1"),
        ({"Config": OURS["Config"]}, None, "no longer has the image"),
    ],
)
def test_a_container_of_somebody_else_is_refused_with_the_ways_out(act, way, container, image_labels, words, check):
    with pytest.raises(
        AnsibleActionFail, match="node-0: the container box is not known to be one of this .*docker rename box"
    ) as refused:
        act(check=check, interrupt_running_work=True, image_labels=image_labels, **way(container))
    assert "taco_container_name" in str(refused.value) and words in str(refused.value)


@pytest.mark.parametrize("way", WAYS)
def test_a_container_made_anew_from_an_image_of_an_earlier_one_is_ours(act, way):
    _result, calls = act(profile="lightcc")
    again = act(profile="lightcc")[1][-1][1]["labels"]
    earlier = calls[-1][1]["labels"]
    container = dict(OURS, Config=dict(OURS["Config"], Labels=again))
    assert act(image_labels=earlier, **way(container))[0]["changed"]
    with pytest.raises(AnsibleActionFail, match="from the image"):
        act(image_labels=again, **way(container))


def test_a_container_of_somebody_else_stays_where_it_may_and_is_used_where_it_is_as_required(act):
    result, calls = act(state="absent", there=OTHERS, may_stay=True)
    assert result["changed"] is False and "other:1" in result["left"] and modules(calls) == [DOCKER, INFO, IMAGE]
    settled = {"changed": False, "container": dict(OTHERS, State={"Status": "running"})}
    assert act(answer=settled, profile="lightcc")[0]["changed"] is False


def test_a_container_of_somebody_else_is_taken_over_where_that_is_permitted(act):
    answer = dict(RUNNING, container=dict(RUNNING["container"], **OTHERS), actions=RECREATE)
    assert act(answer=answer, profile="lightcc", take_over=True)[0]["changed"]
    assert act(state="absent", there=OTHERS, take_over=True)[0]["changed"]

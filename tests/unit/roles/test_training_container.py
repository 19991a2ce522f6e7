# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role training_container with a stand-in for the Docker Engine: what it creates, keeps, removes, and leaves alone."""

import json
import subprocess
import sys

import pytest
from bench import engine
from observed import NODE
from played import run

ROLE = "taco.train.training_container"
CONTAINER = {"name": "taco-train", "image": engine.IMAGE}


def step(name, **variables):
    """Tasks that run the role, and keep its result or its failure under a name."""
    keep = {"ansible.builtin.set_fact": {"found": "{{ found | default({}) | combine({name: result}) }}"}}
    include = {"ansible.builtin.include_role": {"name": ROLE}}
    block = [include, {**keep, "vars": {"result": "{{ training_container_result }}"}}]
    rescue = [{**keep, "vars": {"result": "{{ ansible_failed_result }}"}}]
    return {"vars": dict(variables, name=name, taco_node="{{ observed }}"), "block": block, "rescue": rescue}


def inspect(name):
    info = {
        "name": f"Inspect {name}",
        "community.docker.docker_container_info": {"name": CONTAINER["name"]},
        "register": name,
    }
    return [info, {"ansible.builtin.set_fact": {"found": "{{ found | combine({'" + name + "': " + name + "}) }}"}}]


def commit(repository, tag):
    """Make an image from the container, as `docker commit` does."""
    url = f"http://docker/commit?container={CONTAINER['name']}&repo={repository}&tag={tag}"
    socket = "{{ lookup('ansible.builtin.env', 'DOCKER_HOST') | regex_replace('^unix://') }}"
    return {"ansible.builtin.uri": {"url": url, "unix_socket": socket, "method": "POST", "status_code": 201}}


SNAPSHOT = "snapshot:1"
STEPS = [
    step("created"),
    *inspect("ours"),
    step("unchanged"),
    step("other", training_container_environment={"A": "1"}),
    *inspect("recreated"),
    commit(*engine.IMAGE.split(":")),
    step("of its own image"),
    *inspect("newer"),
    commit(*SNAPSHOT.split(":")),
    step("removed", training_container_state="absent"),
    {
        "community.docker.docker_container": dict(
            CONTAINER, image=SNAPSHOT, command="sleep 60", network_mode="host", state="present"
        )
    },
    step("label inherited"),
    step("label inherited, not removed", training_container_state="absent"),
    {"community.docker.docker_container": {"name": CONTAINER["name"], "state": "absent"}},
    step("nothing left", training_container_state="absent"),
    {"community.docker.docker_container": dict(CONTAINER, command="sleep 60", network_mode="host", state="present")},
    step("refused"),
    step("not removed", training_container_state="absent"),
    step("stays", training_container_state="absent", training_container_may_stay=True),
    *inspect("theirs"),
    {
        "ansible.builtin.copy": {
            "content": "{{ found | to_json }}",
            "dest": "{{ playbook_dir }}/found.json",
            "mode": "0600",
        }
    },
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The results of all steps, by their names."""
    folder = tmp_path_factory.mktemp("container")
    (folder / "run").mkdir()
    server = subprocess.Popen(
        [sys.executable, engine.__file__, str(folder / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout.readline() == "serving\n"
        play = json.dumps([{"name": "Run the role", "hosts": "all", "gather_facts": False, "tasks": STEPS}])
        observed = dict(NODE, training_container={"name": CONTAINER["name"]})
        options = {
            "observed": observed,
            "taco_image": engine.IMAGE,
            "training_container_profile": "lightcc",
            "taco_results_dir": str(folder / "results"),
            "taco_state_dir": str(folder / "state"),
        }
        docker = {"DOCKER_HOST": f"unix://{folder}/run/docker.sock"}
        status, output = run(folder, play, {"gpu1": {}}, options, **docker)
        assert status == 0, output
        return json.loads((folder / "found.json").read_text())
    finally:
        server.terminate()
        server.communicate()


def test_a_container_is_created_kept_and_recreated_where_an_option_differs(found):
    assert found["created"]["changed"] and found["ours"]["container"]["State"]["Running"]
    assert (
        not found["unchanged"]["changed"] and found["unchanged"]["container"]["Id"] == found["ours"]["container"]["Id"]
    )
    assert found["other"]["changed"] and found["recreated"]["container"]["State"]["Running"]
    assert "A=1" in found["recreated"]["container"]["Config"]["Env"]


def test_a_container_is_removed_once(found):
    assert found["removed"]["changed"] and not found["nothing left"]["changed"]


def test_a_container_of_ours_is_recreated_when_its_image_is_one_of_itself_now(found):
    assert found["of its own image"]["changed"]
    images = [found[name]["container"]["Image"] for name in ("recreated", "newer")]
    assert images[0] != images[1]


def test_a_container_of_an_image_that_was_committed_from_ours_is_neither_recreated_nor_removed(found):
    for name in ("label inherited", "label inherited, not removed"):
        assert "it has its label taco.train.options from the image" in found[name]["msg"], found[name]
        assert SNAPSHOT in found[name]["msg"]


def test_a_container_of_somebody_else_is_neither_recreated_nor_removed(found):
    for name in ("refused", "not removed"):
        assert "the container taco-train is not known to be one of this collection" in found[name]["msg"], found[name]
    assert not found["stays"]["changed"] and "docker rename taco-train" in found["stays"]["left"]
    assert found["theirs"]["exists"] and found["theirs"]["container"]["Config"]["Cmd"] == ["sleep", "60"]

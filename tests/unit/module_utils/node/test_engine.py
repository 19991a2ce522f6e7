# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container engine is understood by what it says, also when it says little."""

import json

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.engine import (
    OPTIONS_LABEL,
    judge_container,
    judge_engine,
    parse_object,
    parse_version,
    stored_container,
)

INFO = json.dumps({"ServerVersion": "24.0.7", "Runtimes": {"runc": {}, "nvidia": {}}, "DockerRootDir": "/data/docker"})
CONTAINER = {
    "Id": "4c01",
    "Name": "/taco-train",
    "Image": "sha256:1",
    "State": {"Status": "running"},
    "Config": {"Image": "training:1", "Labels": {OPTIONS_LABEL: "abc.9f", "other": "x"}},
    "HostConfig": {"RestartPolicy": {"Name": "unless-stopped", "MaximumRetryCount": 0}},
}
NO_SERVER = json.dumps({"ServerVersion": "", "Runtimes": None, "ServerErrors": ["Cannot connect"]})


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Docker version 24.0.7, build afdd53b", "24.0.7"),
        ("NVIDIA Container Toolkit CLI version 1.14.3\ncommit: 53b2\n", "1.14.3"),
        ("Docker version 19.03.9-ce, build 9d988398e7", "19.03.9-ce"),
        ("", None),
        ("command not found", None),
    ],
)
def test_versions_are_found_in_a_line(text, version):
    assert parse_version(text) == version


def test_a_running_engine_tells_its_version_and_runtimes():
    assert judge_engine(INFO, "", "", "NVIDIA Container Toolkit CLI version 1.14.3") == {
        "name": "docker",
        "version": "24.0.7",
        "running": True,
        "runtimes": ["nvidia", "runc"],
        "nvidia_toolkit": "1.14.3",
    }


def test_a_client_without_a_server_has_a_version_and_does_not_run():
    found = judge_engine(NO_SERVER, "Cannot connect to the Docker daemon", "Docker version 28.2.2, build x", "")
    assert (found["version"], found["running"], found["runtimes"]) == ("28.2.2", False, ["runc"])


@pytest.mark.parametrize(
    ("daemon", "runtimes"),
    [
        ('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}', ["nvidia", "runc"]),
        ("", ["runc"]),
        ("{damaged", ["runc"]),
        ('{"runtimes": ["nvidia"]}', ["runc"]),
    ],
)
def test_a_stopped_engine_has_the_runtimes_that_it_is_configured_with(daemon, runtimes):
    assert judge_engine(NO_SERVER, "Cannot connect", "", "", daemon)["runtimes"] == runtimes


def test_a_container_of_a_stopped_engine_is_found_in_its_file():
    stored = {"ID": "4c01", "Name": "/taco-train", "Image": "sha256:1", "Config": {"Image": "training:1"}}
    found = stored_container(stored, "taco-train")
    assert (found["id"], found["status"], found["image"]) == ("4c01", "unknown", "training:1")
    assert stored_container(stored, "taco") is None
    assert stored_container({}, "taco-train") is None


def test_the_socket_of_podman_in_docker_host_is_no_docker():
    info = json.dumps({"ServerVersion": "4.9.3", "DockerRootDir": "/var/lib/containers/storage"})
    found = judge_engine(info, "", "Docker version 28.2.2, build x", "")
    assert (found["name"], found["version"], found["running"]) == ("podman", "4.9.3", False)


def test_an_engine_that_is_closed_to_this_user_runs_nevertheless():
    error = "permission denied while trying to connect to the Docker daemon socket"
    assert judge_engine(NO_SERVER, error, "Docker version 28.2.2, build x", "")["running"] is True


@pytest.mark.parametrize("text", ["", "not json", "[]", '"x"', "null"])
def test_what_is_no_object_says_nothing(text):
    assert parse_object(text) == {}


def test_a_container_tells_what_it_was_made_from():
    assert judge_container(CONTAINER, {"Config": {"Labels": {"other": "y", OPTIONS_LABEL: "abc.11"}}}) == {
        "name": "taco-train",
        "id": "4c01",
        "status": "running",
        "image": "training:1",
        "image_id": "sha256:1",
        "image_digest": None,
        "restart_policy": "unless-stopped",
        "options_sha256": "abc",
    }


@pytest.mark.parametrize(
    ("digests", "found"),
    [(["r/training@sha256:9f"], "sha256:9f"), ([], None), (None, None), ([None], None), (["x"], None)],
)
def test_an_image_of_a_registry_has_a_digest(digests, found):
    image = {"Id": CONTAINER["Image"], "RepoDigests": digests}
    assert judge_container(CONTAINER, image)["image_digest"] == found


@pytest.mark.parametrize(
    ("container", "image"),
    [
        (dict(CONTAINER, Config={"Image": "training:1", "Labels": None}), {"Id": "sha256:1", "Config": None}),
        (dict(CONTAINER, Config=None), {}),
        # Made by hand from an image that somebody made from a container of ours.
        (CONTAINER, {"Id": "sha256:1", "Config": {"Labels": {OPTIONS_LABEL: "abc.9f"}}}),
    ],
)
def test_a_container_that_somebody_else_made_has_no_checksum(container, image):
    assert judge_container(container, image)["options_sha256"] is None


def test_little_is_known_of_what_says_little():
    assert set(judge_container({"Id": "4c01"}, {}).values()) == {"", "4c01", None}


def test_no_container_is_none():
    assert judge_container({}, {}) is None


PODMAN = json.dumps({"host": {"arch": "amd64"}, "version": {"Version": "4.9.4-rhel", "APIVersion": "4.9.4"}})
ROOTLESS = json.dumps({"ServerVersion": "26.1.3", "SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"]})


@pytest.mark.parametrize(
    ("info", "client", "name", "version", "running"),
    [
        (PODMAN, "", "podman", "4.9.4-rhel", False),
        # Its info fails where podman has no storage.
        ("", "podman version 4.9.4-rhel", "podman", "4.9.4-rhel", False),
        (ROOTLESS, "", "rootless docker", "26.1.3", True),
        (INFO, "", "docker", "24.0.7", True),
    ],
)
def test_what_the_command_docker_reaches_is_named(info, client, name, version, running):
    found = judge_engine(info, "Emulate Docker CLI using podman.", client, "")
    assert (found["name"], found["version"], found["running"]) == (name, version, running)


@pytest.mark.parametrize(
    ("info", "error", "name"),
    [
        (NO_SERVER, "Cannot connect", "rootless docker"),
        (NO_SERVER, "permission denied", "docker"),
        (INFO, "", "docker"),
    ],
)
def test_a_stopped_daemon_beside_the_daemon_of_a_user_is_somebodys_choice(info, error, name):
    assert judge_engine(info, error, "Docker version 26.1.3", "", rootless=True)["name"] == name

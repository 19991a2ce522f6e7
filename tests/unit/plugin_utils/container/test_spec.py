# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The three profiles are the documents' three lines, and both renderings say the same."""

import shlex

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.container.spec import (
    DOCKER_PROFILES,
    PROFILES,
    docker_container_options,
    docker_run_argv,
    size_bytes,
    spec_for,
    split_mount,
)
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

IMAGE = "ccr.ccs.tencentyun.com/qcloud/taco-training:cu112-cudnn81-py3-0.3.1"
# As the documents print them.
LINES = {
    "ttf": (
        "docker run -it --rm --gpus all --shm-size=32g --ulimit memlock=-1 --ulimit stack=67108864"
        f" --name ttf1.15-gpu {IMAGE}"
    ),
    "lightcc": (
        "docker run --network host -it --rm --gpus all --privileged --shm-size=32g --ulimit memlock=-1"
        f" --ulimit stack=67108864 --name lightcc {IMAGE}"
    ),
    "harp": (
        "docker run -it -d --gpus all --privileged --net=host -v /sys/bus/pci/devices:/sys/bus/pci/devices"
        " -v /sys/kernel/mm/hugepages/:/sys/kernel/mm/hugepages/ -v /sys/devices/system/node:/sys/devices/system/node"
        " -v /dev/hugepages/:/dev/hugepages/ -v /dev/:/dev/ -v /usr/local/tfabric/tools:/usr/local/tfabric/tools"
        f" {IMAGE}"
    ),
}
# Interactive use against detached use: the one difference that is meant.
INTERACTIVE = {("-it",), ("--rm",), ("-d",)}
DETACHED = {("--detach",), ("--init",), ("--restart", "unless-stopped")}
LONG = {"-v": "--volume", "--net": "--network"}
FLAGS = {"-it", "--rm", "-d", "--detach", "--init", "--privileged"}


def parsed(argv):
    """Return the options of a docker run line as a set of (name, value), the image, and the command."""
    words = list(argv)
    assert words[:2] == ["docker", "run"]
    words = words[2:]
    options = set()
    while words[0].startswith("-"):
        name, equals, value = words.pop(0).partition("=")
        name = LONG.get(name, name)
        if name in FLAGS:
            options.add((name,))
        else:
            options.add((name, value if equals else words.pop(0)))
    return options, words[0], words[1:]


def name_in(options):
    return next((option[1] for option in options if option[0] == "--name"), None)


@pytest.mark.parametrize("profile", LINES)
def test_a_profile_is_the_documents_line(profile):
    documented, image, command = parsed(shlex.split(LINES[profile]))
    # The HARP line has no name; ours needs one to be found again.
    name = name_in(documented) or "taco-train"
    ours, our_image, our_command = parsed(docker_run_argv(spec_for(profile, {"image": IMAGE, "name": name})))
    assert ours - DETACHED == (documented - INTERACTIVE) | {("--name", name)}
    assert ours >= DETACHED
    assert our_image == image
    assert (command, our_command) == ([], ["sleep", "infinity"])


@pytest.mark.parametrize("profile", LINES)
def test_the_module_is_told_the_same_as_docker_run(profile):
    spec = spec_for(profile, {"image": IMAGE, "name": "taco-train", "environment": {"A": 1}})
    told = docker_container_options(spec)
    run, image, command = parsed(docker_run_argv(spec))
    said = {
        ("--name", told["name"]),
        ("--restart", told["restart_policy"]),
        ("--gpus", "all"),
        ("--env", "A=1"),
        ("--detach",),
        ("--init",),
    }
    assert told["init"] is True
    assert told["env"] == {"A": "1"}
    assert told["device_requests"] == [{"driver": "", "count": -1, "capabilities": [["gpu"]]}]
    said |= {("--privileged",)} if told["privileged"] else set()
    said |= {("--network", told["network_mode"])} if "network_mode" in told else set()
    said |= {("--shm-size", told["shm_size"])} if "shm_size" in told else set()
    said |= {("--volume", volume) for volume in told["volumes"]}
    for limit in told["ulimits"]:
        name, soft, hard = limit.split(":")
        assert soft == hard
        said.add(("--ulimit", f"{name}={soft}"))
    assert said == run
    assert (told["image"], told["command"]) == (image, command)


def test_what_is_set_replaces_the_profile_and_what_is_none_does_not():
    spec = spec_for(
        "harp",
        {"image": "i", "name": "n", "privileged": False, "shm_size": "64m", "ulimits": [], "network_mode": None},
        ["/data:/data:ro"],
    )
    assert spec.privileged is False
    assert spec.shm_size == "64m"
    assert spec.ulimits == ()
    assert spec.network_mode == "host"
    assert spec.mounts[-1] == "/data:/data:ro"
    assert len(spec.mounts) == 7


@pytest.mark.parametrize(
    ("gpus", "requests", "flag"),
    [
        ("none", [], None),
        ("all", [{"driver": "", "count": -1, "capabilities": [["gpu"]]}], "all"),
        ([0, 3], [{"driver": "", "device_ids": ["0", "3"], "capabilities": [["gpu"]]}], "device=0,3"),
    ],
)
def test_gpus(gpus, requests, flag):
    spec = spec_for("ttf", {"image": "i", "name": "n", "gpus": gpus})
    assert docker_container_options(spec)["device_requests"] == requests
    argv = docker_run_argv(spec)
    assert (argv[argv.index("--gpus") + 1] if "--gpus" in argv else None) == flag


def test_dockers_profiles_are_those_with_a_documented_line():
    assert set(DOCKER_PROFILES) == set(LINES) == set(PROFILES) - {"mpijob"}


@pytest.mark.parametrize(
    ("size", "found"),
    [("32g", 32 * 1024**3), ("1.5gb", 3 * 2**29), ("64m", 64 * 1024**2), ("2T", 2 * 1024**4), ("7b", 7), ("7", 7)],
)
def test_sizes_are_in_powers_of_1024(size, found):
    assert size_bytes(size) == found


def test_a_mount_taken_apart():
    assert split_mount("/data/:/data") == ("/data/", "/data", ())
    assert split_mount("sets:/data:ro,z") == ("sets", "/data", ("ro", "z"))


def test_a_soft_and_a_hard_limit():
    spec = spec_for("ttf", {"image": "i", "name": "n", "ulimits": ["nofile=1024:2048"]})
    assert docker_container_options(spec)["ulimits"] == ["nofile:1024:2048"]


@pytest.mark.parametrize(
    ("profile", "overrides", "extra", "words"),
    [
        ("horovod", {"image": "i", "name": "n"}, (), "no profile 'horovod'"),
        ("ttf", {"image": "", "name": "n"}, (), "image is empty"),
        ("ttf", {"image": "i"}, (), "name is empty"),
        ("ttf", {"image": "i", "name": "n", "shm": "1g"}, (), "no shm"),
        ("ttf", {"image": "i", "name": "n", "shm_size": "lots"}, (), "shm_size is 'lots'"),
        ("ttf", {"image": "i", "name": "n", "ulimits": ["memlock"]}, (), "ulimit 'memlock'"),
        ("ttf", {"image": "i", "name": "n", "gpus": "some"}, (), "gpus is 'some'"),
        ("ttf", {"image": "i", "name": "n", "gpus": []}, (), "empty list"),
        ("ttf", {"image": "i", "name": "n"}, ["/data"], "mount '/data'"),
        ("harp", {"image": "i", "name": "n"}, ["/other:/dev"], "target /dev"),
    ],
)
def test_what_is_no_container_is_refused(profile, overrides, extra, words):
    with pytest.raises(InvalidValueError, match=words.replace("(", r"\(")):
        spec_for(profile, overrides, extra)

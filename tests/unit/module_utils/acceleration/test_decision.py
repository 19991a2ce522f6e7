# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tells workers apart, and the order of what is done to one."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._acceleration.decision import (
    AccelerationError,
    in_words,
    plan,
    root_layer,
    worker_key,
)

POD = (
    "1573 1371 0:326 / / rw,relatime master:571 - overlay overlay rw,lowerdir=/s/11/fs:/s/10/fs,"
    "upperdir=/var/lib/containerd/s/12/fs,workdir=/var/lib/containerd/s/12/work\n"
    "1574 1573 0:330 / /proc rw,nosuid - proc proc rw\n"
    "1580 1573 0:90 / /data rw - overlay overlay rw,upperdir=/other\n"
)
HOST = "26 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
PLUGIN = "/lib/libnccl-net.so"
FILE = {
    "path": PLUGIN,
    "kind": "file",
    "target": None,
    "loads": True,
    "size": 9,
    "mode": 0o644,
    "uid": 0,
    "gid": 0,
    "mtime_ns": 1,
    "sha256": None,
}
OPTIONS = {
    "state": "present",
    "plugin": "keep",
    "plugin_path": PLUGIN,
    "horovod": "image",
    "horovod_version": "0.21.3",
    "horovod_source": None,
    "horovod_build_env": {},
    "pip_args": [],
    "prefix_dir": "/state/horovod",
}
SEEN = {
    "python": {"version": "3.6.9", "executable": "/usr/bin/python3"},
    "packages": {"light-horovod": "0.3.2", "pip": "21.3"},
    "pythonpath": "",
    "files": [FILE],
    "elsewhere": [],
    "record_path": "/state/acceleration.json",
    "record": None,
    "source_sha256": None,
    "builds": {},
    "leftovers": [],
}


def planned(seen=None, **options):
    return plan(dict(OPTIONS, **options), dict(SEEN, **(seen or {})), "worker", None)


def test_a_pod_is_known_by_its_writable_layer():
    assert root_layer(POD) == "/var/lib/containerd/s/12/fs"
    assert root_layer(HOST) is None
    assert root_layer("") is None
    assert worker_key("1f", "/layer") == "1f"
    assert worker_key(None, "/layer") == "/layer"
    assert worker_key(None, None) == "host"


def test_keeping_everything_is_nothing_to_do():
    decided = planned()
    assert (decided.build, decided.step, decided.forget, decided.remove) == (None, None, False, [])
    assert decided.environment == {}
    assert decided.after["plugin"] == {"path": PLUGIN, "state": "on"}


def test_both_halves_of_an_arm_are_planned_together():
    decided = planned(plugin="off", horovod="upstream", seen={"pythonpath": "/own"})
    assert decided.step.target == "/lib/bak.libnccl-net.so"
    assert decided.build in decided.after["builds"]
    assert decided.environment == {"PYTHONPATH": decided.build + ":/own"}
    built = {decided.build: '{"key": "%s"}' % decided.key}
    again = planned(horovod="upstream", seen={"pythonpath": "/own", "builds": built})
    assert (again.build, again.environment) == (None, decided.environment)
    # A build that another image made, or that isn't whole, is none.
    assert planned(horovod="upstream", seen={"builds": {decided.build: "{}"}}).build == decided.build


def test_what_is_asked_of_present_has_no_part_in_going_back():
    decided = planned(state="restored", plugin="off", horovod="upstream")
    assert (decided.build, decided.step, decided.environment) == (None, None, {})
    absent = planned(state="absent", seen={"builds": {"/state/horovod/h": "{}"}, "leftovers": ["/state/horovod/h"]})
    assert (absent.remove, absent.after["builds"]) == (["/state/horovod/h"], [])


@pytest.mark.parametrize(
    ("options", "seen", "words"),
    [
        ({"plugin": "off"}, {"elsewhere": ["/opt/libnccl-net.so"]}, "another plugin, /opt/libnccl-net.so"),
        ({"horovod": "upstream"}, {"packages": {}}, "has no pip"),
        ({"horovod": "upstream", "horovod_source": "/x.whl"}, {}, "horovod_source /x.whl is no file"),
        ({"horovod": "upstream", "horovod_version": "latest"}, {}, "expected a version such as 0.21.3"),
        ({"plugin": "on"}, {"files": [], "elsewhere": ["/opt/libnccl-net.so"]}, "it may be /opt/libnccl-net.so"),
    ],
)
def test_what_is_in_the_way_is_told(options, seen, words):
    with pytest.raises(AccelerationError, match=words):
        planned(seen, **options)


def test_an_observation_is_told_in_words():
    told = {"plugin": {"state": "off", "path": "/mnt/libnccl-net.so"}, "builds": ["/state/horovod/h"]}
    assert in_words(told) == "NCCL plugin: off (/mnt/libnccl-net.so)\nHorovod built in /state/horovod/h\n"
    assert in_words({"plugin": {"state": "missing", "path": None}, "builds": []}) == "NCCL plugin: missing\n"

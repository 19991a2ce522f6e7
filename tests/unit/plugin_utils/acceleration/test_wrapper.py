# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wrapper of a rank's command, run by real shells, and the dynamic linker that the empty library stops."""

import ctypes.util
import os
import signal
import subprocess
import sys

import pytest

from ansible_collections.taco.train.plugins.module_utils._acceleration.empty_library import create_library
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS, arm_of
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.wrapper import folders_of, unprepared, wrapped

NAME = "libnccl-net.so"
SHOWN = [sys.executable, "-c", "import os; print(os.environ.get('LD_LIBRARY_PATH'), os.environ.get('PYTHONPATH'))"]
LOADED = "import ctypes\ntry:\n    ctypes.CDLL('libnccl-net.so'); print('loaded')\nexcept OSError as error:\n    print(error)"


@pytest.fixture
def folders(tmp_path):
    """The folders of an arm that needs both."""
    library, prefix = tmp_path / "it's here", tmp_path / "horovod"
    create_library(str(library))
    prefix.mkdir()
    (prefix / "taco-train-build.json").write_text("{}")
    return {"LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(prefix)}


def ran(command, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    return subprocess.run(command, env=dict(kept, **environment), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("own", [None, "", "/own", "/own:/second", "/own:"])
def test_the_folders_come_before_the_workers_own_values_and_no_colon_is_added(folders, own):
    given = {} if own is None else {"LD_LIBRARY_PATH": own, "PYTHONPATH": own}
    done = ran(wrapped(SHOWN, folders), **given)
    after = f":{own}" if own else ""
    assert done.stdout.strip() == f"{folders['LD_LIBRARY_PATH']}{after} {folders['PYTHONPATH']}{after}", done


def test_arguments_arrive_as_they_are_and_an_arm_without_folders_has_its_own_command(folders):
    words = ["printf", "%s|", "a b", "$HOME", "it's", "", "*", "x\ny"]
    assert ran(wrapped(words, folders)).stdout == "|".join([*words[2:], ""])
    assert wrapped(words, {}) == words


@pytest.mark.parametrize("variable", ["LD_LIBRARY_PATH", "PYTHONPATH"])
def test_a_worker_without_the_folder_is_named_and_the_command_does_not_run(folders, tmp_path, variable):
    missing = dict(folders, **{variable: str(tmp_path / "nowhere")})
    done = ran(wrapped(["echo", "ran"], missing))
    assert done.returncode == 97 and done.stdout == ""
    assert f"taco.train: {os.uname().nodename} lacks {tmp_path}/nowhere/" in done.stderr


def test_a_library_that_is_not_empty_any_more_is_refused(folders):
    with open(os.path.join(folders["LD_LIBRARY_PATH"], NAME), "w") as stream:
        stream.write("a plugin")
    assert ran(wrapped(["true"], folders)).returncode == 97


def test_the_command_gets_the_signals_and_its_status_is_that_of_the_run(folders):
    script = "import os, signal; print(flush=True); signal.pause()"
    with subprocess.Popen(wrapped([sys.executable, "-c", script], folders), stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        assert running.wait() == -signal.SIGTERM
    assert ran(wrapped(["sh", "-c", "exit 7"], folders)).returncode == 7
    assert ran(wrapped([], folders)).returncode == 0


def test_the_dynamic_linker_stops_at_the_empty_library(folders, tmp_path):
    """Any library does as the plugin: NCCL loads it by dlopen of its name."""
    name = ctypes.util.find_library("z") or ctypes.util.find_library("m")
    maps = f"import ctypes; ctypes.CDLL({name!r}); print(open('/proc/self/maps').read())"
    paths = {line.split()[-1] for line in ran([sys.executable, "-c", maps]).stdout.splitlines() if name[:4] in line}
    plugin = tmp_path / "image"
    plugin.mkdir()
    (plugin / NAME).symlink_to(sorted(path for path in paths if path.startswith("/") and ".so" in path)[-1])
    command = [sys.executable, "-c", LOADED]
    assert ran(command, LD_LIBRARY_PATH=str(plugin)).stdout == "loaded\n"
    library = {"LD_LIBRARY_PATH": folders["LD_LIBRARY_PATH"]}
    assert "file too short" in ran(wrapped(command, library), LD_LIBRARY_PATH=str(plugin)).stdout


PREPARED = {"LD_LIBRARY_PATH": "/s/without-plugin", "PYTHONPATH": "/s/horovod/h"}


def worker(plugin=None, **values):
    return dict({"prepended": PREPARED, "after": {"plugin": {"state": "x", "problem": plugin}}}, **values)


@pytest.mark.parametrize(
    ("arm", "mpi", "variables"),
    [
        ("taco", True, []),
        ("harp", True, []),
        ("tcp", True, ["LD_LIBRARY_PATH"]),
        ("lightcc", True, ["LD_LIBRARY_PATH"]),
        ("horovod", True, ["LD_LIBRARY_PATH", "PYTHONPATH"]),
        ("horovod", False, ["PYTHONPATH"]),
        ("tcp", False, []),
        ("default", True, []),
    ],
)
def test_only_arms_that_need_folders_get_them(arm, mpi, variables):
    workers = {"gpu1": {}, "gpu2": worker()}
    assert folders_of(ARMS[arm], workers, mpi) == {name: PREPARED[name] for name in variables}
    assert folders_of(ARMS[arm], {}, mpi) == {}


def test_the_arm_is_inactive_where_the_worker_lacks_what_it_needs():
    other = worker(prepended=dict(PREPARED, PYTHONPATH="/other"))
    unbuilt = worker(prepended={"LD_LIBRARY_PATH": "/s/without-plugin"}, failed=True, msg="no pip")
    rows = [
        ("horovod", {"gpu1": worker(), "gpu2": other}, {"gpu2": "PYTHONPATH would begin with /other, and on another"}),
        ("horovod", {"gpu1": worker(), "gpu2": unbuilt}, {"gpu2": "no pip"}),
        ("tcp", {"gpu1": worker(), "gpu2": unbuilt}, {}),
        ("harp", {"gpu1": worker(), "gpu2": worker("it was renamed: mv")}, {"gpu2": "it was renamed: mv"}),
        ("tcp", {"gpu1": worker(), "gpu2": worker("it was renamed: mv")}, {}),
        ("tcp", {"gpu1": worker(), "gpu2": worker(prepended={})}, {"gpu2": "it was not prepared for the arm"}),
        ("taco", {"gpu1": {"unreachable": True, "msg": "timed out"}, "gpu2": {}}, {"gpu1": "timed out"}),
    ]
    for arm, workers, expected in rows:
        found = unprepared(ARMS[arm], workers)
        assert list(found) == list(expected), (arm, found)
        assert all(expected[host] in reason for host, reason in found.items())
    assert unprepared(arm_of({"name": "mine"}), {"gpu1": worker("renamed")}) == {}

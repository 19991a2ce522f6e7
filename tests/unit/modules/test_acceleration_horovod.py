# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Upstream's Horovod is built on a worker by a real pip, once."""

import json
import os
import subprocess
import sys

import pytest
from fake_worker import tree_of, write_sdist, write_wheel


def horovod_in(worker, prepended):
    """Return version, file and build environment of the Horovod that a run in the container imports."""
    words = "import horovod, json; print(json.dumps([horovod.__version__, horovod.__file__, horovod.built_with]))"
    env = dict(os.environ, PYTHONPATH=f"{prepended['PYTHONPATH']}:{worker.environment['PYTHONPATH']}")
    return json.loads(subprocess.run([sys.executable, "-c", words], env=env, stdout=subprocess.PIPE, check=True).stdout)


def test_upstreams_horovod_is_built_once_and_used_by_its_environment(worker, arm):
    worker.give_lightcc()
    write_sdist(worker.index)
    image = tree_of(worker.site)
    built = arm(horovod="upstream")
    assert built["changed"], built
    (prefix,) = built["after"]["builds"]
    assert built["before"]["builds"] == []
    assert built["prepended"] == {"PYTHONPATH": prefix}
    version, file, built_with = horovod_in(worker, built["prepended"])
    assert (version, file) == ("0.21.3", f"{prefix}/horovod/__init__.py")
    assert built_with == {
        "HOROVOD_WITH_MPI": "1",
        "HOROVOD_GPU_OPERATIONS": "NCCL",
        "HOROVOD_WITH_TENSORFLOW": "1",
        "HOROVOD_NCCL_LINK": "SHARED",
    }
    # Python's own byte code aside, nothing of the image is touched.
    assert {path: facts for path, facts in tree_of(worker.site).items() if "__pycache__" not in path} == image
    again = arm(horovod="upstream")
    assert not again["changed"] and again["prepended"] == built["prepended"]
    back = arm()
    assert (back["changed"], back["prepended"]) == (False, {})
    gone = arm(state="absent")
    assert gone["changed"] and gone["after"]["builds"] == []
    assert list(worker.state.iterdir()) == []
    assert not arm(state="absent")["changed"]


def test_another_environment_is_another_build(worker, arm):
    write_sdist(worker.index)
    first = arm(horovod="upstream")
    torch = {"HOROVOD_WITH_PYTORCH": True, "HOROVOD_WITH_GLOO": False, "HOROVOD_TOKEN": "hush"}
    second = arm(horovod="upstream", horovod_build_env=torch)
    assert second["changed"] and len(second["after"]["builds"]) == 2
    assert horovod_in(worker, first["prepended"])[2]["HOROVOD_WITH_MPI"] == "1"
    built = {"HOROVOD_WITH_PYTORCH": "1", "HOROVOD_WITH_GLOO": "0", "HOROVOD_TOKEN": "hush"}
    assert horovod_in(worker, second["prepended"])[2] == built
    # The environment of a build is in no answer, and its log is private.
    assert "hush" not in json.dumps({key: value for key, value in second.items() if key != "invocation"})
    logs = list((worker.state / "horovod").glob("*.log"))
    assert len(logs) == 2 and all(log.stat().st_mode & 0o777 == 0o600 for log in logs)


def test_a_file_of_sources_is_known_by_what_it_holds(worker, arm):
    source = write_sdist(worker.folder)
    first = arm(horovod="upstream", horovod_source=str(source))
    assert first["changed"], first
    assert not arm(horovod="upstream", horovod_source=str(source))["changed"]
    write_sdist(worker.folder, imports="patched = True\\n")
    assert arm(horovod="upstream", horovod_source=str(source))["changed"]


def test_what_horovod_requires_and_the_image_lacks_is_added(worker, arm):
    write_sdist(
        worker.index,
        requires="Requires-Dist: tacofakedep>=1.0\\nRequires-Dist: PyYAML\\n",
        imports="import tacofakedep\\n",
    )
    write_wheel(worker.index, "tacofakedep", "1.2")
    built = arm(horovod="upstream")
    (prefix,) = built["after"]["builds"]
    names = os.listdir(prefix)
    assert "tacofakedep.py" in names
    # The image has this one.
    assert not [name for name in names if "yaml" in name.lower()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horovod_build_env": {"HOROVOD_BREAK": "1"}}, ["CMake Error: could not find MPI", ".log in the worker"]),
        ({"horovod_version": "0.22.0"}, ["pip could not install horovod==0.22.0"]),
        ({"horovod_version": "0.22.0", "horovod_source": "horovod==0.21.3"}, ["set it to what the source is"]),
        ({"horovod_version": "../x"}, ["expected a version such as 0.21.3"]),
        ({"horovod_source": "/nowhere/horovod.tar.gz"}, ["/nowhere/horovod.tar.gz", "mount its folder"]),
        ({"build_timeout": 0}, ["pip did not end within 0 s: set build_timeout to more"]),
    ],
)
def test_a_build_that_fails_leaves_its_log_and_nothing_else(worker, arm, options, words):
    write_sdist(worker.index)
    worker.give_plugin()
    before = tree_of(worker.lib)
    if options.get("build_timeout") == 0:
        # A pip that takes longer than the shortest limit of a second.
        (worker.site / "sitecustomize.py").write_text("import sys, time\n'-m' in sys.orig_argv and time.sleep(30)\n")
    result = arm(horovod="upstream", plugin="off", **options)
    assert result["failed"], result
    for word in words:
        assert word in result["msg"]
    left = os.listdir(worker.state / "horovod") if (worker.state / "horovod").exists() else []
    assert [name for name in left if not name.endswith(".log")] == []
    assert tree_of(worker.lib) == before and list(result["prepended"]) == ["LD_LIBRARY_PATH"]


def test_a_python_without_pip_is_named(worker, arm):
    bare = worker.folder / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    result = arm(horovod="upstream", python=str(bare / "bin/python"))
    assert result["failed"] and "has no pip" in result["msg"] and not worker.state.exists()

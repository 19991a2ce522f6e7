# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a build depends on, and what pip is told and says."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._acceleration import horovod_prefix

OPTIONS = {
    "horovod_version": "0.21.3",
    "horovod_source": None,
    "horovod_build_env": {"HOROVOD_WITH_MPI": "1"},
    "pip_args": [],
    "prefix_dir": "/var/lib/taco-train/horovod",
}
SEEN = {"source_sha256": None, "python": {"version": "3.6.9"}, "packages": {"ttensorflow": "1.15.5", "pip": "21.3"}}


def key(image="sha256:1", seen=None, **options):
    return horovod_prefix.build_key(dict(OPTIONS, **options), dict(SEEN, **(seen or {})), image)


def test_whatever_a_build_depends_on_makes_it_another_one():
    changed = [
        key("sha256:2"),
        key(horovod_version="0.28.1"),
        key(horovod_source="/tmp/horovod.whl"),
        key(horovod_build_env={"HOROVOD_WITH_MPI": "0"}),
        key(pip_args=["--no-binary", ":all:"]),
        key(seen={"python": {"version": "3.8.10"}}),
        key(seen={"source_sha256": "ab"}),
        key(seen={"packages": {"ttensorflow": "1.15.6"}}),
    ]
    assert len({key(), *changed}) == len(changed) + 1
    # The pip that builds it, and LightCC beside it, do not matter.
    assert key() == key(seen={"packages": {"ttensorflow": "1.15.5", "pip": "22.0", "tencent-lightcc": "3.1.1"}})


def test_a_folder_says_by_its_name_that_it_is_ours():
    prefix = horovod_prefix.prefix_of(OPTIONS, key())
    assert prefix == f"/var/lib/taco-train/horovod/horovod-0.21.3-{key()[:12]}"
    name = prefix.rpartition("/")[2]
    for own in (name, name + ".new", name + ".log"):
        assert horovod_prefix.OWN_NAME.fullmatch(own)
    for foreign in ("horovod", "horovod-0.21.3", name + ".tar", "my-" + name):
        assert not horovod_prefix.OWN_NAME.fullmatch(foreign)


@pytest.mark.parametrize(
    ("text", "built"), [('{"key": "k"}', True), ('{"key": "other"}', False), ("{", False), ("[]", False), (None, False)]
)
def test_only_its_own_description_makes_a_folder_a_build(text, built):
    assert horovod_prefix.is_built(text, "k") is built


@pytest.mark.parametrize(
    ("name", "info"),
    [
        ("light_horovod-0.3.2.dist-info", ["light-horovod", "0.3.2"]),
        ("tencent_lightcc-3.1.1.dist-info", ["tencent-lightcc", "3.1.1"]),
        ("horovod-0.21.3-py3.6.egg-info", ["horovod", "0.21.3"]),
        ("horovod-0.21.3-py3.6-linux-x86_64.egg-info", ["horovod", "0.21.3"]),
        ("torch-1.11.0+cu113.dist-info", ["torch", "1.11.0+cu113"]),
        ("horovod", None),
        ("horovod.egg-info", None),
    ],
)
def test_packages_are_known_by_the_folders_that_describe_them(name, info):
    assert horovod_prefix.parse_info(name) == info


def test_pip_is_told_what_its_version_understands():
    new = horovod_prefix.pip_install("21.3.1", "/p.new", ["horovod==0.21.3"], ["--index-url", "http://i"], whole=False)
    assert " ".join(new) == (
        "install --no-cache-dir --disable-pip-version-check --target /p.new --no-deps --no-build-isolation "
        "--index-url http://i horovod==0.21.3"
    )
    old = horovod_prefix.pip_install("9.0.1", "/p.new", ["horovod==0.21.3"], [], whole=False)
    assert "--no-build-isolation" not in old
    more = horovod_prefix.pip_install("21.3.1", "/p.new", ["cloudpickle"], [], whole=True)
    assert "--no-deps" not in more and more[-1] == "cloudpickle"


def test_what_pip_check_says_of_others_is_no_concern():
    said = (
        "astroid 2.0 requires lazy-object-proxy, which is not installed.\n"
        "horovod 0.21.3 requires cloudpickle, which is not installed.\n"
        "horovod 0.21.3 has requirement psutil>=5, but you have psutil 4.0.\n"
        "other 1 has requirement psutil>=6, but you have psutil 4.0.\n"
    )
    assert horovod_prefix.missing_requirements(said) == ["cloudpickle", "psutil>=5"]
    assert horovod_prefix.missing_requirements("No broken requirements found.\n") == []


def test_a_prefix_comes_before_what_the_worker_has():
    assert horovod_prefix.python_path("/p", "") == "/p"
    assert horovod_prefix.python_path("/p", "/own:/p::/more") == "/p:/own:/more"


LOG = """Collecting horovod==0.21.3
  Building wheel for horovod: finished with status 'error'
  error: subprocess-exited-with-error
  -- Could NOT find MPI_CXX
  CMake Error at /usr/share/cmake/FindMPI.cmake:1271 (message):
    Could NOT find MPI (missing: MPI_CXX_FOUND)

  subprocess.CalledProcessError: Command 'cmake' returned non-zero exit status 1.
  [end of output]
note: This error originates from a subprocess, and is likely not a problem with pip.
ERROR: Failed building wheel for horovod
hint: See above for output from the failure.
"""


def test_a_log_is_told_by_where_it_begins_to_go_wrong():
    assert horovod_prefix.failure_words(LOG).split(" | ") == [
        "CMake Error at /usr/share/cmake/FindMPI.cmake:1271 (message):",
        "Could NOT find MPI (missing: MPI_CXX_FOUND)",
        "subprocess.CalledProcessError: Command 'cmake' returned non-zero exit status 1.",
        "ERROR: Failed building wheel for horovod",
    ]
    assert horovod_prefix.failure_words("1\n2\n\n3\n4\n5\n") == "2 | 3 | 4 | 5"
    assert horovod_prefix.failure_words("") == "nothing"

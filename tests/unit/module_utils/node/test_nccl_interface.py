# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The versions of NCCL's plugin interface are read in the libraries of a container, which are not followed out of it."""

import os
import shutil
from io import BytesIO

import pytest
from container_host import ContainerHost
from elf_file import elf

from ansible_collections.taco.train.plugins.module_utils._node.elf import ElfError, exported_symbols
from ansible_collections.taco.train.plugins.module_utils._node.nccl_interface import (
    NCCL,
    exported_versions,
    nccl_libraries,
)
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import PATH
from ansible_collections.taco.train.plugins.module_utils._observation.node import training_container

LIBRARY = "/usr/lib/x86_64-linux-gnu/libnccl.so.2"
# The texts of NCCL 2.19: a symbol that it looks for ends at once, the names in messages do not.
TEXTS = (
    b"NCCL version 2.19.3+cuda12.3\0ncclNetPlugin_v7\0ncclNetPlugin_v6\0ncclNetPlugin_v5\0ncclCollNetPlugin_v3\0"
    b"NET/Plugin: Failed to find ncclNetPlugin_v4 symbol.\0"
)


def put(root, path, data):
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def test_the_observation_of_a_running_container_has_the_versions_of_its_plugin_and_of_its_nccl(tmp_path):
    host, engine = ContainerHost(str(tmp_path)), {"running": True}
    assert training_container(host, engine, "box")["plugin_versions"] is None
    put(tmp_path / "proc/77/root", PATH, elf(["ncclNetPlugin_v4"]))
    put(tmp_path / "proc/77/root", LIBRARY, elf([], TEXTS))
    found = training_container(host, engine, "box")
    assert (found["renamed_plugin"], found["plugin_versions"]) == (None, [4])
    assert found["nccl"] == [{"path": LIBRARY, "version": "2.19.3", "plugin_versions": [5, 6, 7]}]


@pytest.mark.parametrize(
    ("exported", "undefined", "versions"),
    [
        (["ncclNetPlugin_v4", "ncclCollNetPlugin_v4"], [], [4]),
        (["ncclNetPlugin_v10", "ncclNetPlugin_v8", "ncclNetPlugin_v8x", "ncclNetPlugin_v"], [], [8, 10]),
        (["other"], ["ncclNetPlugin_v5"], []),
    ],
)
def test_the_versions_of_a_plugin_are_those_of_the_symbols_that_it_defines(tmp_path, exported, undefined, versions):
    put(tmp_path, PATH, elf(exported, undefined=undefined))
    assert exported_versions(str(tmp_path)) == versions


def test_links_are_followed_within_the_root_only(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(root, "/opt/harp/plugin.so", elf(["ncclNetPlugin_v4"]))
    put(outside, "plugin.so", elf(["ncclNetPlugin_v9"]))
    link = root / PATH.lstrip("/")
    link.parent.mkdir(parents=True)
    for target, versions in {
        "/opt/harp/plugin.so": [4],
        "../../../opt/harp/plugin.so": [4],
        str(outside / "plugin.so"): None,
        "../../../../outside/plugin.so": None,
        "libnccl-net.so": None,
    }.items():
        link.symlink_to(target)
        assert exported_versions(str(root)) == versions, target
        link.unlink()
    # Folders on the way are links of the container too.
    shutil.rmtree(str(link.parent))
    for target, versions in {"/opt/harp": [4], "../../../opt/harp": [4], str(outside): None}.items():
        link.parent.symlink_to(target)
        os.rename(str(root / "opt/harp/plugin.so"), str(root / "opt/harp" / link.name))
        put(outside, link.name, elf(["ncclNetPlugin_v9"]))
        assert exported_versions(str(root)) == versions, target
        os.rename(str(root / "opt/harp" / link.name), str(root / "opt/harp/plugin.so"))
        link.parent.unlink()
    link.parent.mkdir()
    os.mkfifo(str(link))
    assert exported_versions(str(root)) is None


def test_what_is_no_whole_library_is_unknown(tmp_path):
    whole = elf(["ncclNetPlugin_v4"], TEXTS)
    for data in (b"", b"INPUT(-lnccl)", whole[:40], whole[:-1], b"\x7fELF\x01" + whole[5:]):
        for path in (PATH, LIBRARY):
            put(tmp_path, path, data)
        assert exported_versions(str(tmp_path)) is None and nccl_libraries(str(tmp_path)) == [], data[:8]


def test_a_damaged_library_gives_names_or_the_one_error():
    whole = elf(["ncclNetPlugin_v4"])
    for place in range(len(whole)):
        damaged = BytesIO(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            names = exported_symbols(damaged)
        except ElfError:
            continue
        assert all(isinstance(name, str) for name in names)


def test_every_other_nccl_of_a_container_is_listed_once(tmp_path):
    packages = "/usr/local/lib/python3.8/dist-packages/nvidia/nccl/lib/libnccl.so.2"
    put(tmp_path, LIBRARY, elf([], TEXTS))
    put(tmp_path, NCCL[2], elf([], TEXTS))
    put(tmp_path, packages, elf([], b"NCCL version 2.8.4+cuda11.2\0ncclNetPlugin_v4\0"))
    found = nccl_libraries(str(tmp_path))
    assert [(one["path"], one["version"], one["plugin_versions"]) for one in found] == [
        (LIBRARY, "2.19.3", [5, 6, 7]),
        (packages, "2.8.4", [4]),
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A renamed plugin is found below the root of a container, and not followed out of it."""

import pytest
from container_host import ContainerHost

from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import (
    PATH,
    find_renamed,
    renamed_paths,
    undo_command,
)
from ansible_collections.taco.train.plugins.module_utils._observation.node import training_container


def put(root, path):
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("the plugin")


@pytest.mark.parametrize("renamed", renamed_paths(PATH))
def test_each_name_of_the_documents_is_found_below_a_root(tmp_path, renamed):
    assert find_renamed(PATH, str(tmp_path)) is None
    put(tmp_path, renamed)
    assert find_renamed(PATH, str(tmp_path)) == renamed
    put(tmp_path, PATH)
    assert find_renamed(PATH, str(tmp_path)) is None


def test_the_names_are_those_of_the_documents():
    assert renamed_paths(PATH) == [
        "/usr/lib/x86_64-linux-gnu/bak.libnccl-net.so",
        "/usr/lib/x86_64-linux-gnu/libnccl-net.so_bak",
        "/usr/lib/x86_64-linux-gnu/libncc-net.so",
        "/mnt/libnccl-net.so",
        "/root/libnccl-net.so",
    ]
    assert renamed_paths("/mnt/other.so") == ["/mnt/bak.other.so", "/mnt/other.so_bak", "/root/other.so"]
    assert undo_command("/my lib/a.so_bak", "/my lib/a.so") == "mv '/my lib/a.so_bak' '/my lib/a.so'"


def test_the_observation_of_a_running_container_has_its_renamed_plugin(tmp_path):
    host, engine = ContainerHost(str(tmp_path)), {"running": True}
    assert training_container(host, engine, "box")["renamed_plugin"] is None
    put(tmp_path / "proc/77/root", "/mnt/libnccl-net.so")
    assert training_container(host, engine, "box")["renamed_plugin"] == "/mnt/libnccl-net.so"

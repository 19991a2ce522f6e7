# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the lock of a search: its process has it until it ends, however it ends."""

import json
import os
import subprocess
import sys

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError
from ansible_collections.taco.train.plugins.plugin_utils.locate.store import LOCK_FILE, acquire


@pytest.fixture
def process():
    """A process that stands for a playbook."""
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
    yield started
    started.kill()
    started.wait()


def test_another_playbook_is_refused_until_the_first_one_was_killed(tmp_path, process):
    folder = str(tmp_path)
    acquire(folder, process.pid)
    acquire(folder, process.pid)
    for write in (True, False):
        with pytest.raises(SearchError, match=f"The process {process.pid} on .*locate_fresh: true"):
            acquire(folder, os.getpid(), write)
    process.kill()
    # Not yet waited for, it is a zombie.
    while True:
        try:
            acquire(folder, os.getpid())
            break
        except SearchError:
            pass
    acquire(folder, os.getpid())


def test_a_later_process_with_the_same_number_does_not_have_the_lock(tmp_path, process):
    acquire(str(tmp_path), process.pid)
    holder = json.loads((tmp_path / LOCK_FILE).read_text())
    (tmp_path / LOCK_FILE).write_text(json.dumps(dict(holder, started="1")))
    acquire(str(tmp_path), os.getpid())


def test_a_process_of_another_controller_has_the_lock_until_the_file_is_deleted(tmp_path):
    path = tmp_path / LOCK_FILE
    path.write_text(json.dumps({"controller": "elsewhere", "pid": 1, "started": "5"}))
    with pytest.raises(SearchError, match=f"on elsewhere runs the search.*delete {path}"):
        acquire(str(tmp_path), os.getpid())
    path.unlink()
    acquire(str(tmp_path), os.getpid())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x", "controller": "a"}'])
def test_a_file_that_names_no_process_is_no_lock(tmp_path, text):
    (tmp_path / LOCK_FILE).write_text(text)
    acquire(str(tmp_path), os.getpid())
    assert json.loads((tmp_path / LOCK_FILE).read_text())["pid"] == os.getpid()


def test_a_check_writes_nothing_and_a_missing_folder_is_named(tmp_path):
    acquire(str(tmp_path), os.getpid(), write=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SearchError, match="taco_results_dir"):
        acquire(str(tmp_path / "absent"), os.getpid())

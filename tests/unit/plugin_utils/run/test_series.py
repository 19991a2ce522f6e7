# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the folder of a series: a playbook has it until it ends, however it ends, and the newest one of its kind is continued."""

import json
import os
import subprocess
import sys

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.run import series
from ansible_collections.taco.train.plugins.plugin_utils.run.owner import playbook
from ansible_collections.taco.train.plugins.plugin_utils.run.series import COMPARISON, LOCK_FILE, SEARCH
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError


def acquire(folder, pid, write=True, kind=SEARCH):
    series.acquire(kind, folder, pid, write)


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
        for kind, fresh in (
            (SEARCH, "another search with locate_fresh"),
            (COMPARISON, "another comparison with compare_fresh"),
        ):
            with pytest.raises(RecordError, match=f"The process {process.pid} on .*{fresh}: true"):
                acquire(folder, os.getpid(), write, kind)
    process.kill()
    # Not yet waited for, it is a zombie.
    while True:
        try:
            acquire(folder, os.getpid())
            break
        except RecordError:
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
    with pytest.raises(RecordError, match=f"on elsewhere has the lock of the search.*delete {path}"):
        acquire(str(tmp_path), os.getpid())
    path.unlink()
    acquire(str(tmp_path), os.getpid())


def test_nobody_has_the_lock_of_a_series_that_ended(tmp_path):
    series.release(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / LOCK_FILE).write_text(json.dumps({"controller": "elsewhere", "pid": 1, "started": "5"}))
    series.release(str(tmp_path))
    with pytest.raises(RecordError, match="on elsewhere"):
        acquire(str(tmp_path), os.getpid())
    (tmp_path / LOCK_FILE).unlink()
    acquire(str(tmp_path), playbook())
    series.release(str(tmp_path))
    assert (tmp_path / LOCK_FILE).read_text() == ""


@pytest.mark.parametrize("text", ["", "\udce9", "{", "[]", '{"pid": "x", "controller": "a"}'])
def test_a_file_that_names_no_process_is_no_lock(tmp_path, text):
    (tmp_path / LOCK_FILE).write_text(text, encoding="utf-8", errors="surrogateescape")
    acquire(str(tmp_path), os.getpid())
    assert json.loads((tmp_path / LOCK_FILE).read_text())["pid"] == os.getpid()


def test_a_check_writes_nothing_and_a_missing_folder_is_named(tmp_path):
    acquire(str(tmp_path), os.getpid(), write=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RecordError, match="taco_results_dir"):
        acquire(str(tmp_path / "absent"), os.getpid())


def test_the_newest_folder_with_the_same_fingerprint_is_continued_and_one_that_cannot_be_read_is_named(tmp_path):
    wanted = series.fingerprint({"arms": ["tcp", "taco"]})
    for name, text in (
        ("20260101-a", {"fingerprint": wanted}),
        ("20260102-b", {"fingerprint": wanted}),
        ("20260103-c", {"fingerprint": "another"}),
        ("20260104-d", []),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / COMPARISON.file).write_text(json.dumps(text))
    (tmp_path / "20260105-run").mkdir()
    (tmp_path / "latest").symlink_to("20260103-c")

    def content(folder):
        return series.load(os.path.join(folder, COMPARISON.file), "a plan")

    warnings = []
    found = series.newest(COMPARISON, str(tmp_path), wanted, content, warnings.append)
    assert found == (str(tmp_path / "20260102-b"), {"fingerprint": wanted})
    (warning,) = warnings
    assert str(tmp_path / "20260104-d") in warning and "compare_fresh: true" in warning
    assert series.newest(COMPARISON, str(tmp_path / "absent"), wanted, content, pytest.fail) is None


@pytest.mark.parametrize("write", [True, False])
def test_only_a_play_that_writes_makes_the_folder_and_the_link_to_it(tmp_path, write):
    folder = tmp_path / "20260101-a"
    series.enter(SEARCH, str(folder), write)
    assert folder.exists() == write and (tmp_path / "latest").is_symlink() == write

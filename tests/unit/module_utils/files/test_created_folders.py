# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Folders that a run creates are recorded before, so that the host is as it was after a kill anywhere and a rollback."""

import fcntl
import os
import shutil

import pytest
from killed_steps import killed_before, tree

from ansible_collections.taco.train.plugins.module_utils._files import atomic, created_folders
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import (
    RECORD,
    CreatedFolders,
    FoldersError,
)
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import removable, remove

STATE = "/var/lib/taco-train"
TOOLS = "/usr/local/tfabric/tools/config"


STEPS = [(created_folders, "replace_file"), (created_folders, "sync_folder"), (atomic, "sync_folder")]


def missing_all(root):
    (root / "var/lib").mkdir(parents=True)
    (root / "usr/local").mkdir(parents=True)


def missing_parents(root):
    (root / "var").mkdir()


def missing_everything(root):
    (root / "usr").mkdir()


def there_before(root):
    missing_all(root)
    (root / "var/lib/taco-train").mkdir(mode=0o700)
    (root / "usr/local/tfabric").mkdir()


HOSTS = {
    "nothing": missing_all,
    "no parents": missing_parents,
    "no folder": missing_everything,
    "a state folder of the host": there_before,
}


@pytest.fixture(params=HOSTS)
def host(request, tmp_path):
    HOSTS[request.param](tmp_path)
    return tmp_path


def work(root):
    folders = CreatedFolders(STATE, str(root))
    folders.make(TOOLS)
    folders.make("/var/opt/beside")
    folders.make(STATE + "/ssh", 0o700)
    folders.record([STATE + "/horovod"])
    os.makedirs(str(root) + STATE + "/horovod")


def test_a_run_and_a_rollback_leave_the_host_as_it_was(host):
    before = tree(host)
    for _ in range(2):
        shutil.rmtree(str(host) + STATE + "/horovod", ignore_errors=True)
        work(host)
    folders = CreatedFolders(STATE, str(host))
    foretold = removable(folders)
    assert TOOLS in foretold
    assert remove(folders) == foretold
    assert tree(host) == before
    assert remove(folders) == [] == removable(folders)


@pytest.mark.parametrize("again", [True, False], ids=["run again", "rolled back at once"])
def test_killed_at_any_step_of_a_run(host, monkeypatch, again):
    before = tree(host)
    number, reached = 0, True
    while reached:
        number += 1
        shutil.rmtree(str(host) + STATE + "/horovod", ignore_errors=True)
        reached = killed_before(number, lambda: work(host), monkeypatch, STEPS)
        if again:
            shutil.rmtree(str(host) + STATE + "/horovod", ignore_errors=True)
            work(host)
        remove(CreatedFolders(STATE, str(host)))
        assert tree(host) == before, number
    assert number > 10


@pytest.mark.parametrize("again", [True, False], ids=["run again", "rolled back again"])
def test_killed_at_any_step_of_a_rollback(host, monkeypatch, again):
    before = tree(host)
    number, reached = 0, True
    while reached:
        number += 1
        work(host)
        reached = killed_before(number, lambda: remove(CreatedFolders(STATE, str(host))), monkeypatch, STEPS)
        if again:
            shutil.rmtree(str(host) + STATE + "/horovod", ignore_errors=True)
            work(host)
        remove(CreatedFolders(STATE, str(host)))
        assert tree(host) == before, number
    assert number > 4


def test_a_folder_with_files_of_others_stays(tmp_path):
    missing_all(tmp_path)
    work(tmp_path)
    theirs = tmp_path / "usr/local/tfabric/theirs"
    theirs.write_text("")
    kept = tmp_path / "var/lib/taco-train/notes"
    kept.write_text("")
    folders = CreatedFolders(STATE, str(tmp_path))
    remove(folders)
    assert theirs.exists() and kept.exists() and not (tmp_path / "usr/local/tfabric/tools").exists()
    kept.unlink()
    remove(folders)
    assert not (tmp_path / "var/lib/taco-train").exists() and theirs.exists()


def test_a_link_to_a_folder_is_the_hosts(tmp_path):
    missing_all(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "usr/local/tfabric").symlink_to(tmp_path / "data")
    before = tree(tmp_path)
    work(tmp_path)
    remove(CreatedFolders(STATE, str(tmp_path)))
    assert tree(tmp_path) == before


def test_a_damaged_record_is_named_and_nothing_is_removed(tmp_path):
    missing_all(tmp_path)
    work(tmp_path)
    record = tmp_path / "var/lib/taco-train" / RECORD
    for text in (
        "",
        "[]",
        '{"version": 2, "created": [1]}',
        '{"version": 9, "created": []}',
        '{"version": 2, "created": [], "subjects": {"x": []}}',
    ):
        record.write_text(text)
        before = tree(tmp_path)
        with pytest.raises(FoldersError, match=str(record)):
            remove(CreatedFolders(STATE, str(tmp_path)))
        assert tree(tmp_path) == before


def test_who_holds_a_folder_is_waited_for(tmp_path):
    descriptor = os.open(str(tmp_path), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(FoldersError, match="another run has been at work"), created_folders.held(
        str(tmp_path), 0.2, "at work"
    ):
        raise AssertionError("not reached")
    os.close(descriptor)
    with created_folders.held(str(tmp_path), 0.2, "at work"):
        pass


def test_what_a_kill_left_beside_a_file_goes_with_the_next_write_and_what_is_being_written_stays(tmp_path):
    path = tmp_path / "grub"
    left, busy, other = (tmp_path / name for name in (".grub.123.tmp", ".grub.124.tmp", ".grub.cfg.125.tmp"))
    for one in (left, busy, other):
        one.write_text("")
    with busy.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        atomic.replace_file(str(path), b"new")
        assert not left.exists() and busy.exists() and other.exists() and path.read_text() == "new"
    atomic.remove_file(str(path))
    assert sorted(tmp_path.iterdir()) == [other]

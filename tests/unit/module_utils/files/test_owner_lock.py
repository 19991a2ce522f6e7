# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One playbook has the lock of a host; nothing is left of it but what others put into the state folder."""

import os
import shutil

import pytest

from ansible_collections.taco.train.plugins.module_utils._files import created_folders
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import (
    CreatedFolders,
    FoldersError,
    held,
)
from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import acquire, lock_path, owner_of, release
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import remove

OWN = {"controller": "ci-1", "pid": 7, "started": "90", "user": "bob", "since": "2026-11-25T15:00:00Z"}
OTHER = {"controller": "ci-2", "pid": 7, "started": "90", "user": "alice", "since": "2026-11-25T14:00:00Z"}


@pytest.fixture
def state_dir(tmp_path):
    return str(tmp_path / "lib/taco-train")


def test_the_second_owner_is_told_the_first_and_writes_nothing(state_dir):
    assert acquire(state_dir, OTHER) is None
    assert acquire(state_dir, OWN) == OTHER and acquire(state_dir, OWN, dict(OTHER, pid=8)) == OTHER
    release(state_dir, OWN)
    assert owner_of(state_dir) == OTHER
    assert acquire(state_dir, OWN, OTHER) is None and acquire(state_dir, OTHER) == OWN


def test_the_same_playbook_takes_and_releases_it_at_any_time(state_dir, tmp_path):
    for since in ("a", "b"):
        assert acquire(state_dir, dict(OWN, since=since)) is None
    release(state_dir, OWN)
    release(state_dir, OWN)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_the_roles_stay(state_dir, tmp_path):
    acquire(state_dir, OWN)
    CreatedFolders(state_dir).make(str(tmp_path / "harp"))
    release(state_dir, OWN)
    assert (tmp_path / "harp").is_dir() and CreatedFolders(state_dir).load()
    acquire(state_dir, OWN)
    remove(CreatedFolders(state_dir))
    release(state_dir, OWN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "\xff", "[" * 100000])
def test_a_file_that_names_no_owner_is_no_lock(state_dir, text):
    acquire(state_dir, OTHER)
    with open(lock_path(state_dir), "w", encoding="latin-1") as stream:
        stream.write(text)
    assert acquire(state_dir, OWN) is None and owner_of(state_dir) == OWN


def while_waiting(monkeypatch, folder, change):
    """Hold the lock of a folder until somebody waits for it; then change something and give it back."""
    holder = held(str(folder), 1, "testing")
    holder.__enter__()
    waits = []

    def sleep(_seconds):
        if not waits:
            change()
            holder.__exit__(None, None, None)
        waits.append(folder)

    monkeypatch.setattr(created_folders.time, "sleep", sleep)
    return waits


def test_the_lock_of_a_folder_that_was_removed_meanwhile_is_that_of_the_new_one(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    folder.mkdir()

    def replace():
        folder.rename(tmp_path / "old")
        folder.mkdir()

    while_waiting(monkeypatch, folder, replace)
    with held(str(folder), 1, "testing"):
        with pytest.raises(FoldersError, match="another run has been testing"), held(str(folder), -1, "testing"):
            pass


def test_the_lock_is_taken_when_its_folder_was_removed_meanwhile(state_dir, tmp_path, monkeypatch):
    CreatedFolders(state_dir).make_state_dir()
    waits = while_waiting(monkeypatch, state_dir, lambda: shutil.rmtree(str(tmp_path / "lib")))
    assert acquire(state_dir, OWN) is None and owner_of(state_dir) == OWN and waits


def test_the_folder_of_the_lock_is_not_removed_while_another_playbook_creates_one(state_dir, tmp_path, monkeypatch):
    acquire(state_dir, OWN)
    waits = while_waiting(monkeypatch, tmp_path, lambda: None)
    release(state_dir, OWN)
    assert waits and os.listdir(str(tmp_path)) == []

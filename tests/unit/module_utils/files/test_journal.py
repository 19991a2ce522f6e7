# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of a host is kept or undone as a whole, killed anywhere, and is put back with all that belongs to files and folders."""

import errno
import json
import os
import re
from types import SimpleNamespace

import pytest
from killed_steps import killed_before, tree

from ansible_collections.taco.train.plugins.module_utils._files import atomic
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import remove

STATE = "/var/lib/taco-train"


def never_newer(_before, _now):
    return None


class Host:
    """A host with a file, a link that a program replaces by a file, and a folder of drop-ins that is missing."""

    def __init__(self, root):
        self.root = root
        for folder in ("etc", "var/lib"):
            (root / folder).mkdir(parents=True)
        (root / "etc/grub").write_text("old\n")
        (root / "etc/grub").chmod(0o640)
        (root / "etc/target").write_text("old target\n")
        (root / "etc/link").symlink_to("target")
        for name in ("etc/grub", "etc/target", "etc"):
            os.utime(str(root / name), (1000, 1000))
        self.before = self.state()

    def state(self):
        """Return every file and folder, and their times in etc."""
        etc = [self.root / "etc", *(self.root / "etc").rglob("*")]
        return tree(self.root), {str(path): path.stat().st_mtime_ns for path in etc}

    def journal(self):
        return Journal("hugepages", CreatedFolders(STATE, str(self.root)))

    def change(self, text="new\n", fails=False):
        journal = self.journal()
        with journal.folders.locked():
            if journal.unfinished():
                assert journal.recover(never_newer) == []
            journal.folders.record(["/etc/grub.d"])
            planned = {"/etc/grub": text.encode(), "/etc/grub.d/ours": b"x\n", "/etc/none": None}
            journal.begin(planned, ["hugepages=4"], outputs=["/etc/link"])
            atomic.replace_file(str(self.root / "etc/grub"), text.encode())
            if not (self.root / "etc/grub.d").exists():
                os.mkdir(str(self.root / "etc/grub.d"))
            atomic.replace_file(str(self.root / "etc/grub.d/ours"), b"x\n")
            os.unlink(str(self.root / "etc/link"))
            (self.root / "etc/link").write_text("generated " + text)
            if fails:
                assert journal.undo() == []
            else:
                journal.commit()

    def restore(self):
        journal = self.journal()
        with journal.folders.locked():
            if journal.unfinished():
                assert journal.recover(never_newer) == []
            assert journal.put_back(journal.paths()) == []
            if journal.paths():
                journal.forget()
        remove(journal.folders)


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_two_changes_are_restored_with_links_modes_and_the_times_of_files_and_folders(host):
    host.change()
    host.change("newer\n")
    assert host.journal().paths() == ["/etc/grub", "/etc/grub.d/ours", "/etc/link"]
    assert host.journal().original("/etc/grub") == b"old\n"
    assert host.journal().arguments_in(["ro", "hugepages=4"]) == ["hugepages=4"]
    host.restore()
    assert host.state() == host.before


def test_a_change_that_failed_leaves_the_files_and_the_times_of_their_folders_as_they_were(host):
    host.change(fails=True)
    assert host.state()[1] == host.before[1] and host.journal().empty()
    remove(host.journal().folders)
    assert host.state() == host.before


WAYS = {
    "change": lambda host: host.change(),
    "change that fails": lambda host: host.change(fails=True),
    "restore": lambda host: host.restore(),
}


@pytest.mark.parametrize("way", WAYS)
def test_killed_at_any_step_the_host_is_restored_at_once_or_after_another_change(host, monkeypatch, way):
    number, reached = 0, True
    while reached:
        number += 1
        if way == "restore":
            host.change()
        reached = killed_before(number, lambda: WAYS[way](host), monkeypatch)
        if number % 2:
            host.change("other\n")
        host.restore()
        assert host.state() == host.before, number
    assert number > 30


def begun(host):
    journal = host.journal()
    journal.folders.make_state_dir()
    journal.begin({"/etc/grub": b"new\n"}, ["hugepages=4"], outputs=["/etc/target"])
    (host.root / "etc/target").write_text("half")
    return journal


def test_an_edit_since_an_unfinished_change_stays_and_is_known_as_one(host):
    begun(host)
    (host.root / "etc/grub").write_text("of the administrator\n")
    journal = host.journal()
    assert journal.recover(never_newer) == [] and not journal.unfinished()
    assert (host.root / "etc/grub").read_text() == "of the administrator\n"
    assert (host.root / "etc/target").read_text() == "old target\n"
    assert journal.paths() == ["/etc/grub"] and journal.edited("/etc/grub")


def test_a_newer_output_is_named_with_its_copy_and_stays_once_the_copy_is_removed(host):
    begun(host)
    (problem,) = host.journal().recover(lambda before, now: before.decode() + now.decode())
    copy = problem.rpartition(" is in ")[2]
    with open(copy) as file:
        assert "old target\nhalf" in problem and file.read() == "old target\n"
    os.unlink(copy)
    assert host.journal().recover(lambda before, now: "newer") == []
    assert (host.root / "etc/target").read_text() == "half"


def test_a_damaged_copy_is_named_and_not_used(host):
    host.change()
    journal = host.journal()
    with open(journal.copy_of(journal.entry("/etc/grub")["original"]), "w") as file:
        file.write("short")
    (problem,) = journal.put_back(["/etc/grub"])
    assert re.search("originals/[0-9a-f]{64} is damaged", problem)
    assert (host.root / "etc/grub").read_text() == "new\n"


def test_a_write_that_fails_leaves_the_times_of_the_folder(host, monkeypatch):
    def fails(*_arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "rename", fails)
        atomic.replace_file(str(host.root / "etc/grub"), b"new\n")
    assert host.state() == host.before


def test_files_of_others_below_the_state_folder_stay(host):
    theirs = host.root / "var/lib/taco-train/originals/notes"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    host.change()
    host.restore()
    assert theirs.read_text() == "theirs" and os.listdir(str(theirs.parent)) == ["notes"]
    assert os.listdir(str(theirs.parent.parent)) == ["originals"]


def test_a_generated_file_stays_a_link_with_its_mode(host):
    journal = host.journal()
    journal.folders.make_state_dir()
    (host.root / "etc/target").chmod(0o600)
    journal.begin({}, outputs=["/etc/link"])
    os.unlink(str(host.root / "etc/link"))
    (host.root / "etc/link").write_text("generated\n")
    journal.keep_all_but_content("/etc/link")
    assert os.readlink(str(host.root / "etc/link")) == "target"
    target = host.root / "etc/target"
    assert target.read_text() == "generated\n" and target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["full", "read-only"])
def test_a_state_folder_that_cannot_be_created_is_named_with_the_way_out(host, monkeypatch, name):
    def read_only(*_arguments):
        raise OSError(errno.EROFS, "Read-only file system", "temporary")

    with monkeypatch.context() as patch, pytest.raises(atomic.FileError) as error:
        if name == "full":
            patch.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_bavail=0, f_frsize=4096))
        else:
            patch.setattr(os, "makedirs", read_only)
        host.change()
    expected = {"full": "/var/lib: 0 bytes are free", "read-only": "/var/lib/taco-train can't be changed: Read-only"}
    assert str(host.root) + expected[name] in str(error.value) and "tmp" not in str(error.value).replace(
        str(host.root), ""
    )
    assert host.state() == host.before


PART = {"files": {"/etc/grub": {"original": None}}, "arguments": [], "times": {}}
INDEX = {"version": 2, "created": [], "subjects": {"hugepages": PART}}
FORMER = {"version": 1, "files": {"/etc/grub": {"original": None}}, "arguments": []}
UNREADABLE = {
    "cut off": ("journal.json", '{"version":'),
    "nested": ("journal.json", "[" * 100000),
    "a newer version": ("journal.json", json.dumps(dict(INDEX, version=3))),
    "a text as a subject": ("journal.json", json.dumps(dict(INDEX, subjects={"harp": "x"}))),
    "a subject without files": ("journal.json", json.dumps(dict(INDEX, subjects={"harp": {}}))),
    "a list of files": ("journal.json", json.dumps(dict(INDEX, subjects={"hugepages": dict(PART, files=[])}))),
    "a file without content": ("journal.json", json.dumps(dict(INDEX, subjects={"harp": {"files": {"/a": {}}}}))),
    "a history of another version": ("hugepages/manifest.json", json.dumps(dict(FORMER, version=2))),
    "a list of files in a history": ("hugepages/manifest.json", json.dumps(dict(FORMER, files=[]))),
    "a file without content in a history": ("hugepages/manifest.json", json.dumps(dict(FORMER, files={"/a": {}}))),
    "a change without its files": ("hugepages-change/marker.json", json.dumps({"files": {"/etc/grub": {}}})),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_journal_that_cannot_be_read_is_named_and_nothing_is_written(host, name):
    path, content = UNREADABLE[name]
    file = host.root / STATE.lstrip("/") / path
    file.parent.mkdir(parents=True)
    file.write_text(content)
    before = tree(host.root)
    with pytest.raises((atomic.FileError, FoldersError)) as error:
        host.change()
    assert f"{file} can't be read" in str(error.value) and "move it away" in str(error.value)
    assert tree(host.root) == before


def test_files_of_others_behind_a_link_in_place_of_the_copies_stay(host):
    state, theirs = host.root / "var/lib/taco-train", host.root / "blobs" / ("a" * 64)
    state.mkdir()
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    (state / "originals").symlink_to(theirs.parent)
    with pytest.raises(FoldersError, match="originals/ is a link: expected a folder"):
        host.change()
    assert theirs.read_text() == "theirs" and (host.root / "etc/grub").read_text() == "old\n"

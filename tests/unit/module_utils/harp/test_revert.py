# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HARP's configuration is reverted: the host is as it was before, and edits of others stay."""

import os

import pytest
from harp_host import HarpHost, rendered

from ansible_collections.taco.train.plugins.module_utils._files import journal
from ansible_collections.taco.train.plugins.module_utils._harp import configuration
from ansible_collections.taco.train.plugins.module_utils._process.running_work import Work

SETUP = 'for n in 0 1; do echo "new $n" > "$FOLDER/ztcp$n.conf"; done\necho setup successfully\n'
RENDERED = rendered("rendered 0\n", "rendered 1\n")


class EditedHost(HarpHost):
    def __init__(self, root):
        super().__init__(root)
        # One file that the script overwrites, and one of another owner.
        (self.config / "ztcp0.conf").write_text("old 0\n")
        (self.config / "ztcp0.conf").chmod(0o640)
        os.utime(str(self.config / "ztcp0.conf"), (1000, 1000))
        (self.config / "ztcp9.conf").write_text("somebody's\n")
        self.before = self.tree()

    def setup(self, text=SETUP, **options):
        return self(**dict(self.script(text), **options))

    def tree(self):
        """Return every file and folder with its content, mode and time."""
        found = {}
        for folder in (self.config, self.state):
            for path in sorted(folder.rglob("*")):
                status = path.stat()
                content = path.read_bytes() if path.is_file() else None
                found[str(path)] = (content, status.st_mode, status.st_mtime if path.is_file() else None)
        return found


@pytest.fixture
def host(tmp_path):
    return EditedHost(tmp_path)


WAYS = {
    "script": lambda host: host.setup(),
    "template": lambda host: host(source="template", rendered=RENDERED, force=True),
    "script and then template": lambda host: [host.setup(), host(source="template", rendered=RENDERED, force=True)][-1],
    "failed script": lambda host: host.setup(SETUP + "exit 3\n"),
    "template twice": lambda host: [host(source="template", rendered=RENDERED, force=True) for _ in range(2)][0],
}


@pytest.mark.parametrize("way", WAYS)
def test_afterwards_the_host_is_as_it_was(host, way):
    WAYS[way](host)
    between = host.tree()
    assert between != host.before
    predicted = host(check=True, state="absent")
    assert predicted["changed"] and host.tree() == between
    done = host(state="absent")
    assert done["changed"] and host.tree() == host.before
    assert done["diff"] == predicted["diff"]
    assert [os.path.basename(entry["path"]) for entry in done["files"]] == ["ztcp0.conf", "ztcp9.conf"]
    again = host(state="absent")
    assert not again["changed"] and host.tree() == host.before


def test_the_difference_is_shown(host):
    host.setup()
    diff = {one["before_header"]: one for one in host(check=True, state="absent")["diff"]}
    first, second = (diff[str(host.config / f"ztcp{number}.conf")] for number in range(2))
    assert (first["before"], first["after"]) == ("new 0\n", "old 0\n")
    assert (second["before"], second["after"]) == ("new 1\n", "")
    assert second["after_header"].endswith("ztcp1.conf (absent)")


def test_where_nothing_was_done_nothing_is_taken_back(host):
    assert not host(state="absent")["changed"]
    assert host.tree() == host.before


@pytest.mark.parametrize(("name", "edit"), [("ztcp1.conf", "edited"), ("ztcp0.conf", None)])
def test_what_somebody_edited_since_is_shown_and_nothing_is_taken_back(host, name, edit):
    host.setup()
    path = host.config / name
    path.unlink()
    if edit:
        path.write_text(edit + "\n")
    between = host.tree()
    refused = host(state="absent")
    assert refused["failed"] and "force: true (harp_force)" in refused["msg"] and str(path) in refused["msg"]
    assert (f"+{edit}" if edit else "is gone") in refused["msg"]
    assert host.tree() == between
    assert host(state="absent", force=True)["changed"]
    assert host.tree() == host.before


def test_a_file_that_the_script_left_alone_stays_what_its_owner_makes_of_it(host):
    host.setup()
    (host.config / "ztcp9.conf").write_text("somebody's, newer\n")
    assert not host(state="absent").get("failed")
    assert (host.config / "ztcp9.conf").read_text() == "somebody's, newer\n"


def test_killed_in_between_it_goes_on(host, monkeypatch):
    host.setup()
    restore = journal.restore

    def second_fails(path, *arguments):
        if path.endswith("ztcp1.conf"):
            raise OSError("no more")
        restore(path, *arguments)

    monkeypatch.setattr(journal, "restore", second_fails)
    assert host(state="absent")["failed"]
    monkeypatch.undo()
    assert host(state="absent")["changed"]
    assert host.tree() == host.before


def test_files_that_cannot_be_restored_are_named_and_the_others_are_restored(host, monkeypatch):
    host.setup()
    restore = journal.restore

    def first_fails(path, *arguments):
        if path.endswith("ztcp0.conf"):
            raise OSError(28, "No space left on device", path)
        restore(path, *arguments)

    monkeypatch.setattr(journal, "restore", first_fails)
    failed = host(state="absent")
    assert failed["failed"]
    for words in (
        f"{host.config / 'ztcp0.conf'} is damaged or changed (No space left on device)",
        f"its content of before is in {host.state / 'originals'}",
    ):
        assert words in failed["msg"], failed["msg"]
    # After it in the order.
    assert not (host.config / "ztcp1.conf").exists()
    monkeypatch.undo()
    assert host(state="absent")["changed"]
    assert host.tree() == host.before


CHANGES = {
    "script": lambda host, **options: host.setup(**options),
    "template": lambda host, **options: host(source="template", rendered=RENDERED, force=True, **options),
    "absent": lambda host, **options: host(state="absent", **options),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_under_running_work_is_refused_with_the_processes_and_nothing_changes(host, monkeypatch, change):
    if change == "absent":
        host.setup()
    calls = []

    def works(options):
        calls.append(options)
        return [Work(4711, "alice", "python3 train.py", "GPU GPU-1"), Work(920, "root", "mpirun", "container box")]

    monkeypatch.setattr(configuration, "running_work", works)
    before = {path: kept for path, kept in host.tree().items() if path.startswith(str(host.config))}
    refused = CHANGES[change](host, container="box")
    assert refused["failed"]
    for words in (
        "python3 train.py (pid 4711, user alice, GPU GPU-1)",
        "container box",
        "taco_interrupt_running_work: true",
    ):
        assert words in refused["msg"], refused["msg"]
    predicted = CHANGES[change](host, container="box", check=True)
    assert predicted["changed"] and "(pid 4711" in host.warnings.pop()
    assert before == {path: kept for path, kept in host.tree().items() if path.startswith(str(host.config))}
    assert {(one["gpus"], one["container"]) for one in calls} == {(True, "box")}
    done = CHANGES[change](host, interrupt_running_work=True)
    assert done["changed"] and "(pid 4711" in host.warnings.pop()
    # Running work is not searched on a host without a change.
    calls.clear()
    assert not CHANGES[change](host).get("failed") and calls == []

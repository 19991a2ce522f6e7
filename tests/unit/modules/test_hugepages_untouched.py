# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts that the module never changed, which absent and restored leave as they are; and hosts whose history is gone."""

import os
import shutil
import subprocess

import pytest
from bls_host import lay_out
from boot_host import DROP_IN, LINE, boot_files, contents, tree
from fake_grubby import FakeGrubby
from killed_steps import killed_before

from ansible_collections.taco.train.plugins.module_utils._files import journal
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders
from ansible_collections.taco.train.plugins.modules import hugepages


def entries_edited(root):
    """What grubby of EL7, or an editor, does."""
    for path in (root / "boot/grub/grub.cfg", root / "boot/grub2/grub.cfg"):
        if path.exists():
            path.write_text(
                path.read_text().replace(" ro ", " ro rd.driver.blacklist=nouveau hugepagesz=1G hugepages=7 ")
            )


def not_activated(root):
    path = root / "etc/default/grub"
    path.write_text(path.read_text().replace("net.ifnames=0", "net.ifnames=0 mitigations=off"))


def not_activated_pages(root):
    path = root / "etc/default/grub"
    path.write_text(path.read_text().replace("net.ifnames=0", "net.ifnames=0 " + LINE.format(7)))


def without_defaults(root):
    (root / "etc/default/grub").unlink()


def without_entries(root):
    for name in ("boot/grub/grub.cfg", "boot/grub2/grub.cfg"):
        if (root / name).exists():
            (root / name).unlink()


def by_grubby(year):
    def edit(root):
        FakeGrubby(root, year).update_all(args="rd.driver.blacklist=nouveau hugepagesz=1G hugepages=7")

    return edit


def nothing(_root):
    pass


CASES = [
    (layout, edit)
    for layout in ("host", "el7")
    for edit in (nothing, entries_edited, not_activated, not_activated_pages, without_defaults, without_entries)
] + [
    (layout, edit)
    for layout in ("EL8", "EL9")
    for edit in (nothing, by_grubby("2018"), by_grubby("current"), not_activated, not_activated_pages)
]


@pytest.fixture
def lay(request, tmp_path):
    """Return a function that lays out a host of one layout."""

    def layer(layout):
        if layout == "EL9-bare":
            root = lay_out(tmp_path / "root", "EL9")
            without_defaults(root)
            return root
        return lay_out(tmp_path / "root", layout) if layout in ("EL8", "EL9") else request.getfixturevalue(layout)

    return layer


@pytest.fixture
def reverted(run):
    return lambda root, check=False, **options: run(hugepages.main, check=check, sysroot=str(root), **options)


@pytest.mark.parametrize("layout, edit", CASES, ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("state", ["absent", "restored"])
def test_a_host_that_was_never_changed_stays_as_it_is(lay, reverted, layout, edit, state):
    root = lay(layout)
    edit(root)
    before = boot_files(root)
    for check in (True, False):
        done = reverted(root, check=check, state=state)
        assert not done.get("failed") and not done["changed"] and done["diff"] == [] and done["files"] == []
        assert boot_files(root) == before


@pytest.mark.parametrize("options", [{"state": "absent"}, {"count": 6}])
def test_a_change_that_fails_is_undone_and_the_next_one_works(pages, el7, options):
    original = contents(el7)
    pages(count=4)
    before = contents(el7)
    (el7 / "broken").touch()
    refused = pages(**options)
    assert refused["failed"] and "ended with 9" in refused["msg"] and "as they were" in refused["msg"]
    (el7 / "broken").unlink()
    assert contents(el7) == before
    assert pages(**options)["changed"] and ("hugepages=" in config_of(el7)) == ("count" in options)
    pages(state="restored")
    assert contents(el7) == original


def config_of(root):
    return (root / "boot/grub2/grub.cfg").read_text()


@pytest.mark.parametrize("state", ["absent", "restored"])
def test_the_diff_shows_what_the_entries_gain_and_lose(pages, el7, state):
    pages(count=4)
    predicted = pages(check=True, state=state)
    done = pages(state=state)
    assert predicted["diff"] == done["diff"] and predicted["files"] == done["files"]
    words = next(one for one in done["diff"] if one["before_header"].startswith("/boot/grub2/grub.cfg"))
    assert LINE.format(4) in words["before"] and "hugepages" not in words["after"]
    assert words["after"].split()[-1] == config_of(el7).splitlines()[1].split()[-1] or words["after"] == config_of(el7)


def test_what_is_not_activated_yet_is_not_activated_beside_the_pages(pages, el7):
    not_activated(el7)
    before = contents(el7)
    refused = pages(count=4)
    assert (
        refused["failed"] and "adds mitigations=off of /vmlinuz-3.10" in refused["msg"] and "yourself" in refused["msg"]
    )
    assert contents(el7) == before


# Of the layouts of these tests only EL8 and EL9 can boot an entry once.
@pytest.mark.parametrize(
    "layout, lost",
    [(layout, lost) for layout in ("host", "el7", "EL9", "EL9-bare") for lost in ("removed", "moved")]
    + [("EL9", "trial")],
)
@pytest.mark.parametrize("state", ["absent", "restored"])
def test_pages_without_a_history_are_an_error_that_says_how_to_remove_them(lay, reverted, layout, state, lost):
    root = lay(layout)
    reverted(root, count=4, trial=lost == "trial")
    if lost == "moved":
        options = {"state_dir": "/var/lib/another"}
    else:
        shutil.rmtree(str(root / "var/lib/taco-train"))
        options = {}
    before = boot_files(root)
    for check in (True, False):
        refused = reverted(root, check=check, state=state, **options)
        assert refused["failed"] and "taco_state_dir" in refused["msg"]
        assert boot_files(root) == before
    named = {"host": "rm /" + DROP_IN, "el7": "/etc/default/grub", "EL9": "/etc/default/grub"}[layout[:4].rstrip("-")]
    assert ("custom.cfg" if lost == "trial" else named) in refused["msg"]
    if lost == "moved":
        assert not reverted(root, count=4, **options)["changed"]
        refused = reverted(root, count=6, **options)
        assert refused["failed"] and "taco_state_dir" in refused["msg"]
        assert not reverted(root, state=state).get("failed")
        assert not reverted(root, state=state)["changed"]


def test_the_drop_in_is_removed_as_the_error_says(reverted, host):
    reverted(host, count=4)
    shutil.rmtree(str(host / "var/lib/taco-train"))
    assert reverted(host, state="restored")["failed"]
    (host / DROP_IN).unlink()
    subprocess.run([str(host / "usr/sbin/update-grub")], check=True)
    for state in ("restored", "absent"):
        assert not reverted(host, state=state)["changed"]
    assert reverted(host, count=6)["changed"]


def folders(root):
    """Return the folders of a host, without those of the journal."""
    return {path for path in tree(root / "etc") if os.path.isdir(path)}


@pytest.mark.parametrize("layout, missing", [("host", "grub.d"), ("host", ""), ("EL9-bare", "")])
@pytest.mark.parametrize("way_back", ["absent", "restored", "a change that fails"])
def test_each_folder_that_was_made_for_a_file_goes_with_it(lay, reverted, monkeypatch, layout, missing, way_back):
    root = lay(layout)
    shutil.rmtree(str(root / "etc/default" / missing))
    if layout == "host":
        subprocess.run([str(root / "usr/sbin/update-grub")], check=True)
    before = folders(root)
    if way_back == "a change that fails":
        monkeypatch.setattr(journal.Journal, "commit", raised)
        assert "as they were" in reverted(root, count=4)["msg"]
    else:
        assert reverted(root, count=4)["changed"] and folders(root) > before
        assert reverted(root, state=way_back)["changed"]
    assert folders(root) == before


def raised(*_arguments):
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("made_since", [False, True], ids=["no /var", "/var made since"])
@pytest.mark.parametrize("options", [{"state": "absent"}, {"count": 4}], ids=str)
def test_what_a_kill_left_of_the_state_folder_goes_with_the_next_run(reverted, host, monkeypatch, options, made_since):
    number, reached, names = 0, True, set(os.listdir(str(host)))
    while reached:
        number += 1
        reached = killed_before(number, CreatedFolders("/var/lib/taco-train", str(host)).make_state_dir, monkeypatch)
        if made_since:
            (host / "var").mkdir(exist_ok=True)
        assert not reverted(host, **options).get("failed")
        assert set(os.listdir(str(host))) - {"var"} == names, number
        reverted(host, state="restored")
        shutil.rmtree(str(host / "var"), ignore_errors=True)
    assert number > 8

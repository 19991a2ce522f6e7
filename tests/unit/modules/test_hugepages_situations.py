# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on hosts that boot in all kinds of ways: what boots has the pages, or nothing was written; restored, all is as before."""

import os

import pytest
from boot_refusals import REFUSED
from boot_roots import GIB, boot_line, entries_host, generate, kernel_pages, menu_host, put, state
from boot_situations import EL, HANDLED, links, stub, then

from ansible_collections.taco.train.plugins.modules import hugepages


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


@pytest.fixture
def pages(run, root):
    return lambda check=False, **options: run(hugepages.main, check=check, sysroot=str(root), **options)


@pytest.mark.parametrize("name", HANDLED)
def test_what_boots_has_the_pages_and_restored_everything_is_as_it_was(pages, root, name):
    lay, layout, config = HANDLED[name]
    lay(root)
    before = state(root)
    line = boot_line(root, config)
    predicted = pages(check=True, count=4)
    assert state(root) == before
    done = pages(count=4)
    assert done.get("layout") == layout and done["changed"] and predicted["files"] == done["files"], done
    assert predicted["diff"] == done["diff"]
    assert kernel_pages(boot_line(root, config)) == {GIB: 4}
    added = set(boot_line(root, config).split()) - set(line.split())
    assert all("hugepages" in word for word in added - {"root=UUID=0a1b"})
    changed = {"/" + path for path, what in state(root).items() if what[3] and what != before.get(path)}
    assert changed <= {os.path.realpath(str(root) + path).replace(str(root), "") for path in done["files"]} | {
        "/boot/grub2/grubenv"
    }
    assert not pages(count=4)["changed"]
    assert pages(state="restored")["changed"]
    assert state(root) == before
    assert not pages(state="restored")["changed"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused_before_anything_is_written(pages, root, name):
    lay, words = REFUSED[name]
    lay(root)
    before = state(root)
    for check in (True, False):
        refused = pages(check=check, count=4)
        assert refused.get("failed") and words in refused["msg"] and "as they were" not in refused["msg"], refused
        assert str(root) not in refused["msg"] and "Errno" not in refused["msg"]
        assert state(root) == before
    for then_state in ("absent", "restored"):
        assert "layout is unknown" not in pages(state=then_state).get("msg", "")
    assert state(root) == before


def test_check_mode_says_that_it_could_not_compare_what_would_be_generated(pages, root, tmp_path, monkeypatch):
    put(tmp_path, "bin/unshare", "#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2\nexit 1\n", 0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    REFUSED["a password by hand"][0](root)
    before = state(root)
    warning = str(pages(check=True, count=4)["warnings"])
    assert "/boot/grub2/grub.cfg is not compared" in warning and "unshare failed: Operation not permitted" in warning
    assert str(tmp_path) not in warning
    assert pages(count=4)["failed"] and state(root) == before


@pytest.mark.parametrize("lay", [menu_host, links, then(menu_host, stub()), then(entries_host, stub())])
def test_a_trial_boots_once_through_the_grub_cfg_that_is_read(pages, root, lay):
    lay(root)
    before = state(root)
    done = pages(count=4, trial=True)
    assert done.get("trial") and done["files"] == ["/boot/grub2/custom.cfg", "/boot/grub2/grubenv"], done
    assert "hugepages=4" in (root / "boot/grub2/custom.cfg").read_text()
    pages(state="restored")
    assert state(root) == before


def test_a_generator_that_replaces_grub_cfg_takes_no_attribute_away(pages, root):
    menu_host(root)
    program, config = root / "usr/sbin/grub2-mkconfig", str(root / EL)
    text = program.read_text()
    program.write_text(text[: text.rindex("cat ")] + 'mv "$root$config.new" "$root$config"\n')
    os.setxattr(config, "security.selinux", b"system_u:object_r:boot_t:s0\0")
    os.chown(config, 1234, 4321)
    os.chmod(config, 0o600)
    before = state(root)
    assert pages(count=4)["changed"]
    after = state(root)
    assert (after[EL][0], after[EL][4]) == (before[EL][0], before[EL][4])
    pages(state="restored")
    assert state(root) == before


def test_a_kernel_that_was_installed_since_stays_when_the_files_are_restored(pages, root):
    menu_host(root)
    line = boot_line(root, EL)
    pages(count=4)
    put(root, "boot/vmlinuz-5.15.0", "x")
    generate(root)
    pages(count=5)
    assert pages(state="restored")["changed"]
    assert "vmlinuz-5.15.0" in (root / EL).read_text() and "hugepages" not in (root / EL).read_text()
    assert boot_line(root, EL).split()[1:] == line.split()[1:]


@pytest.mark.parametrize("path", ["etc/default/grub", EL])
def test_a_file_that_nobody_may_change_is_named_with_the_way_out(pages, root, monkeypatch, path):
    menu_host(root)
    if path == EL:
        pages(count=4)
    before = state(root)
    rename = os.rename

    def refused(source, target, **options):
        if str(target).endswith(path):
            raise PermissionError(1, "Operation not permitted", source)
        rename(source, target, **options)

    monkeypatch.setattr(os, "rename", refused)
    done = pages(**({"state": "restored"} if path == EL else {"count": 4}))
    assert done["failed"] and f"{root}/{path} can't be changed" in done["msg"] and "chattr -ia" in done["msg"]
    assert ".tmp" not in done["msg"] and "Errno" not in done["msg"]
    assert {name: what[3] for name, what in state(root).items()} == {name: what[3] for name, what in before.items()}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.layout import detect, observe_boot


def host(root, *files, folders=(), **texts):
    """Lay out a host: executable files, folders, and texts by path with __ for /."""
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    for name in folders:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def test_debian_and_ubuntu_by_update_grub(tmp_path):
    found = detect(host(tmp_path, "usr/sbin/update-grub", "usr/sbin/grub-mkconfig"))
    assert (found.layout, found.firmware) == ("grub-d", "bios")
    assert found.command == ["/usr/sbin/update-grub"] and found.config == "/boot/grub/grub.cfg"


def test_el7_on_bios(tmp_path):
    found = detect(host(tmp_path, "usr/sbin/grub2-mkconfig"))
    assert (found.layout, found.config) == ("grub-default", "/boot/grub2/grub.cfg")
    assert found.command == ["/usr/sbin/grub2-mkconfig", "-o", "/boot/grub2/grub.cfg"]


@pytest.mark.parametrize(
    "identity, folders, expected",
    [
        ('ID="centos"\n', ["centos", "BOOT"], "centos"),
        ('ID="rhel"\n', ["redhat", "centos"], "redhat"),
        ("ID=tencentos\n", ["tencentos", "centos"], "tencentos"),
        ("ID=tlinux\n", ["tencentos"], "tencentos"),
        ("ID=somethingnew\n", ["somethingnew"], "somethingnew"),
    ],
)
def test_the_right_grub_cfg_of_several_on_efi(tmp_path, identity, folders, expected):
    root = host(
        tmp_path, "usr/sbin/grub2-mkconfig", folders=["sys/firmware/efi", "boot/grub2"], etc__os_release=identity
    )
    (tmp_path / "boot/grub2/grub.cfg").write_text("")
    for name in folders:
        (tmp_path / "boot/efi/EFI" / name).mkdir(parents=True)
        if name != "BOOT":
            (tmp_path / "boot/efi/EFI" / name / "grub.cfg").write_text("")
    found = detect(root)
    assert found.layout == "grub-default" and found.firmware == "efi"
    assert found.config == f"/boot/efi/EFI/{expected}/grub.cfg"


def test_on_efi_with_nothing_to_tell_by_the_layout_is_unknown_and_says_what_is_there(tmp_path):
    root = host(tmp_path, "usr/sbin/grub2-mkconfig", folders=["sys/firmware/efi"], etc__os_release="ID=new\n")
    for name in ("one", "two"):
        (tmp_path / "boot/efi/EFI" / name).mkdir(parents=True)
        (tmp_path / "boot/efi/EFI" / name / "grub.cfg").write_text("")
    found = detect(root)
    assert found.layout == "unknown" and "one, two" in found.reason and found.command == []


@pytest.mark.parametrize(
    "text, entries, expected",
    [
        ("GRUB_ENABLE_BLSCFG=true\n", True, "bls"),
        ('GRUB_ENABLE_BLSCFG="true"\n', True, "bls"),
        ("GRUB_ENABLE_BLSCFG=false\n", True, "grub-default"),
        ("GRUB_ENABLE_BLSCFG=true\n", False, "grub-default"),
        ("#GRUB_ENABLE_BLSCFG=true\n", True, "grub-default"),
    ],
)
def test_boot_loader_specification_entries_need_the_setting_and_the_folder(tmp_path, text, entries, expected):
    folders = ["boot/loader/entries"] if entries else []
    programs = ("usr/sbin/grub2-mkconfig", "usr/sbin/grubby")
    found = detect(host(tmp_path, *programs, folders=folders, etc__default__grub=text))
    assert found.layout == expected
    if expected == "bls":
        assert found.command == []  # the entries are edited


def test_a_host_without_grub_is_unknown(tmp_path):
    assert observe_boot(str(tmp_path)) == {
        "layout": "unknown",
        "firmware": "bios",
        "reason": "there is neither update-grub nor grub2-mkconfig",
    }

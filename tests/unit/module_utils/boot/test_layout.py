# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from ansible_collections.taco.train.plugins.module_utils._boot.layout import observe_boot


def test_a_host_without_grub_is_unknown(tmp_path):
    assert observe_boot(str(tmp_path)) == {
        "layout": "unknown",
        "firmware": "bios",
        "reason": "there is neither update-grub nor grub2-mkconfig",
    }


def test_what_node_info_shows_of_a_host_names_the_file_that_decides(tmp_path):
    for name, text in (
        ("usr/sbin/grub2-mkconfig", ""),
        ("boot/grub2/grub.cfg", "blscfg\n"),
        ("boot/loader/entries/a.conf", "linux /vmlinuz\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "usr/sbin/grub2-mkconfig").chmod(0o755)
    assert observe_boot(str(tmp_path)) == {
        "layout": "bls",
        "firmware": "bios",
        "reason": "/boot/grub2/grub.cfg reads /boot/loader/entries (blscfg)",
    }

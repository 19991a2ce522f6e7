# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts with several kernels, of which the default is not the first: what only the entries hold, and what the installer put there."""

import pytest

MKCONFIG = """#!/bin/bash
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/etc/default/grub"
for file in "$root"/etc/default/grub.d/*.cfg; do [ -e "$file" ] && . "$file"; done
for kernel in 6.1 5.10; do for kind in '' single; do [ -z "$kind" ] || [ -z "$GRUB_DISABLE_RECOVERY" ] || continue
printf "menuentry 'Linux $kernel $kind' {\\n\\tlinux16\\t/boot/vmlinuz-$kernel root=/dev/vda1 ro $kind $GRUB_CMDLINE_LINUX\\n}\\n"
done; done > "$root/${2:-%s}"
"""


@pytest.fixture(params=["update-grub", "grub2-mkconfig"])
def config(request, host):
    """The generated file of a host with two kernels, on both layouts that generate it."""
    (host / "usr/sbin/update-grub").unlink()
    name = "boot/grub/grub.cfg" if request.param == "update-grub" else "boot/grub2/grub.cfg"
    path = host / name
    path.parent.mkdir(exist_ok=True)
    program = host / "usr/sbin" / request.param
    program.write_text(MKCONFIG % name)
    program.chmod(0o755)
    (host / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="net.ifnames=0"\n')
    path.write_text(
        "".join(
            f"menuentry 'By the installer {kernel}{kind}' {{\n\tlinux16\t/boot/vmlinuz-{kernel} root=/dev/vda1 ro{kind} net.ifnames=0\n}}\n"
            for kernel in ("6.1", "5.10")
            for kind in ("", " single")
        )
    )
    return path


@pytest.mark.parametrize("state", ["present", "absent", "restored"])
def test_arguments_of_an_older_kernel_are_not_dropped(config, pages, state):
    if state != "present":
        assert pages(count=4)["changed"]
    lines = config.read_text().splitlines(True)
    pinned = "".join(
        line.replace(" ro ", " ro pci=realloc ") if "5.10" in line and "single" not in line else line for line in lines
    )
    config.write_text(pinned)
    refused = pages(**({"count": 4} if state == "present" else {"state": state}))
    assert refused.get("failed") and "drops pci=realloc of /boot/vmlinuz-5.10, which nothing but" in refused["msg"], (
        refused
    )
    assert config.read_text() == pinned


def test_recovery_entries_that_are_no_longer_generated_are_no_loss(config, pages, host):
    with (host / "etc/default/grub").open("a") as stream:
        stream.write("GRUB_DISABLE_RECOVERY=true\n")
    assert pages(count=4)["changed"] and "single" not in config.read_text()


def test_the_language_that_an_installed_kernel_gets_is_no_loss(config, pages):
    """EL7 adds LANG= to the entry of each kernel that is installed; the files don't hold it."""
    for options in ({"count": 4}, {"state": "restored"}):
        config.write_text(config.read_text().replace("net.ifnames=0", "net.ifnames=0 LANG=en_US.UTF-8"))
        done = pages(**options)
        assert done.get("changed"), done
        assert "LANG" not in "".join(diff["after"] for diff in done["diff"] if "kernel line" in diff["after_header"])
    assert "hugepages" not in config.read_text()

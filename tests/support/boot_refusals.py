# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways in which hosts boot that the module hugepages refuses, each with words of its message."""

import os
import shutil
import subprocess

from boot_roots import (
    BLS_CONFIG,
    OPTIONS,
    RELEASE,
    STUB,
    efi_variable,
    entries_host,
    environment,
    generator,
    link,
    menu_host,
    put,
)
from boot_situations import EL, debian, grub, replaced, saved, stub, then


def two_ways(root):
    menu_host(root)
    put(root, "boot/old/grub.cfg", (root / EL).read_text())
    text = "set prefix=(hd0,gpt2)/grub2\nif [ -e $prefix/grub.cfg ]; then\n  configfile $prefix/grub.cfg\nelse\n"
    stub(text + "  configfile (hd0,gpt2)/old/grub.cfg\nfi\n")(root)


def boot_beneath_its_mount(root):
    menu_host(root)
    put(root, "etc/fstab", "# UUID=6 /boot/grub2 xfs\nUUID=4 / xfs defaults 0 0\nUUID=5 /boot xfs nofail 0 0\n")


def default_of_others(chosen):
    """Return a function that lays out a host where GRUB starts an entry of 40_custom by default, named in one way."""

    def lay(root):
        menu_host(root)
        title, name = ("Linux own", "") if chosen.isdigit() else ("Own", " $menuentry_id_option 'own'")
        body = f"menuentry '{title}'{name} {{\n\tlinux /vmlinuz-own root=/dev/vda2 ro\n}}\n"
        own = f"### BEGIN /etc/grub.d/06_custom ###\n{body}### END /etc/grub.d/06_custom ###\n"
        text = (root / EL).read_text().replace('default="${next_entry}"', 'default="${saved_entry}"')
        put(root, EL, own + text if chosen.isdigit() else text + own)
        put(root, "boot/grub2/grubenv", environment(saved_entry=chosen))

    return lay


def rescue_by_default(root):
    entries_host(root)
    put(
        root,
        "boot/loader/entries/ab12-0-rescue.conf",
        "title EL\nlinux /vmlinuz-0-rescue-ab\noptions " + OPTIONS + "\n",
    )
    saved("ab12-0-rescue")(root)


def link_to_nothing(root):
    menu_host(root)
    (root / "etc/default/grub").unlink()
    link(root, "etc/default/grub", "../sysconfig/grub")
    generator(root, False, "/" + EL)
    subprocess.run([str(root / "usr/sbin/grub2-mkconfig")], check=True)


def systemd_boot(root):
    debian(root)
    efi_variable(root, "LoaderInfo", "systemd-boot 252.22\0".encode("utf-16-le"))


def ostree(root):
    entries_host(root, None)
    put(root, "run/ostree-booted", "")


def several_esp(root):
    menu_host(root)
    for folder in ("one", "two"):
        stub(STUB, folder)(root)


def esp_not_mounted(root):
    entries_host(root)
    (root / "boot/efi").mkdir()
    put(root, "sys/firmware/efi/x", "")


def by_hand(root):
    menu_host(root)
    file = root / EL
    file.write_text('set superusers="root"\npassword_pbkdf2 root grub.pbkdf2.sha512.AA\n' + file.read_text())


def removed_kernel(root):
    menu_host(root)
    put(root, "boot/vmlinuz-5.13.0", "x")


def hard_link(root):
    menu_host(root)
    os.link(str(root / "etc/default/grub"), str(root / "etc/default/grub.copy"))


def sourced(root):
    put(root, "etc/tuned/bootcmdline", 'GRUB_CMDLINE_LINUX_DEFAULT="hugepagesz=1G hugepages=2"\n')
    menu_host(root, f". {root}/etc/tuned/bootcmdline\n")


LONG = "isolcpus=" + ",".join(str(number) for number in range(2, 520))
# What lays the host out, and words of the message.
REFUSED = {
    "systemd-boot": (systemd_boot, "LoaderInfo names systemd-boot 252.22"),
    "no BOOT_IMAGE": (then(debian, replaced("proc/cmdline", "BOOT_IMAGE=", "initrd=")), "no BOOT_IMAGE="),
    "a unified kernel image": (then(entries_host, replaced("proc/cmdline", "BOOT_IMAGE=", "x=")), "unified kernel image"),
    "ostree": (ostree, "rpm-ostree kargs"),
    "several grub.cfg on the ESP": (several_esp, "grub.cfg of one, two"),
    "ESP not mounted": (esp_not_mounted, "no grub.cfg"),
    "a wrapper that leads nowhere": (
        then(menu_host, stub(STUB.replace("/grub2", "/x"))), "leads to /x/grub.cfg, which is not there",
    ),
    "/boot not mounted": (then(menu_host, lambda root: shutil.rmtree(str(root / "boot"))), "grub.cfg is missing"),
    "no entry": (then(entries_host, lambda root: shutil.rmtree(str(root / "boot/loader"))), "none is there"),
    "no entry that boots Linux": (
        then(menu_host, replaced(EL, "menuentry", "# menuentry"), replaced(EL, "linux16", "# linux16")), "no entry that boots Linux",
    ),
    "menu entries beside the setting": (
        then(menu_host, replaced("etc/default/grub", "GRUB_TIMEOUT", "GRUB_ENABLE_BLSCFG=true\nGRUB_TIMEOUT")),
        "GRUB_ENABLE_BLSCFG=true: look at",
    ),
    "a wrapper that leads to two files": (two_ways, "leads to /boot/grub2/grub.cfg or /boot/old/grub.cfg"),
    "/boot of /etc/fstab not mounted": (boot_beneath_its_mount, "/etc/fstab mounts /boot, and it is not mounted"),
    "an entry of others by default, by its place": (default_of_others("0"), "starts 'Linux own' by default"),
    "an entry of others by default, by its title": (default_of_others("Own"), "starts 'Own' by default"),
    "an entry of others by default, by its id": (default_of_others("own"), "starts 'Own' by default"),
    "a rescue image by default": (rescue_by_default, "starts 'ab12-0-rescue' by default"),
    "a link to nothing": (link_to_nothing, "/etc/default/grub is a link to ../sysconfig/grub, which is not there"),
    "a quote that bash alone reads": (grub("GRUB_CMDLINE_LINUX=$'a=\\'b\\' c=d'\n"), "/etc/default/grub, line 2: $'...'"),
    "variables that are missing": (
        lambda root: (entries_host(root, options="$kernelopts"), put(root, "boot/grub2/grubenv", environment(saved_entry="x"))),
        "would come out wrong: entry 'EL'",
    ),
    "entries of both kinds": (
        then(menu_host, lambda root: put(root, EL, (root / EL).read_text() + BLS_CONFIG)), "menu entries of its own and reads",
    ),
    "a kernel line that is the default of GRUB": (
        then(entries_host, replaced(f"boot/loader/entries/ab12-{RELEASE}.conf", "options ", "x-options ")), "says none",
    ),
    "a password by hand": (by_hand, 'drops set superusers="root"'),
    "an entry that nobody may change": (then(menu_host, replaced(EL, "--unrestricted", "--users a")), "drops --users a of"),
    "a removed kernel": (removed_kernel, "adds the entry of /boot/vmlinuz-5.13.0"),
    "an argument of the entries": (
        then(menu_host, replaced(EL, " ro ", " ro rd.luks.uuid=luks-77 ")), "drops rd.luks.uuid=luks-77",
    ),
    "another root": (then(menu_host, replaced(EL, "root=UUID=0a1b", "root=UUID=0a1c")), "drops root=UUID=0a1c"),
    "a file that is not generated yet": (
        then(menu_host, replaced("etc/default/grub", "console=ttyS0", "console=tty1")), "drops console=ttyS0",
    ),
    "a hard link": (hard_link, "has another name too"),
    "pages in a sourced file": (sourced, "gets hugepagesz=1G hugepages=2, and the files /etc/default/grub say no pages"),
    "a quote that is not closed": (
        then(menu_host, replaced("etc/default/grub", 'ttyS0"', "ttyS0")), "/etc/default/grub, line 2: the quote",
    ),
    "a command substitution": (
        grub('GRUB_CMDLINE_LINUX="$(echo a=b) hugepagesz=1G hugepages=8"\n'), "/etc/default/grub, line 2:",
    ),
    "pages glued to an alternative": (
        grub('GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }hugepagesz=1G hugepages=8"\n'), "glued to ${...}",
    ),
    "pages in an alternative": (grub('GRUB_CMDLINE_LINUX="${X:-hugepagesz=1G hugepages=8}"\n'), "/etc/default/grub, line 2:"),
    "pages at the end of an alternative": (
        grub('GRUB_CMDLINE_LINUX="${X:-a=b hugepages=8}"\n'), "/etc/default/grub, line 2: hugepage",
    ),
    "pages in a function": (grub('extra() {\n  GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=3"\n}\n'), "line 3: hugepage"),
    "pages in a here-document": (grub(': <<END\nGRUB_CMDLINE_LINUX="hugepages=4"\nEND\n'), "line 2: hugepage"),
    "pages in a condition": (grub('[ -d / ] && GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=8"\n'), "line 2: hugepage"),
    "an early return": (grub("[ -n \"$SITE\" ] || return 0\nGRUB_TERMINAL=x\n"), "/etc/default/grub, line 2: return may end"),
    "an early exit": (
        then(menu_host, replaced("etc/default/grub", "GRUB_T", "if [ -d / ]; then\n  exit 0\nfi\nGRUB_T")), "line 2: exit may end",
    ),
    "an early exit in one branch": (grub("case x in y) exit;; esac\n"), "/etc/default/grub, line 2: exit may end"),
    "another program in place of the shell": (
        then(menu_host, replaced("etc/default/grub", "GRUB_T", "exec true\nGRUB_T")), "/etc/default/grub, line 1: exec may end",
    ),
    "an early return behind pages": (
        grub('GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=2"\nreturn\n'), "/etc/default/grub, line 3: return may end",
    ),
    "an early return before the line of new kernels": (
        lambda root: entries_host(root, "return\n"), "/etc/default/grub, line 1: return may end",
    ),
    "Debian with an early exit": (
        then(debian, replaced("etc/default/grub", "GRUB_T", "exit 0\nGRUB_T")), "/etc/default/grub, line 1: exit may end",
    ),
    "pages in another variable": (grub('HP="hugepagesz=1G hugepages=8"\nGRUB_CMDLINE_LINUX="a=b $HP"\n'), "line 2: hugepage"),
    "arguments for init before": (grub('GRUB_CMDLINE_LINUX="a=b -- single"\n'), "GRUB_CMDLINE_LINUX holds --"),
    "a long line": (grub(f'GRUB_CMDLINE_LINUX="{LONG}"\n'), "the kernel reads only the first 2047"),
    "a long line of an entry": (lambda root: entries_host(root, options=f"{OPTIONS} {LONG}"), "only the first 2047"),
}  # fmt: skip

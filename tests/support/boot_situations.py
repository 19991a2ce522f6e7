# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways in which hosts boot, each with what the module hugepages makes of it."""

import os
import shutil

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

EL, DEBIAN = "boot/grub2/grub.cfg", "boot/grub/grub.cfg"
EFI_VENDOR = "8be4df61-93ca-11d2-aa0d-00e098032b8c"


def grub(text, **options):
    """Return a function that lays out a host with a text at the end of /etc/default/grub."""
    return lambda root: menu_host(root, text, **options)


def stub(text=STUB, folder="rocky"):
    def lay(root):
        put(root, "sys/firmware/efi/x", "")
        put(root, f"boot/efi/EFI/{folder}/grub.cfg", text)

    return lay


def then(*steps):
    def lay(root):
        for step in steps:
            step(root)

    return lay


def replaced(path, old, new):
    def lay(root):
        file = root / path
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return lay


def debian(root):
    menu_host(root, 'GRUB_CMDLINE_LINUX="console=ttyS0"\n', debian=True)


def ubuntu_by_efi(root):
    debian(root)
    text = "search.fs_uuid 0a1b root hd0,gpt2\nset prefix=($root)'/boot/grub'\nconfigfile $prefix/grub.cfg\n"
    stub(text, "ubuntu")(root)
    stub(text, "BOOT")(root)


def two_systems_by_efi(root):
    menu_host(root, config="/boot/efi/EFI/other/grub.cfg")
    put(root, "boot/efi/EFI/tencentos/grub.cfg", "menuentry 'Old' {\n\tlinux /vmlinuz-1 ro\n}\n")
    path = "\\EFI\\other\\shimx64.efi\0".encode("utf-16-le")
    efi_variable(root, "BootCurrent", b"\x02\x00", EFI_VENDOR)
    efi_variable(
        root, "Boot0002", b"\x01\0\0\0\x20\0" + "x\0".encode("utf-16-le") + b"\x04\x04\x20\x00" + path, EFI_VENDOR
    )


def wrapper_of_an_administrator(root):
    menu_host(root)
    put(root, "usr/local/sbin/update-grub", "#!/bin/sh\nexit 7\n", 0o755)


def el8_by_efi(root, own_block):
    entries_host(root, options="$kernelopts $tuned_params", config="boot/efi/EFI/redhat/grub.cfg")
    put(root, "etc/os-release", "ID=rhel\n")
    put(root, "sys/firmware/efi/x", "")
    if own_block:
        put(root, "boot/grub2/grubenv", environment(saved_entry="ab12", kernelopts="root=UUID=old ro"))
    else:
        link(root, "boot/grub2/grubenv", "../efi/EFI/redhat/grubenv")


def attributes(root):
    menu_host(root)
    file = str(root / "etc/default/grub")
    os.setxattr(file, "security.selinux", b"system_u:object_r:bootloader_etc_t:s0\0")
    os.setxattr(str(root / EL), "security.selinux", b"system_u:object_r:boot_t:s0\0")
    os.chmod(file, 0o400)
    os.chown(file, 1234, 4321)
    os.utime(file, (1600000000, 1600000000))


def links(root):
    menu_host(root)
    for path, target in (("etc/default/grub", "etc/sysconfig/grub"), (EL, "boot/real/grub.cfg")):
        (root / target).parent.mkdir()
        shutil.move(str(root / path), str(root / target))
        link(root, path, "../../" + target if path != EL else "../real/grub.cfg")
    shutil.move(str(root / "boot/grub2/grubenv"), str(root / "boot/real/grubenv"))


def same_device(root):
    put(root, "dev/disk/by-label/system", "")
    link(root, "dev/disk/by-uuid/0a1b", "../by-label/system")
    menu_host(root, device="root=LABEL=system")
    generator(root, False, "/" + EL)


# What lays the host out, the layout, and the grub.cfg that decides what boots.
HANDLED = {
    "Debian": (debian, "grub-d", DEBIAN),
    "Ubuntu by EFI: the ESP leads to /boot": (ubuntu_by_efi, "grub-d", DEBIAN),
    "CentOS 7, TencentOS 2.4": (menu_host, "grub-default", EL),
    "CentOS 7 by EFI, two systems": (two_systems_by_efi, "grub-default", "boot/efi/EFI/other/grub.cfg"),
    "CentOS 7 with an own update-grub": (wrapper_of_an_administrator, "grub-default", EL),
    "EFI wrapper without entries of files": (then(menu_host, stub()), "grub-default", EL),
    "EFI wrapper with a subvolume": (then(menu_host, stub(STUB.replace("/grub2", "/@/boot/grub2"))), "grub-default", EL),
    "EL9": (entries_host, "bls", EL),
    "EL9 by EFI: the ESP leads to /boot": (then(entries_host, stub()), "bls", EL),
    "EL9 whose setting is lost": (lambda root: entries_host(root, "GRUB_TIMEOUT=1\n"), "bls", EL),
    "EL9 whose setting is false at last": (
        lambda root: entries_host(root, "GRUB_ENABLE_BLSCFG=true\nGRUB_ENABLE_BLSCFG=false\n"), "bls", EL,
    ),
    "EL9 without /etc/default/grub": (lambda root: entries_host(root, None), "bls", EL),
    "EL9 with arguments for init": (lambda root: entries_host(root, options=OPTIONS + " -- single"), "bls", EL),
    "EL8 by EFI, a second block": (lambda root: el8_by_efi(root, True), "bls", "boot/efi/EFI/redhat/grub.cfg"),
    "EL8 by EFI, a link to the block": (lambda root: el8_by_efi(root, False), "bls", "boot/efi/EFI/redhat/grub.cfg"),
    "mode, owner, times and labels": (attributes, "grub-default", EL),
    "links": (links, "grub-default", "boot/real/grub.cfg"),
    "the same root by another name": (same_device, "grub-default", EL),
    "arguments for init behind": (grub('GRUB_CMDLINE_LINUX_DEFAULT="-- single"\n'), "grub-default", EL),
    "tuned's own line": (
        grub('A=1\nGRUB_CMDLINE_LINUX_DEFAULT="${GRUB_CMDLINE_LINUX_DEFAULT:+$GRUB_CMDLINE_LINUX_DEFAULT }\\$tuned_params"\n'),
        "grub-default", EL,
    ),
    "a condition, the first branch": (
        grub('if [ -d / ]; then\n  GRUB_CMDLINE_LINUX="a=b"\nelse\n  GRUB_CMDLINE_LINUX="c=d"\nfi\n'), "grub-default", EL,
    ),
    "a condition, the second branch": (
        grub('if [ ! -d / ]; then\n  GRUB_CMDLINE_LINUX="a=b"\nelse\n  GRUB_CMDLINE_LINUX="c=d"\nfi\n'), "grub-default", EL,
    ),
    "a function that nobody calls": (grub('extra() {\n  GRUB_CMDLINE_LINUX="never"\n}\n'), "grub-default", EL),
    "a here-document": (grub(": <<'END'\nGRUB_CMDLINE_LINUX=\"it's text\"\nEND\n"), "grub-default", EL),
    "pages behind an alternative": (
        grub('GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX} hugepagesz=1G hugepages=8"\n'), "grub-default", EL,
    ),
    "a generator that writes to the environment": (
        grub("", first='echo kernelopts=x >> "$root/boot/grub2/grubenv"'), "grub-default", EL,
    ),
}  # fmt: skip


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
    "pages in a function": (grub('extra() {\n  GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=3"\n}\n'), "line 3: hugepage"),
    "pages in a here-document": (grub(': <<END\nGRUB_CMDLINE_LINUX="hugepages=4"\nEND\n'), "line 2: hugepage"),
    "pages in a condition": (grub('[ -d / ] && GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=8"\n'), "line 2: hugepage"),
    "pages in another variable": (grub('HP="hugepagesz=1G hugepages=8"\nGRUB_CMDLINE_LINUX="a=b $HP"\n'), "line 2: hugepage"),
    "arguments for init before": (grub('GRUB_CMDLINE_LINUX="a=b -- single"\n'), "GRUB_CMDLINE_LINUX holds --"),
    "a long line": (grub(f'GRUB_CMDLINE_LINUX="{LONG}"\n'), "the kernel reads only the first 2047"),
    "a long line of an entry": (lambda root: entries_host(root, options=f"{OPTIONS} {LONG}"), "only the first 2047"),
}  # fmt: skip

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways in which hosts boot on which the module hugepages reserves pages."""

import os
import shutil
import struct

from boot_roots import (
    OPTIONS,
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


def drop_ins_that_override(root):
    for name, argument in (("10-a.cfg", "a=b"), ("50-cloudimg-settings.cfg", "c=d"), ("zzz.cfg", "e=f")):
        put(root, f"etc/default/grub.d/{name}", f'GRUB_CMDLINE_LINUX="{argument}"\n')
    debian(root)


def suse_by_efi(root):
    menu_host(root)
    put(root, "etc/os-release", 'ID="opensuse-leap"\n')
    text = 'search --fs-uuid --set=root 11-22\nset prefix=(${root})/boot/grub2\nsource "${prefix}/grub.cfg"\n'
    stub(text, "opensuse")(root)


def saved(name):
    """Return a function that has GRUB start an entry of files by default."""

    def lay(root):
        put(root, EL, (root / EL).read_text().replace("next_entry", "saved_entry"))
        put(root, "boot/grub2/grubenv", environment(saved_entry=name))

    return lay


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
    link(root, "boot/real/grubenv", "../grub2/grubenv")  # GRUB looks beside the link


def list_of_a_folder(root):
    """Lay out a host whose folder gives every new file an access control list."""
    menu_host(root)
    everyone, entries = 0xFFFFFFFF, [(0x01, 7), (0x02, 7), (0x04, 5), (0x10, 7), (0x20, 5)]
    packed = [struct.pack("<HHI", tag, rights, 1234 if tag == 2 else everyone) for tag, rights in entries]
    os.setxattr(str(root / "etc/default"), "system.posix_acl_default", struct.pack("<I", 2) + b"".join(packed))


def overridden(root):
    put(root, "etc/site", 'GRUB_CMDLINE_LINUX="o=p"\n')
    menu_host(root, f'GRUB_CMDLINE_LINUX="a=b"\n. {root}/etc/site\n')


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
    "an access control list of the folder": (list_of_a_folder, "grub-default", EL),
    "an assignment that a file overrides": (overridden, "grub-default", EL),
    "an assignment for one command": (grub('GRUB_CMDLINE_LINUX="a=b"\nGRUB_CMDLINE_LINUX="c=d" true\n'), "grub-default", EL),
    "an assignment in a pipe": (grub('GRUB_CMDLINE_LINUX="a=b"\nGRUB_CMDLINE_LINUX="c=d" | cat\n'), "grub-default", EL),
    "an assignment in a subshell": (
        grub('GRUB_CMDLINE_LINUX="a=b"\n( GRUB_CMDLINE_LINUX="c=d"; echo )\n'), "grub-default", EL,
    ),
    "an assignment that is unset": (grub('GRUB_CMDLINE_LINUX="a=b"\nunset GRUB_CMDLINE_LINUX\n'), "grub-default", EL),
    "carriage returns": (grub('GRUB_CMDLINE_LINUX="a=b"\r\nGRUB_TIMEOUT=1\r\n'), "grub-default", EL),
    "Debian with carriage returns": (grub('GRUB_CMDLINE_LINUX="a=b"\r\n', debian=True), "grub-d", DEBIAN),
    "Debian with drop-ins that override": (drop_ins_that_override, "grub-d", DEBIAN),
    "SUSE by EFI": (suse_by_efi, "grub-default", EL),
    "a saved entry that is gone": (then(entries_host, saved("ab12-gone")), "bls", EL),
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
    "what ends no file": (
        grub("extra() {\n  return 1\n}\nfunction more { exit 1; }\n( exit 1 ) || :\nexec 3>&1\nexit_code=0\n"), "grub-default", EL,
    ),
    "Debian with an early return": (grub('GRUB_CMDLINE_LINUX="a=b"\nreturn 0\n', debian=True), "grub-d", DEBIAN),
    "a function that nobody calls": (grub('extra() {\n  GRUB_CMDLINE_LINUX="never"\n}\n'), "grub-default", EL),
    "a here-document": (grub(": <<'END'\nGRUB_CMDLINE_LINUX=\"it's text\"\nEND\n"), "grub-default", EL),
    "pages behind an alternative": (
        grub('GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX} hugepagesz=1G hugepages=8"\n'), "grub-default", EL,
    ),
    "a generator that writes to the environment": (
        grub("", first='echo kernelopts=x >> "$root/boot/grub2/grubenv"'), "grub-default", EL,
    ),
}  # fmt: skip

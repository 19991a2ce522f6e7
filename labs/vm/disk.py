# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn a root file system into a disk that a BIOS boots through GRUB, and make a node's own copy of it.

The boot configuration on it is the small one that starts it once; inside the machine update-grub works as on any host
and writes the real one.
"""

import contextlib
import os
import shutil

from shell import run

PARTITION_OFFSET = 1024 * 1024  # bytes; parted starts the only partition there
DISK_SIZE = 8 * 1024**3  # bytes, sparse

# As cloud images have it: their own drop-in assigns the variable that everybody else edits.
GRUB_DEFAULTS = """\
# If you change this file, run 'update-grub' afterwards to update
# /boot/grub/grub.cfg.

GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`
GRUB_CMDLINE_LINUX_DEFAULT="quiet"
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0"
GRUB_DISABLE_OS_PROBER=true
"""
CLOUD_DEFAULTS = 'GRUB_CMDLINE_LINUX_DEFAULT="console=tty1 console=ttyS0"\n'

INTERFACES = """\
auto lo
iface lo inet loopback

auto eth0
iface eth0 inet static
    address {address}/24
    gateway {gateway}
"""

FIRST_BOOT = """\
search --no-floppy --fs-uuid --set=root {uuid}
linux /boot/{kernel} root=UUID={uuid} ro console=ttyS0 net.ifnames=0
initrd /boot/{initrd}
boot
"""


@contextlib.contextmanager
def loop_device(disk, offset=0):
    """Attach a disk file, or what is in it from an offset in bytes, to a loop device for the duration of a block."""
    device = run(["losetup", "--show", "--find", "--offset", str(offset), str(disk)]).strip()
    try:
        yield device
    finally:
        run(["losetup", "--detach", device])


@contextlib.contextmanager
def mounted(device, folder):
    """Mount a file system for the duration of a block."""
    folder.mkdir(parents=True, exist_ok=True)
    run(["mount", device, str(folder)])
    try:
        yield folder
    finally:
        run(["umount", str(folder)])


@contextlib.contextmanager
def system_folders(root):
    """Bind what a program in a chroot expects for the duration of a block."""
    names = ("dev", "proc", "sys")
    bound = []
    try:
        for name in names:
            run(["mount", "--bind", "/" + name, str(root / name)])
            bound.append(name)
        yield
    finally:
        for name in reversed(bound):
            run(["umount", str(root / name)])


def build(tar, disk, scratch, fill):
    """Write a bootable disk from the tar of a root file system.

    fill(root) is called with the mounted root, to add what the tar hasn't got. The disk appears under its name only when
    it is complete.
    """
    unfinished = disk.with_suffix(".part")
    with open(unfinished, "wb") as handle:
        handle.truncate(DISK_SIZE)
    layout = "mklabel msdos mkpart primary ext4 1MiB 100% set 1 boot on"
    run(["parted", "--script", str(unfinished)] + layout.split())
    # Partition nodes don't appear without udev, so the file system is reached by its offset.
    with loop_device(unfinished, PARTITION_OFFSET) as partition:
        run(["mkfs.ext4", "-q", "-L", "taco-root", partition])
        uuid = run(["blkid", "-s", "UUID", "-o", "value", partition]).strip()
        with mounted(partition, scratch) as root:
            run(["tar", "--extract", "--numeric-owner", "--file", str(tar), "--directory", str(root)])
            with loop_device(unfinished) as whole, system_folders(root):
                install = ["grub-install", "--target=i386-pc", "--modules=part_msdos ext2 biosdisk", "--skip-fs-probe"]
                run(["chroot", str(root)] + install + [whole])
            write_system_files(root, uuid)
            fill(root)
    os.replace(str(unfinished), str(disk))


def write_system_files(root, uuid):
    """Write what makes the root file system a machine: its mounts, GRUB's input and the first boot configuration."""
    kernel = next((root / "boot").glob("vmlinuz-*")).name
    initrd = next((root / "boot").glob("initrd.img-*")).name
    (root / "etc/fstab").write_text("UUID=%s / ext4 errors=remount-ro 0 1\n" % uuid)
    (root / "etc/default/grub").write_text(GRUB_DEFAULTS)
    (root / "etc/default/grub.d").mkdir(exist_ok=True)
    (root / "etc/default/grub.d/50-cloudimg-settings.cfg").write_text(CLOUD_DEFAULTS)
    (root / "boot/grub/grub.cfg").write_text(FIRST_BOOT.format(uuid=uuid, kernel=kernel, initrd=initrd))


def copy_for_node(base, disk, scratch, name, address, gateway, authorized_key, host_key):
    """Copy the base disk, keeping it sparse, and write what only this node has: name, address and SSH keys.

    host_key is the path of a private key; its public half lies beside it.
    """
    unfinished = disk.with_suffix(".part")
    run(["cp", "--sparse=always", "--reflink=auto", str(base), str(unfinished)])
    with loop_device(unfinished, PARTITION_OFFSET) as partition, mounted(partition, scratch) as root:
        (root / "etc/hostname").write_text(name + "\n")
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n%s %s\n" % (address, name))
        (root / "etc/network/interfaces").write_text(INTERFACES.format(address=address, gateway=gateway))
        for key in (root / "etc/ssh").glob("ssh_host_*"):
            key.unlink()
        for suffix, mode in (("", 0o600), (".pub", 0o644)):
            target = root / ("etc/ssh/ssh_host_ed25519_key" + suffix)
            shutil.copyfile(str(host_key) + suffix, str(target))
            target.chmod(mode)
        ssh = root / "root/.ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        (ssh / "authorized_keys").write_text(authorized_key)
    os.replace(str(unfinished), str(disk))

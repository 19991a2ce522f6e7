# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host below a folder with boot loader specification entries: EL8 with kernelopts, EL9 with options in each entry."""

import os

from boot_roots import environment

DEFAULTS = "GRUB_TIMEOUT=5\nGRUB_ENABLE_BLSCFG=true\nGRUB_CMDLINE_LINUX='crashkernel=auto net.ifnames=0'  # kept\n"
ENTRY = "title EL ({0})\nversion {0}\nlinux /vmlinuz-{0}\ninitrd /initramfs-{0}.img $tuned_initrd\noptions {1}\ngrub_class kernel\n"
OPTIONS = "root=/dev/vda1 ro crashkernel=auto net.ifnames=0"
RESCUE = ENTRY.format("0-rescue-1f2e", OPTIONS)


def lay_out(root, system):
    """Lay out a host with two kernels and a rescue image."""
    el8 = system == "EL8"
    options = "$kernelopts $tuned_params" if el8 else OPTIONS
    texts = {
        "etc/default/grub": DEFAULTS,
        "boot/grub2/grub.cfg": "set default=${next_entry}\nblscfg\nsource ${config_directory}/custom.cfg\n",
        "boot/grub2/grubenv": environment(saved_entry="1f2e-5.14", **({"kernelopts": OPTIONS} if el8 else {})),
        "boot/loader/entries/1f2e-5.14.conf": ENTRY.format("5.14", options),
        "boot/loader/entries/1f2e-5.15.conf": ENTRY.format("5.15", options),
        "boot/loader/entries/1f2e-0-rescue.conf": RESCUE,
        "proc/cmdline": "BOOT_IMAGE=(hd0,msdos1)/vmlinuz-5.15 " + OPTIONS + "\n",
        "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nHugepagesize: 2048 kB\n",
        "proc/cpuinfo": "processor: 0\nflags\t\t: fpu pse pdpe1gb\n",
        "proc/mounts": "/dev/vda1 / xfs rw 0 0\n",
        "proc/sys/kernel/osrelease": "5.15\n",
        "usr/sbin/grub2-mkconfig": "#!/bin/sh\nexit 9\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
    }
    if not el8:
        texts["etc/kernel/cmdline"] = OPTIONS + "\n"
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(str(path), (1600000000, 1600000000))
    for path in (root / "usr/sbin").iterdir():
        path.chmod(0o755)
    return root

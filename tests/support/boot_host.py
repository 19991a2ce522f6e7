# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A whole host below a folder for the module hugepages: real files, and generators of boot entries that look for no disks."""

import hashlib
import os
import subprocess

DROP_IN = "etc/default/grub.d/zz-taco-hugepages.cfg"
LINE = "default_hugepagesz=1G hugepagesz=1G hugepages={}"

# What Debian's grub-mkconfig does with the files, without looking for disks.
UPDATE_GRUB = """#!/bin/bash
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$root/etc/default/grub" ] && . "$root/etc/default/grub"
for file in "$root"/etc/default/grub.d/*.cfg; do [ -e "$file" ] && . "$file"; done
config=/boot/grub/grub.cfg; [ "$1" != -o ] || config=$2
cat > "$root$config.new" << END
menuentry 'Debian' {
	linux	/boot/vmlinuz-6.1 root=/dev/vda1 ro $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT
}
menuentry 'Debian (recovery mode)' {
	linux	/boot/vmlinuz-6.1 root=/dev/vda1 ro single $GRUB_CMDLINE_LINUX
}
END
mv "$root$config.new" "$root$config"
"""

GRUB2_MKCONFIG = """#!/bin/bash
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
[ ! -e "$root/broken" ] || exit 9
. "$root/etc/default/grub"
printf "menuentry 'EL' {\\n\\tlinux16 /vmlinuz-3.10 root=/dev/vda1 ro %s\\n}\\n" "$GRUB_CMDLINE_LINUX" > "$root${2:-/boot/grub2/grub.cfg}"
"""


def debian_host(root):
    """Lay out a Debian host with 64 GiB of memory whose boot entries are generated."""
    texts = {
        "etc/default/grub": 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX="net.ifnames=0"\n',
        "etc/default/grub.d/50-cloudimg-settings.cfg": 'GRUB_CMDLINE_LINUX_DEFAULT="console=ttyS0"\n',
        "proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz-6.1 root=/dev/vda1 ro net.ifnames=0 console=ttyS0\n",
        "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nHugepagesize: 2048 kB\n",
        "proc/cpuinfo": "processor: 0\nflags\t\t: fpu pse pdpe1gb\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages": "0\n",
        "usr/sbin/update-grub": UPDATE_GRUB,
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "usr/sbin/update-grub").chmod(0o755)
    (root / "boot/grub").mkdir(parents=True)
    subprocess.run([str(root / "usr/sbin/update-grub")], check=True)
    os.utime(str(root / "etc/default/grub"), (1600000000, 1600000000))
    (root / "etc/default/grub").chmod(0o640)
    return root


def change_to_el7(host):
    """Make the host one that has no drop-ins."""
    (host / "usr/sbin/update-grub").unlink()
    (host / "etc/default/grub.d/50-cloudimg-settings.cfg").unlink()
    (host / "usr/sbin/grub2-mkconfig").write_text(GRUB2_MKCONFIG)
    (host / "usr/sbin/grub2-mkconfig").chmod(0o755)
    (host / "boot/grub2").mkdir()
    (host / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="net.ifnames=0"\n')
    subprocess.run([str(host / "usr/sbin/grub2-mkconfig")], check=True)
    return host


def tree(root):
    """Return every file below a folder with its mode, time and content."""
    found = {}
    for folder, _names, files in os.walk(str(root)):
        found[folder] = os.stat(folder).st_mtime_ns
        for name in files:
            path = os.path.join(folder, name)
            status = os.stat(path)
            with open(path, "rb") as stream:
                content = hashlib.sha256(stream.read()).hexdigest()
            found[path] = (status.st_mode, status.st_mtime_ns, content)
    return found


def boot_files(root):
    """Return what tree() does, without what the module keeps of its own."""
    return {path: what for path, what in tree(root).items() if "/var" not in path and path != str(root)}


def contents(root):
    """Return the mode and the content of every such file."""
    return {path: (what[0], what[2]) for path, what in boot_files(root).items() if isinstance(what, tuple)}


def entries(root):
    """Return the arguments of the generated boot entries."""
    config = next(path for path in (root / "boot/grub2/grub.cfg", root / "boot/grub/grub.cfg") if path.exists())
    return [line.split(" ro ")[1] for line in config.read_text().splitlines() if line.startswith("\tlinux")]


class FakeModule:
    """What run() needs of AnsibleModule, with commands that really run."""

    check_mode = False

    def __init__(self, host, **params):
        defaults = {
            "gpus": None, "count": None, "page_size": "1G", "max_memory_fraction": 0.8, "runtime": False, "regenerate": True,
            "force": False, "trial": False, "keep_other_sizes": True, "sysroot": str(host), "state_dir": "/var/lib/taco-train",
        }  # fmt: skip
        self.params = dict(defaults, **params)

    def run_command(self, argv, handle_exceptions=True, pass_fds=None):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=pass_fds or ())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

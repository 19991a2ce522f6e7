# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Roots of hosts by what boots them, the line that GRUB and the kernel make of one, and everything that belongs to a file."""

import os
import re
import stat
import subprocess

MIB, GIB = 2**20, 2**30
RELEASE = "5.14.0"
OPTIONS = "root=UUID=0a1b ro console=ttyS0"
STUB = "search --no-floppy --fs-uuid --set=dev 11-22\nset prefix=($dev)/grub2\nexport $prefix\nconfigfile $prefix/grub.cfg\n"
BLS_CONFIG = """load_env -f ${config_directory}/grubenv
set default="${next_entry}"
insmod blscfg
blscfg
source ${config_directory}/custom.cfg
"""
# What a grub-mkconfig does that sources its files and finds the kernels in /boot.
GENERATOR = r"""#!/bin/bash
set -e
root=%(root)s config=%(config)s
[ "$1" != -o ] || config=$2
for file in "$root/etc/default/grub" %(drop_ins)s; do [ ! -e "$file" ] || . "$file"; done
%(first)s
{
echo '### BEGIN /etc/grub.d/00_header ###'
printf 'if [ -s $prefix/grubenv ]; then\n  load_env\nfi\nset default="${next_entry}"\nset timeout=%%s\n' "$GRUB_TIMEOUT"
echo '### END /etc/grub.d/00_header ###'
echo '### BEGIN /etc/grub.d/10_linux ###'
for kernel in $(ls -r "$root/boot" | sed -n 's/^vmlinuz-//p'); do
printf "menuentry 'Linux %%s' --unrestricted {\n\tlinux16\t/boot/vmlinuz-%%s %(device)s ro %%s\n}\n" \
    "$kernel" "$kernel" "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"
done
echo '### END /etc/grub.d/10_linux ###'
echo 'source ${config_directory}/custom.cfg'
} > "$root$config.new"
cat "$root$config.new" > "$root$config"
rm "$root$config.new"
"""


def put(root, path, text, mode=0o644):
    """Write a file below a root."""
    full = os.path.join(str(root), path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as stream:
        stream.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(full, mode)
    return full


def link(root, path, target):
    os.makedirs(os.path.dirname(os.path.join(str(root), path)), exist_ok=True)
    os.symlink(target, os.path.join(str(root), path))


def environment(**variables):
    body = "# GRUB Environment Block\n" + "".join(f"{name}={value}\n" for name, value in variables.items())
    return body + "#" * (1024 - len(body))


def efi_variable(root, name, value, vendor="4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"):
    put(root, f"sys/firmware/efi/efivars/{name}-{vendor}", b"\x06\0\0\0" + value)


def base(root, system):
    texts = {
        "etc/os-release": f"ID={system}\n",
        "proc/cmdline": f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} {OPTIONS}\n",
        "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nHugepagesize: 2048 kB\n",
        "proc/cpuinfo": "processor: 0\nflags\t\t: fpu pse pdpe1gb\n",
        "proc/mounts": "/dev/vda1 / xfs rw 0 0\n",
        "proc/sys/kernel/osrelease": RELEASE + "\n",
        "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
    }
    for path, text in texts.items():
        put(root, path, text)


def generator(root, debian, config, first="", device="root=UUID=0a1b"):
    drop_ins = '"$root"/etc/default/grub.d/*.cfg' if debian else ""
    text = GENERATOR % dict(root=root, config=config, drop_ins=drop_ins, first=first, device=device)
    put(root, "usr/sbin/" + ("update-grub" if debian else "grub2-mkconfig"), text, 0o755)


def menu_host(
    root, grub='GRUB_CMDLINE_LINUX="console=ttyS0"\n', debian=False, config="", first="", device="root=UUID=0a1b"
):
    """Lay out a host whose grub.cfg has menu entries."""
    base(root, "ubuntu" if debian else "tencentos")
    config = config or ("/boot/grub/grub.cfg" if debian else "/boot/grub2/grub.cfg")
    put(root, "etc/default/grub", "GRUB_TIMEOUT=5\n" + grub)
    put(root, "boot/vmlinuz-" + RELEASE, "x")
    put(root, os.path.dirname(config)[1:] + "/grubenv", environment(saved_entry="0"))
    generator(root, debian, config, first, device)
    generate(root)


def generate(root):
    """Run the generator of a root."""
    for name in ("update-grub", "grub2-mkconfig"):
        program = os.path.join(str(root), "usr/sbin", name)
        if os.path.exists(program):
            subprocess.run([program], check=True)


def entries_host(
    root,
    grub="GRUB_ENABLE_BLSCFG=true\n",
    options=OPTIONS + " rd.luks.uuid=luks-77 $tuned_params",
    config="boot/grub2/grub.cfg",
):
    """Lay out a host whose grub.cfg reads the entries in /boot/loader/entries."""
    base(root, "rocky")
    if grub is not None:
        put(root, "etc/default/grub", grub + 'GRUB_CMDLINE_LINUX="console=ttyS0"\n')
    put(root, "usr/sbin/grub2-mkconfig", "#!/bin/sh\nexit 9\n", 0o755)
    put(root, config, BLS_CONFIG)
    put(root, os.path.dirname(config) + "/grubenv", environment(saved_entry="ab12", kernelopts=OPTIONS))
    text = f"title EL\nversion {RELEASE}\nlinux /vmlinuz-{RELEASE}\noptions {options}\n"
    put(root, f"boot/loader/entries/ab12-{RELEASE}.conf", text)


def boot_line(root, config):
    """Return the kernel line with which GRUB boots a root whose entries one grub.cfg decides."""
    with open(os.path.join(str(root), config), newline="\n") as stream:
        text = stream.read().replace("\r", "")  # as GRUB reads a line
    variables = {}
    block = os.path.join(str(root), os.path.dirname(config), "grubenv")
    if os.path.exists(block):
        with open(block) as stream:
            variables = dict(re.findall(r"^(\w+)=(.*)$", stream.read(), re.MULTILINE))
    line = re.search(r"^\tlinux\S*\s+(.*)$", text, re.MULTILINE)
    if re.search("^blscfg", text, re.MULTILINE):
        with open(os.path.join(str(root), f"boot/loader/entries/ab12-{RELEASE}.conf")) as stream:
            line = re.search(r"^options\s+(.*)$", stream.read(), re.MULTILINE)
    return re.sub(r"\$\{?(\w+)\}?", lambda match: variables.get(match.group(1), ""), line.group(1))


def kernel_pages(line):
    """Return {bytes of a page: number} as the kernel takes a line, by Documentation/admin-guide/mm/hugetlbpage.rst."""
    pages, size, default = {}, None, 2 * MIB
    for word in f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} {line}"[:2047].split():
        name, _sign, value = word.partition("=")
        if word == "--":
            break
        if name in ("hugepagesz", "default_hugepagesz"):
            number, unit = re.match(r"(\d+)([KMG]?)", value).groups()
            size = int(number) * {"": 1, "K": 1024, "M": MIB, "G": GIB}[unit]
            default = size if name.startswith("default") else default
        elif name == "hugepages":
            pages[size or default] = int(value)
    return pages


def state(root):
    """Return everything that belongs to each file, link and folder of a root, without what the module keeps of its own."""
    found = {}
    for folder, folders, names in os.walk(str(root)):
        folders[:] = [name for name in folders if os.path.join(folder, name) != os.path.join(str(root), "var")]
        for path in [os.path.join(folder, name) for name in folders + names]:
            status = os.lstat(path)
            target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else None
            content, attributes = b"", {}
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as stream:
                    content = stream.read()
                attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
            owner = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink)
            found[os.path.relpath(path, str(root))] = (owner, status.st_mtime_ns, target, content, attributes)
    return found

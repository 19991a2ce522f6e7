#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Break a node of a lab in one way, and mend it again.

faults.py on NODE FAULT      for example: faults.py on taco-lab-node-0 boot-full
faults.py off NODE FAULT
faults.py list               the faults and what each of them does
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LABS = Path(__file__).resolve().parents[2] / "labs"
sys.path[:0] = [str(LABS / "vm"), str(LABS / "docker")]

import machines
import state
from shell import LabError

VMS = state.LAB / "vm"

# Another update-grub in the place of the real one, which stays reachable as $real.
REPLACE_GENERATOR = """
if mountpoint -q /usr/sbin/update-grub; then echo 'update-grub is replaced already'; exit 1; fi
mkdir -p /run/taco-fault
cp -p /usr/sbin/update-grub /run/taco-fault/real
cat > /run/taco-fault/update-grub << 'END'
#!/bin/sh
real=/run/taco-fault/real
{body}
END
chmod 755 /run/taco-fault/update-grub
mount --bind /run/taco-fault/update-grub /usr/sbin/update-grub
"""
# Lazily, as it may still run.
RESTORE_GENERATOR = "umount -l /usr/sbin/update-grub; rm -r /run/taco-fault"

OLD_LINE = """
uuid=$(sed -n 's/.*root=UUID=\\([^ ]*\\).*/\\1/p' /proc/cmdline)
cat > /boot/grub/custom.cfg << END
menuentry 'The line of before' --id taco-fault {
    search --no-floppy --fs-uuid --set=root $uuid
    linux /boot/vmlinuz-$(uname -r) $(sed 's/BOOT_IMAGE=[^ ]* //' /proc/cmdline)
    initrd /boot/initrd.img-$(uname -r)
}
set default=taco-fault
END
"""

SHORT_POOL = """
cat > /etc/systemd/system/taco-fault.service << 'END'
[Unit]
DefaultDependencies=no
Before=ssh.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'pool=/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages; echo $(($(cat $pool) - 1)) > $pool'
[Install]
WantedBy=multi-user.target
END
systemctl enable taco-fault.service
"""


class Fault(NamedTuple):
    """What breaks a node and what mends it, as shell commands that root runs there."""

    says: str
    on: str
    off: str


FAULTS = {
    "generator-fails": Fault(
        "update-grub ends with status 9",
        REPLACE_GENERATOR.format(body="echo 'the generator is broken' >&2; exit 9"),
        RESTORE_GENERATOR,
    ),
    "generator-slow": Fault(
        "update-grub takes 10 s longer",
        REPLACE_GENERATOR.format(body='[ "$1" = -o ] || sleep 10; exec "$real" "$@"'),
        RESTORE_GENERATOR,
    ),
    "ssh-lost": Fault(
        "every SSH connection is cut while update-grub runs, after it did its work",
        REPLACE_GENERATOR.format(body='"$real" "$@"; [ "$1" = -o ] || { pkill -KILL -f "^sshd: root"; sleep 1; }'),
        RESTORE_GENERATOR,
    ),
    "boot-full": Fault(
        "the file system of /boot/grub has no byte left",
        "mkdir -p /run/taco-full && mount -t tmpfs -o size=64k tmpfs /run/taco-full && "
        "cp -p /boot/grub/grub.cfg /run/taco-full/ && (cat /dev/zero > /run/taco-full/filler 2> /dev/null; true) && "
        "mount --bind /run/taco-full /boot/grub",
        "umount /boot/grub; umount /run/taco-full; rmdir /run/taco-full",
    ),
    "defaults-read-only": Fault(
        "/etc/default is on a file system that is mounted read-only, as after an error",
        "mount --bind /etc/default /etc/default && mount -o remount,bind,ro /etc/default",
        "umount /etc/default",
    ),
    "old-line": Fault(
        "GRUB boots the kernel line of now, whatever the configuration says", OLD_LINE, "rm /boot/grub/custom.cfg"
    ),
    "short-pool": Fault(
        "the kernel comes up with one page of 1 GiB less than its line asks for",
        SHORT_POOL,
        "systemctl disable taco-fault.service; rm /etc/systemd/system/taco-fault.service",
    ),
}
STAYS_AWAY = "stays-away"
STAYS_AWAY_SAYS = "the machine switches itself off instead of rebooting (VM lab); `make vm-up` starts it again"


def command(node, script):
    """Return the command line that runs a script on a node as root."""
    folder = (VMS if node.startswith("taco-vm") else state.LAB) / "ssh"
    found = state.load(folder.parent / "state.json")
    for known in found["nodes"] if found else []:
        if known["name"] == node:
            options = ["-i", str(folder / "id_ed25519"), "-o", "UserKnownHostsFile=%s" % (folder / "known_hosts")]
            options += ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-p", str(known["port"])]
            return ["ssh"] + options + ["root@" + known["address"], "set -e\n" + script]
    raise LabError("%s is not a node of a lab that is up" % node)


def switch(node, name, on):
    """Break or mend a node."""
    if name == STAYS_AWAY:
        return machines.stay_off(VMS / node, on)
    script = FAULTS[name].on if on else FAULTS[name].off
    if node.startswith("taco-vm"):
        # A machine may lose its power next, and must not find what was taken away on its disk again.
        script += "\nsync"
    done = subprocess.run(
        command(node, script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        raise LabError("%s on %s: %s" % (name, node, done.stdout.decode("utf-8", "replace").strip()))


def parse(argv):
    parser = argparse.ArgumentParser(description="Break a node of a lab in one way, and mend it again.")
    commands = parser.add_subparsers(dest="command", required=True)
    for word, says in (("on", "break the node"), ("off", "mend it")):
        one = commands.add_parser(word, help=says)
        one.add_argument("node")
        one.add_argument("fault", choices=[*FAULTS, STAYS_AWAY])
    commands.add_parser("list", help="say which faults there are")
    return parser.parse_args(argv)


def main():
    arguments = parse(sys.argv[1:])
    if arguments.command == "list":
        for name, says in [*((name, fault.says) for name, fault in FAULTS.items()), (STAYS_AWAY, STAYS_AWAY_SAYS)]:
            print("%-20s %s" % (name, says))
        return
    try:
        switch(arguments.node, arguments.fault, arguments.command == "on")
    except LabError as error:
        raise SystemExit("faults: %s" % error) from error


if __name__ == "__main__":
    main()

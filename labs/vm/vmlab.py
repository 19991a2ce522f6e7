#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and stop the VM lab: machines with a boot loader of their own, which really reboot.

vmlab.py up [--nodes N] [--memory MIB] [--enis N]   build the disk once, start N machines (2); can be run again at any time
vmlab.py status                                     say what runs
vmlab.py down [--purge]                             remove everything but the disk that was built, or that too
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What builds images, makes keys and keeps the state is the same as for the lab of containers.
sys.path[:0] = [str(HERE), str(HERE.parent / "docker")]

import disk
import images
import keys
import lab
import machine
import machines
import mirrors
import slots
import state
from baking import bake
from shell import LabError, succeeds

FOLDER = state.LAB / "vm"
IMAGES = state.LAB / "vm-images"
STATE = FOLDER / "state.json"
KNOWN_HOSTS = FOLDER / "ssh/known_hosts"
IDENTITY = FOLDER / "ssh/id_ed25519"
SLOT = FOLDER / "slot"
MOST_NODES = 8
BOOT_SECONDS = 300
PACKAGES = """
    ca-certificates dbus docker.io grub-common grub-pc-bin grub2-common ifupdown iproute2 iptables kmod linux-image-cloud-amd64
    openssh-server procps python3 python3-requests systemd-sysv udev
""".split()
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "parted": "parted",
    "mkfs.ext4": "e2fsprogs",
    "ip": "iproute2",
    "mmdebstrap": "mmdebstrap",
    "dockerd": "docker.io",
    "ssh-keygen": "openssh-client",
}


def say(text):
    print("lab: " + text, flush=True)


# What GRUB's own scripts write always looks at next_entry.
GENERATE = "grep -q next_entry /boot/grub/grub.cfg || update-grub"


def name(index):
    return "taco-vm-node-%d" % index


def base_disk():
    """Return the disk that all machines start from, building it unless one made of the same things is kept."""
    suite, options, sources = mirrors.arguments()
    training = images.build(images.TRAINING, suite, options, sources)
    parts = [repr((suite, sorted(sources), PACKAGES, training.name, images.LEFT_OUT))]
    parts += [(HERE / part).read_text() for part in ("setup.sh", "disk.py")]
    kept = IMAGES / (hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16] + ".raw")
    if kept.exists():
        return kept
    say("building the machines' disk from %s packages" % suite)
    if IMAGES.exists():
        shutil.rmtree(str(IMAGES))
    IMAGES.mkdir(parents=True)
    tar = IMAGES / "root.tar"
    hooks = ['upload "%s" /setup.sh' % (HERE / "setup.sh"), 'chroot "$1" sh /setup.sh && rm "$1/setup.sh"']
    images.bootstrap(suite, options, sources, PACKAGES, tar, hooks)
    disk.build(tar, kept, FOLDER / "mnt", lambda root: bake(root / "var/lib/docker", training, FOLDER / "bake"))
    tar.unlink()
    return kept


def start_machine(slot, index, arguments, base, accelerator):
    """Start one machine and return what the state says of it."""
    folder = FOLDER / name(index)
    folder.mkdir(parents=True, exist_ok=True)
    _private, public = keys.pair(FOLDER / "ssh" / ("host-" + name(index)), name(index))
    own = folder / "disk.raw"
    if not own.exists():
        _identity, authorized = keys.pair(IDENTITY, "taco-vm-lab")
        host_key = FOLDER / "ssh" / ("host-" + name(index))
        address = (machines.address(slot, index), machines.network(slot) + ".1")
        disk.copy_for_node(base, own, FOLDER / "mnt", name(index), *address, authorized, host_key)
    machines.start(slot, index, own, folder, arguments.memory, arguments.enis, accelerator)
    enis = ["eth%d" % nic for nic in range(1, arguments.enis + 1)]
    return {"name": name(index), "address": machines.address(slot, index), "port": 22, "host_key": public, "enis": enis}


def ssh(node, command):
    """Return the command that runs a command on a machine."""
    login = ["ssh", "-i", str(IDENTITY), "-o", "UserKnownHostsFile=%s" % KNOWN_HOSTS, "-o", "BatchMode=yes"]
    return login + ["-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=5", "root@" + node["address"], command]


def wait_for_ssh(nodes):
    """Wait until every machine lets the controller in, and say after how long."""
    started = time.monotonic()
    for node in nodes:
        while not succeeds(ssh(node, "true")):
            if time.monotonic() - started > BOOT_SECONDS:
                console = FOLDER / node["name"] / "console.log"
                raise LabError("%s didn't come up within %d s; see %s" % (node["name"], BOOT_SECONDS, console))
            time.sleep(1)
    say("booted in %d s" % (time.monotonic() - started))


def generate_boot_entries(nodes):
    """Let every machine write its own boot entries, where it still has only those that start it once.

    It can't be done while the disk is built: grub-probe doesn't understand a loop device in a chroot.
    """
    running = [
        (node, subprocess.Popen(ssh(node, GENERATE), stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        for node in nodes
    ]
    for node, process in running:
        output = process.communicate()[0].decode(errors="replace")
        if process.returncode != 0:
            raise LabError("%s can't write its boot entries: %s" % (node["name"], output.strip()))


def choose_slot():
    """The slot of the machines that exist, whose disks contain its addresses, or a new one."""
    slot = slots.kept(SLOT)
    return slots.choose(machines.BRIDGE, [machines.THIRD_OCTET], SLOT) if slot is None else slot


def up(arguments):
    """Bring the machines up."""
    if os.geteuid() != 0:
        raise LabError("machines need disks and bridges that only root can make; run this as root")
    if not 1 <= arguments.nodes <= MOST_NODES:
        raise LabError("--nodes is %d; it must be from 1 to %d" % (arguments.nodes, MOST_NODES))
    machine.PROGRAMS.update(PROGRAMS)
    machine.require(list(PROGRAMS))
    machine.require_disk(state.LAB)
    FOLDER.mkdir(parents=True, exist_ok=True)
    base = base_disk()
    accelerator = machines.choose_accelerator(FOLDER, base)
    say("starting %d machines under %s" % (arguments.nodes, "KVM" if accelerator == "kvm" else "software emulation"))
    slot = choose_slot()
    machines.start_network(slot, arguments.nodes)
    nodes = [start_machine(slot, index, arguments, base, accelerator) for index in range(arguments.nodes)]
    state.write(KNOWN_HOSTS, keys.known_hosts(nodes), 0o600)
    wait_for_ssh(nodes)
    generate_boot_entries(nodes)
    state.save("vm", accelerator, nodes, STATE)
    say("%d machines are up; their inventory is inventories/vm." % len(nodes))


def down(arguments):
    """Remove everything of the VM lab."""
    for folder in sorted(FOLDER.glob("taco-vm-node-*")):
        machines.stop(folder)
    if slots.kept(SLOT) is not None:
        machines.stop_network(slots.kept(SLOT))
    for folder in [FOLDER] + ([IMAGES] if arguments.purge else []):
        if folder.exists():
            shutil.rmtree(str(folder))
    say("down")


def status(_arguments):
    """Print the running machines; fails when one does not run."""
    content = state.load(STATE)
    if not content:
        raise LabError("down; start it with: make vm-up")
    stopped = [node["name"] for node in content["nodes"] if machines.running(FOLDER / node["name"]) is None]
    for node in content["nodes"]:
        say("%s %s %s" % (node["name"], node["address"], "stopped" if node["name"] in stopped else "running"))
    if stopped:
        raise LabError("not all machines run; start them with: make vm-up")


def parse(argv):
    parser = argparse.ArgumentParser(description="Start and stop the VM lab of the taco.train collection.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("up", help="build the disk once and start the machines")
    command.add_argument("--nodes", type=int, default=2, help="how many machines (2)")
    command.add_argument("--memory", type=int, default=4608, help="memory of each in MiB (4608)")
    command.add_argument("--enis", type=int, default=8, help="secondary NICs of each (8)")
    command.set_defaults(do=up)
    command = commands.add_parser("down", help="remove everything of the VM lab")
    command.add_argument("--purge", action="store_true", help="the disk that was built too")
    command.set_defaults(do=down)
    commands.add_parser("status", help="say what runs").set_defaults(do=status)
    return parser.parse_args(argv)


def main():
    arguments = parse(sys.argv[1:])
    machine.complete_path()
    try:
        with lab.locked():
            arguments.do(arguments)
    except LabError as error:
        raise SystemExit("lab: %s" % error) from error
    except KeyboardInterrupt:
        raise SystemExit("lab: interrupted; `up` goes on from here, `down` removes what there is") from None


if __name__ == "__main__":
    main()

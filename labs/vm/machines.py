# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and stop the machines of the VM lab: QEMU processes on a bridge of their own."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import slots
from shell import LabError, run, succeeds

BRIDGE = "taco-vm"  # and the slot
THIRD_OCTET = 88  # of the /24 network; the controller is .1, node n is .(11 + n)
TRY_SECONDS = 10
CLOSE_SECONDS = 10
# With system management mode the firmware can lose itself in a warm reset under emulation, and a reboot never ends.
MACHINE = ("qemu-system-x86_64", "-machine", "pc,smm=off")
EMULATION = "tcg,thread=multi"


def bridge(slot):
    return "%s%d" % (BRIDGE, slot)


def network(slot):
    """The first three octets of the network of a lab."""
    return slots.subnet(slot, THIRD_OCTET)


def address(slot, index):
    """The IPv4 address of node number index."""
    return "%s.%d" % (network(slot), 11 + index)


def mac(index, nic):
    """Return the MAC address of a NIC; number 0 is the primary one."""
    return "52:54:00:7a:%02x:%02x" % (index, nic)


def tap(slot, index):
    return "%s-%d" % (bridge(slot), index)


def exists(link):
    return (slots.LINKS / link).exists()


def start_network(slot, nodes):
    """Create the bridge and one tap for each node, and leave those that exist as they are."""
    if not exists(bridge(slot)):
        run(["ip", "link", "add", bridge(slot), "type", "bridge"])
        run(["ip", "address", "add", network(slot) + ".1/24", "dev", bridge(slot)])
    run(["ip", "link", "set", bridge(slot), "up"])
    for index in range(nodes):
        if not exists(tap(slot, index)):
            run(["ip", "tuntap", "add", "dev", tap(slot, index), "mode", "tap"])
        run(["ip", "link", "set", tap(slot, index), "master", bridge(slot), "up"])


def stop_network(slot):
    """Remove the bridge and the taps of a lab.

    The kernel closes the tap of a killed machine some time after the process is gone; until then it can't be removed.
    """
    for link in slots.links_of(bridge(slot)):
        deadline = time.monotonic() + CLOSE_SECONDS
        while not succeeds(["ip", "link", "delete", link]) and exists(link):
            if time.monotonic() > deadline:
                raise LabError("%s can't be removed; another process uses it" % link)
            time.sleep(0.1)


def arguments(slot, index, disk, folder, memory, enis, accelerator):
    """Return the command line of one machine: a BIOS, a virtio disk, 1 + enis virtio NICs, its console in a file.

    memory is in MiB. Only the primary NIC is connected; the others are there as ENIs are before anybody configures them.
    """
    command = [*MACHINE, "-accel", accelerator]
    command += ["-cpu", "host" if accelerator == "kvm" else "max"]
    command += ["-smp", "2", "-m", str(memory), "-display", "none", "-no-user-config", "-nodefaults"]
    command += ["-serial", "file:%s" % (folder / "console.log"), "-pidfile", str(folder / "pid")]
    command += ["-qmp", "unix:%s,server=on,wait=off" % (folder / "qmp")]
    command += ["-drive", "file=%s,format=raw,if=virtio,cache=writeback" % disk, "-device", "virtio-rng-pci"]
    command += ["-netdev", "tap,id=nic0,ifname=%s,script=no,downscript=no" % tap(slot, index)]
    command += ["-device", "virtio-net-pci,netdev=nic0,mac=" + mac(index, 0)]
    for nic in range(1, enis + 1):
        command += ["-netdev", "user,id=nic%d,restrict=on" % nic]
        command += ["-device", "virtio-net-pci,netdev=nic%d,mac=%s" % (nic, mac(index, nic))]
    return command + ["-daemonize"]


def running(folder):
    """Return the process id of the machine whose folder this is, or None."""
    try:
        pid = int((folder / "pid").read_text())
        command = Path("/proc/%d/cmdline" % pid).read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if str(folder / "pid").encode() in command else None


def start(slot, index, disk, folder, memory, enis, accelerator):
    """Start one machine unless it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    if running(folder) is None:
        run(arguments(slot, index, disk, folder, memory, enis, accelerator))


def stop(folder):
    """Switch one machine off, as pulling the plug does, and wait until it is gone."""
    pid = running(folder)
    if pid is None:
        return
    os.kill(pid, signal.SIGKILL)
    while running(folder) is not None:
        time.sleep(0.05)


def on_reboot(folder, action):
    """Set the action of a running machine at a reboot: reset, as usual, or shutdown, so that it does not come back."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(10)
        # The path of a socket may have 107 bytes, which a deep checkout exceeds.
        descriptor = os.open(str(folder), os.O_PATH)
        try:
            monitor.connect("/proc/self/fd/%d/qmp" % descriptor)
        finally:
            os.close(descriptor)
        with monitor.makefile("rw", encoding="utf-8") as stream:
            stream.readline()
            for command in (
                {"execute": "qmp_capabilities"},
                {"execute": "set-action", "arguments": {"reboot": action}},
            ):
                stream.write(json.dumps(command) + "\n")
                stream.flush()
                answer = json.loads(stream.readline())
                while "event" in answer:
                    answer = json.loads(stream.readline())
                if "error" in answer:
                    raise LabError("QEMU refused %s: %s" % (command["execute"], answer["error"]["desc"]))


def choose_accelerator(scratch, disk):
    """Return "kvm" where a machine comes up under it, else software emulation, by trying.

    /dev/kvm can be there and useless: a BIOS may get through its work under it and the boot loader may not. So a disk of the
    machines' kind is started, of which nothing is written, until its kernel says something. That takes seconds.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return EMULATION
    scratch.mkdir(parents=True, exist_ok=True)
    console = scratch / "kvm-try.log"
    command = [*MACHINE, "-accel", "kvm", "-cpu", "host", "-m", "512", "-display", "none", "-nodefaults", "-snapshot"]
    command += ["-drive", "file=%s,format=raw,if=virtio" % disk, "-serial", "file:%s" % console]
    trial = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(TRY_SECONDS * 10):
            if console.exists() and b"Linux version" in console.read_bytes():
                return "kvm"
            if trial.poll() is not None:
                break
            time.sleep(0.1)
        return EMULATION
    finally:
        trial.kill()
        trial.wait()
        if console.exists():
            console.unlink()

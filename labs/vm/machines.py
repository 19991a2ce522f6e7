# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and stop the machines of the VM lab: QEMU processes on a bridge of their own."""

import os
import signal
import subprocess
import time
from pathlib import Path

import slots
from shell import LabError, run, succeeds

BRIDGE = "taco-vm"  # and the slot
THIRD_OCTET = 88  # of the /24 network; the controller is .1, node n is .(11 + n)
TRY_SECONDS = 10
CLOSE_SECONDS = 10
START_SECONDS = 1
OFF = "off"
# Each boot is a process of its own. In a process that emulates the boot before as well, a boot takes up to four times as long:
# QEMU keeps its translation of the code in memory, and every write to these pages is slow.
LOOP = 'while "$@" && [ ! -e "$0" ]; do :; done'
# With system management mode the firmware sometimes never ends under emulation.
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
    command += [
        "-chardev",
        "file,id=console,append=on,path=%s" % (folder / "console.log"),
        "-serial",
        "chardev:console",
    ]
    command += ["-drive", "file=%s,format=raw,if=virtio,cache=writeback" % disk, "-device", "virtio-rng-pci"]
    command += ["-netdev", "tap,id=nic0,ifname=%s,script=no,downscript=no" % tap(slot, index)]
    command += ["-device", "virtio-net-pci,netdev=nic0,mac=" + mac(index, 0)]
    for nic in range(1, enis + 1):
        command += ["-netdev", "user,id=nic%d,restrict=on" % nic]
        command += ["-device", "virtio-net-pci,netdev=nic%d,mac=%s" % (nic, mac(index, nic))]
    return [*command, "-no-reboot"]


def running(folder):
    """Return the process id of the loop that runs the machine whose folder this is, or None."""
    try:
        pid = int((folder / "pid").read_text())
        command = Path("/proc/%d/cmdline" % pid).read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if str(folder / OFF).encode() in command else None


def start(slot, index, disk, folder, memory, enis, accelerator):
    """Start one machine unless it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    if running(folder) is not None:
        return
    stay_off(folder, False)
    command = ["sh", "-c", LOOP, str(folder / OFF), *arguments(slot, index, disk, folder, memory, enis, accelerator)]
    with (folder / "qemu.log").open("wb") as log:
        loop = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    (folder / "pid").write_text(str(loop.pid))
    try:
        # What QEMU refuses, it refuses at once.
        loop.wait(START_SECONDS)
    except subprocess.TimeoutExpired:
        return
    raise LabError("QEMU did not start: %s" % (folder / "qemu.log").read_text().strip())


def stop(folder):
    """Switch one machine off, as pulling the plug does, and wait until it is gone."""
    pid = running(folder)
    if pid is None:
        return
    os.killpg(pid, signal.SIGKILL)
    while running(folder) is not None:
        time.sleep(0.05)


def stay_off(folder, on):
    """Set whether a machine stays off at its next reboot."""
    if on:
        (folder / OFF).touch()
    else:
        (folder / OFF).unlink(missing_ok=True)


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

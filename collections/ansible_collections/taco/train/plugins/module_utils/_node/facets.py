# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read settings that are usually the same on all hosts of a fleet. Everything is read below a given root; no command is run here."""

import os
import re
from typing import Dict, List

SYSCTLS = (
    *("net/core/rmem_max", "net/core/wmem_max", "net/core/rmem_default", "net/core/wmem_default", "net/core/somaxconn"),
    *("net/core/netdev_max_backlog", "net/core/default_qdisc", "net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem"),
    *("net/ipv4/tcp_congestion_control", "net/ipv4/tcp_mtu_probing", "net/ipv4/tcp_timestamps", "net/ipv4/tcp_sack"),
    *("net/ipv4/tcp_slow_start_after_idle", "vm/swappiness", "vm/zone_reclaim_mode", "vm/overcommit_memory"),
    *("kernel/numa_balancing", "kernel/sched_autogroup_enabled", "kernel/randomize_va_space"),
)
SETTINGS = {
    "cpu_governor": "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cpu_frequency_max": "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
    "cpu_smt": "sys/devices/system/cpu/smt/control",
    "cpu_online": "sys/devices/system/cpu/online",
    "numa_nodes": "sys/devices/system/node/online",
    "clocksource": "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "transparent_hugepages": "sys/kernel/mm/transparent_hugepage/enabled",
    "nvidia_driver": "sys/module/nvidia/version",
    "bios_version": "sys/class/dmi/id/bios_version",
    "board": "sys/class/dmi/id/product_name",
}
OF_NIC = ("mtu", "speed", "duplex", "tx_queue_len")
OF_DEVICE = ("numa_node", "current_link_width", "max_link_width", "max_link_speed")
NVIDIA, GPU_CLASS = "0x10de", "0x03"
WORDS = re.compile(r"^(model name|microcode)\s*:\s*(.+)$", re.MULTILINE)


def _read(*path: str) -> str:
    """The text of a file on one line, empty when it can't be read."""
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return " ".join(file.read().split())
    except (OSError, ValueError):
        return ""


def _names(*path: str) -> List[str]:
    try:
        return sorted(os.listdir(os.path.join(*path)))
    except OSError:
        return []


def _nic(folder: str) -> Dict[str, str]:
    """The settings of an interface, with those of its PCI device."""
    found = {name: _read(folder, name) for name in OF_NIC}
    found.update({name: _read(folder, "device", name) for name in OF_DEVICE})
    queues = _names(folder, "queues")
    found["rx_queues"] = str(sum(name.startswith("rx-") for name in queues))
    found["tx_queues"] = str(sum(name.startswith("tx-") for name in queues))
    found["driver_version"] = _read(folder, "device", "driver", "module", "version")
    return {name: value for name, value in found.items() if value}


def _gpus(root: str) -> List[Dict[str, str]]:
    """The PCI links and NUMA nodes of the NVIDIA GPUs, in the order of their addresses."""
    bus = os.path.join(root, "sys/bus/pci/devices")
    devices = [os.path.join(bus, name) for name in _names(bus)]
    gpus = [one for one in devices if _read(one, "vendor") == NVIDIA and _read(one, "class").startswith(GPU_CLASS)]
    return [{name: _read(one, name) for name in OF_DEVICE if _read(one, name)} for one in gpus]


def facets(root: str) -> Dict[str, object]:
    """The settings of a host by name; what can't be read is absent."""
    net = os.path.join(root, "sys/class/net")
    nics = {
        name: _nic(os.path.join(net, name)) for name in _names(net) if os.path.exists(os.path.join(net, name, "device"))
    }
    settings = {name: _read(root, path) for name, path in SETTINGS.items()}
    try:
        with open(os.path.join(root, "proc/cpuinfo"), encoding="utf-8", errors="replace") as file:
            settings.update({name.replace(" ", "_"): value for name, value in WORDS.findall(file.read())})
    except OSError:
        pass
    sysctls = {name.replace("/", "."): _read(root, "proc/sys", name) for name in SYSCTLS}
    return {
        "settings": {name: value for name, value in settings.items() if value},
        "sysctls": {name: value for name, value in sysctls.items() if value},
        "nics": nics,
        "gpus": _gpus(root),
    }

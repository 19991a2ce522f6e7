# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read settings that are usually the same on all hosts of a fleet. Everything is read below a given root; no command is run here.

The details that files don't have come from the caller (details.py).
"""

import os
import re
from typing import Callable, Dict, List, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.details import dpkg_packages, with_gpu_settings
from ansible_collections.taco.train.plugins.module_utils._node.gpus import PCI, pci_gpus
from ansible_collections.taco.train.plugins.module_utils._node.nics import default_interfaces, names_in, read_text

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
# An idle GPU lowers the speed of its link, an interface doesn't.
OF_NIC_DEVICE = (*OF_DEVICE, "current_link_speed")
WORDS = re.compile(r"^(model name|microcode)\s*:\s*(.+)$", re.MULTILINE)


def _line(*path: str) -> str:
    return " ".join(read_text(*path).split())


def _nic(folder: str) -> Dict[str, str]:
    """The settings of an interface, with those of its PCI device, which of a virtio device is the one above it."""
    found = {name: _line(folder, name) for name in OF_NIC}
    device = os.path.realpath(os.path.join(folder, "device"))
    carrier = os.path.dirname(device) if os.path.basename(device).startswith("virtio") else device
    found.update({name: _line(carrier, name) for name in OF_NIC_DEVICE})
    queues = names_in(folder, "queues")
    found["rx_queues"] = str(sum(name.startswith("rx-") for name in queues))
    found["tx_queues"] = str(sum(name.startswith("tx-") for name in queues))
    found["driver_version"] = _line(folder, "device", "driver", "module", "version")
    return {name: value for name, value in found.items() if value}


def _gpus(root: str) -> List[Dict[str, str]]:
    """The PCI links and NUMA nodes of the NVIDIA GPUs, in the order of their addresses."""
    gpus = []
    for address in [gpu["pci"] for gpu in pci_gpus(root)]:
        settings = {name: _line(root, PCI, address, name) for name in OF_DEVICE}
        gpus.append(dict({name: value for name, value in settings.items() if value}, pci=address))
    return gpus


def facets(
    root: str,
    driver_of: Callable[[str], Mapping[str, str]],
    gpu_settings: Callable[[], Dict[str, Dict[str, str]]],
    packages: Callable[[], Dict[str, str]],
) -> Dict[str, object]:
    """The settings of a host by name; what can't be read is absent. Packages are asked for where there is no status of dpkg."""
    net = os.path.join(root, "sys/class/net")
    # Beside those with a device the one of the default route, which may be a bond, or has no device in a container or a namespace.
    routed = default_interfaces(read_text(root, "proc/net/route"))
    nics = {
        name: dict(_nic(os.path.join(net, name)), **driver_of(name))
        for name in names_in(net)
        if name in routed or os.path.exists(os.path.join(net, name, "device"))
    }
    settings = {name: _line(root, path) for name, path in SETTINGS.items()}
    cpuinfo = read_text(root, "proc/cpuinfo")
    settings.update({name.replace(" ", "_"): value for name, value in WORDS.findall(cpuinfo)})
    gpus = _gpus(root)
    sysctls = {name.replace("/", "."): _line(root, "proc/sys", name) for name in SYSCTLS}
    return {
        "settings": {name: value for name, value in settings.items() if value},
        "sysctls": {name: value for name, value in sysctls.items() if value},
        "nics": nics,
        "gpus": with_gpu_settings(gpus, gpu_settings() if gpus else {}),
        "packages": dpkg_packages(read_text(root, "var/lib/dpkg/status")) or packages(),
    }

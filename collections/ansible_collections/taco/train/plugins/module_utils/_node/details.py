# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facets of a host that files don't have: the firmware of interfaces, settings of GPUs, versions of packages. Text in, values out.

The driver of an interface is asked by a system call, as C(ethtool -i) does, so that ethtool itself need not be there.
"""

import array
import contextlib
import fcntl
import re
import socket
import struct
from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.module_utils._node.gpus import normal_address

# Of linux/sockios.h and linux/ethtool.h.
SIOCETHTOOL, ETHTOOL_GDRVINFO = 0x8946, 0x3
DRIVER_INFO = struct.Struct("=I32s32s32s32s32s12s5I")

GPU = {
    "clock_max": "clocks.max.sm",
    "memory_clock_max": "clocks.max.memory",
    "application_clock": "clocks.applications.graphics",
    "ecc_mode": "ecc.mode.current",
    "power_limit": "power.limit",
    "persistence_mode": "persistence_mode",
    "compute_mode": "compute_mode",
    "vbios": "vbios_version",
    "pcie_generation_max": "pcie.link.gen.max",
    "pcie_width_max": "pcie.link.width.max",
}
GPU_COMMAND = ["nvidia-smi", "--query-gpu=pci.bus_id," + ",".join(GPU.values()), "--format=csv,noheader,nounits"]

PACKAGES = (
    *(
        "containerd.io",
        "docker-ce",
        "nvidia-container-toolkit",
        "libnvidia-container1",
        "libnccl2",
        "libnccl",
        "rdma-core",
    ),
    *(
        "mlnx-ofa_kernel",
        "mlnx-ofed-kernel-dkms",
        "doca-ofed",
        "openmpi",
        "openmpi-bin",
        "datacenter-gpu-manager",
        "irqbalance",
    ),
    *("tuned", "numactl", "libc6", "glibc"),
)
# Packages whose names have the version of the driver in them.
FAMILY = re.compile(r"^(nvidia-fabric-?manager|nvidia-driver|cuda-drivers|nvidia-peermem|nvidia-gdrcopy)\b")
# By names, because a list of all packages takes a second.
RPM_NAMES = (
    *PACKAGES,
    "nvidia-fabric-manager",
    "nvidia-fabricmanager",
    "nvidia-driver",
    "cuda-drivers",
    "nvidia-gdrcopy",
)
RPM_COMMAND = ["rpm", "-q", "--qf", r"%{NAME} %{VERSION}-%{RELEASE}\n", *RPM_NAMES]


def driver_info(data: bytes) -> Dict[str, str]:
    """The versions in the answer of the kernel about the driver of an interface."""
    _command, driver, version, firmware = DRIVER_INFO.unpack(data)[:4]
    found = {"driver": driver, "driver_version": version, "firmware": firmware}
    texts = {name: value.partition(b"\0")[0].decode("ascii", "replace").strip() for name, value in found.items()}
    return {name: text for name, text in texts.items() if text and text != "N/A"}


def driver_of(interface: str) -> Dict[str, str]:
    """The driver of an interface of the running system with its firmware, empty where the kernel doesn't say."""
    answer = array.array("B", struct.pack("=I", ETHTOOL_GDRVINFO) + bytes(DRIVER_INFO.size - 4))
    request = struct.pack("16sP", interface.encode("ascii", "replace")[:15], answer.buffer_info()[0])
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        fcntl.ioctl(connection.fileno(), SIOCETHTOOL, request)
        return driver_info(answer.tobytes())
    return {}


def gpu_settings(text: str) -> Dict[str, Dict[str, str]]:
    """The settings of each GPU by its PCI address, from what nvidia-smi prints for GPU_COMMAND."""
    found = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == len(GPU) + 1 and re.match(r"^[0-9A-Fa-f:.]+$", fields[0]):
            values = dict(zip(GPU, fields[1:]))
            known = {name: value for name, value in values.items() if value and value[0] != "[" and value != "N/A"}
            found[normal_address(fields[0])] = known
    return found


def _of_note(name: str) -> bool:
    return name in PACKAGES or FAMILY.match(name) is not None


def dpkg_packages(status: str) -> Dict[str, str]:
    """The versions of the packages of note in C(/var/lib/dpkg/status)."""
    found = {}
    for stanza in status.split("\n\n"):
        name = re.match(r"Package: (\S+)\n", stanza)
        if name and _of_note(name.group(1)) and "\nStatus: install ok installed\n" in stanza:
            version = re.search(r"^Version: (\S+)$", stanza, re.MULTILINE)
            if version:
                found[name.group(1)] = version.group(1)
    return found


def rpm_packages(text: str) -> Dict[str, str]:
    """The versions of the packages of note in the output of RPM_COMMAND."""
    pairs = [line.split() for line in text.splitlines()]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and _of_note(pair[0])}


def with_gpu_settings(gpus: List[Dict[str, Any]], settings: Dict[str, Dict[str, str]]) -> List[Dict[str, Any]]:
    """GPUs of the PCI bus with their settings by nvidia-smi; their addresses are no facets."""
    return [
        dict({key: value for key, value in gpu.items() if key != "pci"}, **settings.get(gpu["pci"], {})) for gpu in gpus
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""See which NVIDIA GPUs a host has, by what nvidia-smi printed or by the PCI bus below a given root."""

import os
import re
from typing import Any, Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._node.nics import names_in, read_text

# What C(nvidia-smi --query-gpu) is asked for, in this order.
QUERY = "index,uuid,pci.bus_id,driver_version,name"
# Without persistence mode the driver initialises every GPU first, which takes up to 3 s for each of up to 16.
QUERY_SECONDS = 60
PCI = "sys/bus/pci/devices"
NVIDIA = "0x10de"
# VGA and 3D controllers.
CLASSES = ("0x0300", "0x0302")
DEVICE = ("index", "pci", "name", "uuid")


def normal_address(address: str) -> str:
    """Return a PCI address as sysfs writes it. nvidia-smi writes the domain with 8 digits and in upper case."""
    match = re.match(r"^(?:([0-9a-f]+):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$", address.strip().lower())
    if not match:
        return address.strip().lower()
    return f"{int(match.group(1) or '0', 16):04x}:{match.group(2)}"


def _known(text: str) -> Optional[str]:
    """Return the text, or None where nvidia-smi says that it can't tell."""
    return None if not text or text.startswith("[") or text == "N/A" else text


def parse_nvidia_smi(text: str) -> List[Dict[str, Any]]:
    """Return the GPUs in the CSV that nvidia-smi prints for QUERY. Other lines, such as warnings, are passed over."""
    gpus = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",", 4)]
        if len(fields) != 5 or not fields[0].isdecimal():
            continue
        index, uuid, pci, driver, name = fields
        gpus.append(
            {
                "index": int(index),
                "pci": normal_address(pci),
                "name": _known(name),
                "uuid": _known(uuid),
                "driver_version": _known(driver),
            }
        )
    return gpus


def pci_gpus(root: str) -> List[Dict[str, Any]]:
    """Return the GPUs on the PCI bus. This works without a driver, but names nothing."""
    devices = os.path.join(root, PCI)
    gpus = []
    for address in names_in(devices):
        folder = os.path.join(devices, address)
        if read_text(folder, "vendor") == NVIDIA and read_text(folder, "class").startswith(CLASSES):
            gpus.append({"index": None, "pci": normal_address(address), "name": None, "uuid": None})
    return gpus


def query_problem(status: Optional[int], stdout: str, stderr: str) -> Optional[str]:
    """Return why nvidia-smi, which is installed, listed no GPU; None when it did."""
    if status == 0 and parse_nvidia_smi(stdout):
        return None
    words = " ".join((stderr or stdout).split())[:200]
    return words if status is None else f"nvidia-smi ended with status {status}: {words or 'no output'}"


def manifest_gpus(manifest: Any) -> List[Dict[str, Any]]:
    """Return the GPUs that a host manifest describes, empty when it can't be used."""
    found = manifest.get("gpus") if isinstance(manifest, dict) else None
    if not isinstance(found, list) or not all(isinstance(gpu, dict) and set(gpu) == set(DEVICE) for gpu in found):
        return []
    known = all(
        isinstance(gpu["pci"], str)
        and isinstance(gpu["index"], (int, type(None)))
        and all(isinstance(gpu[key], (str, type(None))) for key in ("name", "uuid"))
        for gpu in found
    )
    return found if known else []


def judge_gpus(
    nvidia_smi: Optional[str],
    on_bus: List[Dict[str, Any]],
    problem: Optional[str] = None,
    earlier: Sequence[Dict[str, Any]] = (),
) -> Dict[str, Any]:
    """Return the GPUs of the host. nvidia-smi is believed where it lists some, as only those can be used.

    Where it is installed and has a problem, and the PCI bus has the same GPUs as earlier, their details are the earlier ones.
    """
    listed = parse_nvidia_smi(nvidia_smi or "")
    if listed:
        driver = listed[0]["driver_version"]
        devices = [{key: gpu[key] for key in DEVICE} for gpu in listed]
        found = {"count": len(devices), "source": "nvidia-smi", "driver_version": driver, "devices": devices}
        return dict(found, problem=None)
    if problem and sorted(gpu["pci"] for gpu in on_bus) == sorted(gpu["pci"] for gpu in earlier):
        on_bus = [dict(gpu) for gpu in earlier]
    source = "pci" if on_bus else "none"
    return {"count": len(on_bus), "source": source, "driver_version": None, "devices": on_bus, "problem": problem}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the metadata service of an instance. How an address is fetched is up to the caller."""

import ipaddress
from typing import Any, Callable, Dict, List, Optional

BASE = "http://metadata.tencentyun.com/latest/meta-data/"

# Returns the text at a path below the base, or None where there is none.
Get = Callable[[str], Optional[str]]


class MetadataError(Exception):
    """The service answered, but not as a metadata service does."""


def _entries(text: Optional[str]) -> List[str]:
    """Return the names in a listing, in which those of folders end in a slash."""
    return [line.strip().rstrip("/") for line in (text or "").splitlines() if line.strip()]


def _interface(get: Get, mac: str) -> Dict[str, Any]:
    # The service writes MAC addresses in upper case and compares them so; the kernel writes them in lower case.
    base = f"network/interfaces/macs/{mac}/"
    addresses = []
    for address in _entries(get(base + "local-ipv4s/")):
        one = f"{base}local-ipv4s/{address}/"
        addresses.append(
            {"local_ipv4": address, "gateway": get(one + "gateway"), "subnet_mask": get(one + "subnet-mask")}
        )
    return {
        "mac": mac.lower(),
        "primary_local_ipv4": get(base + "primary-local-ipv4"),
        "vpc_id": get(base + "vpc-id"),
        "subnet_id": get(base + "subnet-id"),
        "addresses": addresses,
    }


def read_metadata(get: Get) -> Dict[str, Any]:
    """Return what the service knows about this instance; ENIs that nobody has configured are in it with addresses."""
    instance = get("instance-id")
    if not instance or "\n" in instance or "<" in instance:
        raise MetadataError(f"expected an instance ID at instance-id, found {(instance or 'nothing')[:80]!r}")
    mac = get("mac")
    return {
        "instance_id": instance,
        "instance_type": get("instance/instance-type"),
        "region": get("placement/region"),
        "zone": get("placement/zone"),
        "local_ipv4": get("local-ipv4"),
        "mac": mac.lower() if mac else None,
        "interfaces": [_interface(get, one) for one in _entries(get("network/interfaces/macs/"))],
    }


def vpc_addresses(metadata: Dict[str, Any]) -> Dict[str, List[str]]:
    """Return the addresses of each interface, by its MAC address, that the metadata of the instance holds."""
    found = {}  # type: Dict[str, List[str]]
    for interface in metadata.get("interfaces") or []:
        addresses = found.setdefault(interface["mac"], [])
        for entry in interface["addresses"] or [{"local_ipv4": interface["primary_local_ipv4"], "subnet_mask": None}]:
            try:
                text = f"{entry['local_ipv4']}/{entry['subnet_mask'] or 32}"
                addresses.append(str(ipaddress.ip_interface(text)))
            except ValueError:
                continue
    return found


def is_tencent(*vendors: str) -> bool:
    """Return whether what the firmware says about itself names the vendor of the cloud."""
    return any("tencent" in vendor.lower() for vendor in vendors)

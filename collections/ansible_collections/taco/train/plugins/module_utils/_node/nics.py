# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""See which network interfaces a host has. Everything is read below a given root; no command is run here."""

import os
import re
from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Optional, Set

ROUTE_UP, ROUTE_REJECT = 0x1, 0x200


class Primary(NamedTuple):
    """The primary interface with all that carry it, or the interfaces of which one is."""

    first: Optional[str]
    certain: FrozenSet[str]
    candidates: FrozenSet[str]


def default_interfaces(route: str, route6: str = "") -> List[str]:
    """Return the interfaces of the default routes with the lowest metric, from /proc/net/route and /proc/net/ipv6_route."""
    found = []
    for line in route.splitlines()[1:]:
        fields = line.split()
        if (
            len(fields) >= 8
            and fields[1] == fields[7] == "00000000"
            and int(fields[3], 16) & (ROUTE_UP | ROUTE_REJECT) == ROUTE_UP
        ):
            found.append((int(fields[6]), fields[0]))
    if not found:
        for line in route6.splitlines():
            fields = line.split()
            if len(fields) >= 10 and fields[0] == "0" * 32 and fields[1] == "00" and fields[9] != "lo":
                found.append((int(fields[5], 16), fields[9]))
    lowest = min(found)[0] if found else None
    return list(dict.fromkeys(name for metric, name in found if metric == lowest))


def decide_primary(
    defaults: List[str],
    physical: Set[str],
    below: Callable[[str], Set[str]],
    by_metadata: Optional[str] = None,
    reached: Optional[str] = None,
) -> Primary:
    """Return the primary interface: the one with the default route.

    Where several or none have it, it is the one that the metadata of the instance names, else the one at which the SSH connection arrives.
    below returns an interface and all that carry it; physical are those with a device. One of them carries a VPN with the default route.
    """
    stacks = {name: below(name) for name in defaults}
    virtual = set()  # type: Set[str]
    if physical and not any(stack & physical for stack in stacks.values()):
        virtual = set().union(*stacks.values())
        stacks = {name: below(name) for name in sorted(physical)}
    if len({frozenset(stack & physical if physical else stack) for stack in stacks.values()}) == 1:
        return Primary(next(iter(stacks)), frozenset(virtual.union(*stacks.values())), frozenset())
    for known in (by_metadata, reached):
        carriers = below(known) if known else set()
        for name, stack in stacks.items():
            if known in stack or name in carriers:
                return Primary(name, frozenset(virtual | stack | carriers), frozenset())
    shared = set.intersection(*stacks.values()) if stacks else set()
    return Primary(None, frozenset(virtual | shared), frozenset(set().union(*stacks.values()) - shared))


PCI = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
VIRTIO = re.compile(r"^virtio\d+$")
# The port that stands for a virtual function or a subfunction in the switch of a card, at the PCI address of the card.
REPRESENTOR = re.compile(r"^(c\d+)?pf\d+[vs]f\d+$")
ETHERNET_CLASS = "0x0200"
# A network device that one of these drives has no interface: a program in user space owns it.
USERSPACE_DRIVERS = ("vfio-pci", "uio_pci_generic", "igb_uio")
INTERFACE_UP = 0x1
# Of if_arp.h in Linux.
LOOPBACK_TYPE, INFINIBAND_TYPE = "772", "32"
# Interfaces that can be the primary one, if they are on the PCI bus.
PORTS = ("physical", "bond_member", "infiniband", "virtual_function")


def read_text(*path: str) -> str:
    """Return the text of a file, empty when it can't be read, as many attributes of interfaces that are down can't."""
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def names_in(*path: str) -> List[str]:
    """The names in a folder, none when it can't be read."""
    try:
        return sorted(os.listdir(os.path.join(*path)))
    except OSError:
        return []


def _number(text: str) -> Optional[int]:
    try:
        return int(text, 0)
    except ValueError:
        return None


def natural(name: str) -> List[Any]:
    """Return a sort key that puts eth2 before eth10."""
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.findall(r"\d+|\D+", name)]


def pci_address(device: str) -> Optional[str]:
    """Return the PCI address in the resolved path of a device, or None when the device isn't on the PCI bus itself.

    A virtio device hangs below the PCI device that carries it, so its parent counts. Further up is somebody else: the
    parent of a USB adapter is the controller of the USB bus.
    """
    parts = device.rstrip("/").split("/")
    if VIRTIO.match(parts[-1]):
        parts = parts[:-1]
    return parts[-1] if parts and PCI.match(parts[-1]) else None


def numa_node(text: str) -> Optional[int]:
    """Return a NUMA node, or None when the platform doesn't say. Virtual machines often answer -1."""
    number = _number(text)
    return number if number is not None and number >= 0 else None


def parse_addresses(text: str) -> Dict[str, List[str]]:
    """Return the addresses of each interface from the output of C(ip -o addr), without link-local and temporary ones.

    The one-line form and not JSON: the C(ip) of EL 7 has no JSON.
    """
    addresses: Dict[str, List[str]] = {}
    for line in text.splitlines():
        match = re.match(r"^\d+:\s+(\S+)\s+inet6?\s+(\S+)", line)
        if not match or re.search(r"\bscope link\b|\btemporary\b", line):
            continue
        address = match.group(2)
        if "/" not in address:
            address += "/128" if ":" in address else "/32"
        addresses.setdefault(match.group(1).split("@")[0], []).append(address)
    return addresses


def _is_team(master: str, mac: str) -> bool:
    """Whether the master of an interface is a team, of which sysfs says no more than that its members have its address."""
    others = any(os.path.exists(os.path.join(master, name)) for name in ("bridge", "device"))
    return bool(mac) and read_text(master, "address") == mac and not others


def _kind(folder: str, name: str) -> str:
    hardware = read_text(folder, "type")
    if name == "lo" or hardware == LOOPBACK_TYPE:
        return "loopback"
    if os.path.isdir(os.path.join(folder, "bonding")) or os.path.isdir(os.path.join(folder, "team")):
        return "bond"
    if os.path.isdir(os.path.join(folder, "bonding_slave")):
        return "bond_member"
    master = os.path.join(folder, "master")
    if os.path.isdir(os.path.join(master, "bonding")) or _is_team(master, read_text(folder, "address")):
        return "bond_member"
    if os.path.isdir(os.path.join(folder, "bridge")):
        return "bridge"
    if not os.path.exists(os.path.join(folder, "device")):
        return "virtual"
    if hardware == INFINIBAND_TYPE:
        return "infiniband"
    # In a guest, an ENI may be a virtual function as well. Its card is not on this host, so it has no such link.
    is_function = os.path.exists(os.path.join(folder, "device", "physfn"))
    return "virtual_function" if is_function or REPRESENTOR.match(read_text(folder, "phys_port_name")) else "physical"


def _up(folder: str) -> bool:
    state = read_text(folder, "operstate")
    if state in ("", "unknown"):
        return bool((_number(read_text(folder, "flags")) or 0) & INTERFACE_UP)
    return state == "up"


def _below(classes: str, name: Optional[str]) -> Set[str]:
    """Return an interface and all that carry it: the port below a bridge, the interface below a VLAN."""
    seen: Set[str] = set()
    todo = [name] if name else []
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(entry[len("lower_") :] for entry in names_in(classes, one) if entry.startswith("lower_"))
    return seen


def _interface(folder: str, name: str, primary: Optional[bool], addresses: List[str]) -> Dict[str, Any]:
    device = os.path.realpath(os.path.join(folder, "device"))
    driver = os.path.join(device, "driver")
    kind = _kind(folder, name)
    real = os.path.exists(os.path.join(folder, "device"))
    # A member of a bond shows the address of the bond; its own is elsewhere.
    mac = read_text(folder, "bonding_slave", "perm_hwaddr") or read_text(folder, "address")
    pci = pci_address(device) if real else None
    carrier = os.path.dirname(device) if VIRTIO.match(os.path.basename(device)) else device
    return {
        "name": name,
        "mac": mac.lower(),
        "pci": pci,
        "numa_node": numa_node(read_text(carrier, "numa_node")) if pci else None,
        "driver": os.path.basename(os.path.realpath(driver)) if real and os.path.exists(driver) else None,
        "kind": kind,
        "up": _up(folder),
        "primary": primary,
        "addresses": addresses,
    }


def _userspace_nics(devices: str, known: Set[Optional[str]]) -> List[Dict[str, Any]]:
    """Return the network devices that a program in user space owns, named by their PCI address, as they have no name."""
    nics = []  # type: List[Dict[str, Any]]
    for pci in names_in(devices):
        folder = os.path.join(devices, pci)
        driver = os.path.basename(os.path.realpath(os.path.join(folder, "driver")))
        if pci in known or driver not in USERSPACE_DRIVERS or not read_text(folder, "class").startswith(ETHERNET_CLASS):
            continue
        nics.append(
            {
                "name": pci,
                "mac": "",
                "pci": pci,
                "numa_node": numa_node(read_text(folder, "numa_node")),
                "driver": driver,
                "kind": "physical",
                "up": False,
                "primary": False,
                "addresses": [],
            }
        )
    return nics


def observe_nics(
    root: str,
    addresses: Dict[str, List[str]],
    first_mac: Optional[str] = None,
    reached: Optional[str] = None,
) -> List[Dict[str, Any]]:
    """Return all interfaces of the host below root, the primary one first, then by name.

    What carries the primary interface (the port below a bridge, say) is marked primary as well: it is no ENI either. Where more than
    one can be the primary interface, each of them is marked None. first_mac is the MAC address of the primary one by the metadata of the
    instance, reached is the interface of the SSH connection.
    """
    classes = os.path.join(root, "sys/class/net")
    names = [name for name in names_in(classes) if os.path.isdir(os.path.join(classes, name))]
    nics = [_interface(os.path.join(classes, one), one, False, addresses.get(one, [])) for one in names]
    physical = {nic["name"] for nic in nics if nic["kind"] in PORTS and nic["pci"]}
    first, certain, candidates = decide_primary(
        default_interfaces(read_text(root, "proc/net/route"), read_text(root, "proc/net/ipv6_route")),
        physical,
        lambda name: _below(classes, name),
        next((nic["name"] for nic in nics if nic["mac"] == first_mac and nic["name"] in physical), None),
        reached if reached in names else None,
    )
    carriers = _below(classes, reached) if reached in names else set()
    nics += _userspace_nics(os.path.join(root, "sys/bus/pci/devices"), {nic["pci"] for nic in nics})
    for nic in nics:
        nic["primary"] = None if nic["name"] in candidates else nic["name"] in certain
        nic["reached"] = nic["name"] in carriers
    return sorted(nics, key=lambda nic: (nic["name"] != first, natural(nic["name"])))

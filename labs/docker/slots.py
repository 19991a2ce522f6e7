# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The slot of a lab: a number that separates its bridges and addresses from those of other labs on this machine.

Other labs can be those of another checkout, or what is left of a lab that was killed. Neither is touched.
"""

import socket
import struct
from pathlib import Path

from shell import LabError
from state import write

SLOTS = 16
FIRST_OCTET = 177
LINKS = Path("/sys/class/net")
ROUTES = Path("/proc/net/route")


def subnet(slot, third):
    """The first three octets of a /24 network of a slot."""
    return f"10.{FIRST_OCTET + slot}.{third}"


def links_of(name, links=LINKS):
    """The network interfaces of a slot, whose names are NAME or begin with NAME and a hyphen; sorted."""
    return sorted(path.name for path in links.iterdir() if path.name == name or path.name.startswith(name + "-"))


def routed(table):
    """The first three octets of every IPv4 network that a routing table in the format of /proc/net/route contains."""
    destinations = [line.split()[1] for line in table.splitlines()[1:] if line.strip()]
    addresses = [socket.inet_ntoa(struct.pack("=L", int(text, 16))) for text in destinations]
    return {address.rpartition(".")[0] for address in addresses}


def choose(prefix, thirds, file, links=LINKS, routes=ROUTES):
    """Choose the first slot without interfaces of its names and routes to its networks, and write it to a file.

    prefix is the first part of the names of the interfaces, thirds the third octets of the networks.
    """
    networks = routed(routes.read_text(encoding="ascii")) if routes.exists() else set()
    for slot in range(SLOTS):
        if not links_of(f"{prefix}{slot}", links) and not networks & {subnet(slot, third) for third in thirds}:
            write(file, f"{slot}\n")
            return slot
    raise LabError(
        f"this machine has interfaces {prefix}0 to {prefix}{SLOTS - 1} or routes to {subnet(0, thirds[0])}.0/24 to "
        f"{subnet(SLOTS - 1, thirds[0])}.0/24; run make lab-down and make vm-down in the repositories of those labs"
    )


def kept(file):
    """The slot that choose wrote to a file, or None."""
    try:
        slot = int(file.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None
    return slot if 0 <= slot < SLOTS else None

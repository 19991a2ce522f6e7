# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the interface at which the SSH connection of this process arrives."""

import ipaddress
import os
from typing import Dict, Iterator, List, Mapping, Optional

# The client's address and port, and the server's; sshd sets it for what it starts.
VARIABLE = "SSH_CONNECTION"


def _environment(pid: int) -> Dict[str, str]:
    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        pairs = (entry.partition("=") for entry in file.read().split("\0"))
        return {name: value for name, _equals, value in pairs}


def _parent(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        # A program's name may hold spaces and parentheses; the last one ends it.
        return int(file.read().rpartition(")")[2].split()[1])


def environments() -> Iterator[Mapping[str, str]]:
    """Yield the environment of this process and of those that started it. sudo clears the variable, but has it itself."""
    yield os.environ
    pid = os.getppid()
    while pid > 1:
        try:
            yield _environment(pid)
            pid = _parent(pid)
        except (OSError, ValueError, IndexError):
            return


def local_address(found: Iterator[Mapping[str, str]]) -> Optional[str]:
    """Return this host's address in the connection, None when there is no SSH connection."""
    connections = (environment.get(VARIABLE, "").split() for environment in found)
    return next((fields[2] for fields in connections if len(fields) == 4), None)


def interface_of(address: Optional[str], addresses: Mapping[str, List[str]]) -> Optional[str]:
    """Return the interface that has an address, None when there is none. A link-local address names its interface."""
    bare, _percent, zone = (address or "").partition("%")
    if zone:
        return zone
    try:
        wanted = ipaddress.ip_address(bare)
    except ValueError:
        return None
    mapped = getattr(wanted, "ipv4_mapped", None)
    for name, known in addresses.items():
        if name != "lo" and any(ipaddress.ip_interface(one).ip == (mapped or wanted) for one in known):
            return name
    return None


def reached_interface(addresses: Mapping[str, List[str]]) -> Optional[str]:
    return interface_of(local_address(environments()), addresses)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide which network interface of a host is the primary one. Values in, values out."""

from typing import Callable, FrozenSet, List, NamedTuple, Optional, Set

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

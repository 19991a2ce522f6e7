# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell which interfaces of a host are the ENIs meant for HARP, and what is wrong with them. Values in, values out."""

import ipaddress
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.failure import some

Nic = Dict[str, Any]
# A host has up to sixteen; whoever looks for a missing one needs the names of the others.
MOST_ENIS = 16
REASONS = {
    "infiniband": "InfiniBand port",
    "virtual_function": "virtual function of a card of this host",
}
# Of the module eni_check.
OPTIONS = dict(
    argument_spec=dict(
        expected=dict(type="int", required=True),
        pattern=dict(type="str"),
        subnet=dict(type="list", elements="str", default=[]),
        nics=dict(type="list", elements="dict"),
        sysroot=dict(type="path", default="/"),
    )
)


class EniError(Exception):
    """The pattern or a subnet can't be read."""


class AmbiguousError(EniError):
    """More than one interface can be the primary one. The problem is the message without what helps."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}. Set pattern (eni_pattern) to a regular expression that matches the ENIs and not the primary interface, or on an "
            "instance of Tencent Cloud pass the nics of node_info with metadata: auto (preflight_metadata: auto)"
        )
        self.problem = problem


def refusal(problems: Sequence[str]) -> str:
    """Return what a person reads about ENIs that are not what was asked for, with what puts it right."""
    fix = "Attach or detach ENIs, correct expected (eni_count) or subnet (eni_subnets), or select the ENIs with pattern (eni_pattern)"
    return f"{'; '.join(problems)}. {fix}"


def _check_primary(nics: Sequence[Nic], unclear: Sequence[Nic]) -> None:
    """Raise where one of the interfaces that would be taken for ENIs can be the primary one."""
    if unclear:
        possible = [nic for nic in nics if nic["primary"] is None]
        raise AmbiguousError(
            "the primary interface is ambiguous: expected one default route of the lowest metric, found none or several, so each of "
            f"{some(map(describe, possible))} can be the primary one"
        )


def find_enis(nics: Sequence[Nic], pattern: Optional[str] = None) -> List[Nic]:
    """Return the secondary ENIs among the interfaces, in the order given.

    Without a pattern these are the PCI network devices that are neither primary nor members of a bond. With one they
    are what the pattern finds among the names; they need no PCI device then, but bonds and bridges stay left out. The
    interface at which the SSH connection arrives is never one. Where more than one can be the primary interface, a pattern
    that matches not all of them decides.
    """
    nics = [nic for nic in nics if not nic.get("reached")]
    if not pattern:
        found = [nic for nic in nics if nic["kind"] == "physical" and nic["pci"] and nic["primary"] is not True]
        _check_primary(nics, [nic for nic in found if nic["primary"] is None])
        return found
    try:
        search = re.compile(pattern).search
    except re.error as error:
        raise EniError(f"the pattern {pattern!r} is not a regular expression: {error}") from error
    found = [
        nic
        for nic in nics
        if nic["kind"] in ("physical", "virtual") and nic["primary"] is not True and search(nic["name"])
    ]
    unclear = [nic for nic in nics if nic["primary"] is None]
    _check_primary(nics, unclear if unclear and all(search(nic["name"]) for nic in unclear) else [])
    return found


def describe(nic: Nic) -> str:
    """Return an interface in words, such as V(eth1 (52:54:00:00:00:01, 0000:00:06.0))."""
    details = [nic["mac"] or "address unknown"]
    if nic["pci"] and nic["pci"] != nic["name"]:
        details.append(nic["pci"])
    return f"{nic['name']} ({', '.join(details)})"


def _names(enis: Sequence[Nic]) -> str:
    return some(map(describe, enis), MOST_ENIS) or "none"


def _shared(enis: Sequence[Nic], key: str, what: str) -> List[str]:
    """Return a sentence for each MAC or PCI address that more than one ENI has."""
    by_value: Dict[str, List[str]] = {}
    for eni in enis:
        if eni[key]:
            by_value.setdefault(eni[key], []).append(eni["name"])
    return [
        f"{some(names, separator=' and ')} have the same {what} {value}"
        for value, names in by_value.items()
        if len(names) > 1
    ]


def network_of(subnet: str) -> Any:
    """The network that a subnet in the notation 10.0.1.0/24 names."""
    try:
        return ipaddress.ip_network(str(subnet), strict=False)
    except ValueError as error:
        raise EniError(f"the subnet {subnet!r} is not a network such as 10.0.1.0/24: {error}") from error


def _misplaced(enis: Sequence[Nic], subnets: Sequence[str]) -> List[str]:
    """Return sentences on the ENIs without an address in one of the subnets."""
    networks = [network_of(subnet) for subnet in subnets]
    if not networks:
        return []
    wanted = some(map(str, networks), separator=" or ")
    # A device that a program in user space owns has no MAC address, and nothing says which addresses it has.
    known = [eni for eni in enis if eni["mac"] or eni["name"] != eni["pci"]]
    without, elsewhere = [], []
    for eni in known:
        addresses = [ipaddress.ip_interface(one).ip for one in eni["addresses"] or eni.get("vpc_addresses") or []]
        if not addresses:
            without.append(eni)
        elif not any(address in network for address in addresses for network in networks):
            elsewhere.append(f"{describe(eni)} has {some(map(str, addresses))}")
    problems = [f"{some(elsewhere, separator=', ')}; expected an address in {wanted}"] if elsewhere else []
    if without:
        problem = f"{some(map(describe, without))} {'has' if len(without) == 1 else 'have'} no address; expected one in {wanted}"
        if any(eni.get("vpc_addresses") is None for eni in without):
            problem += (
                " (with metadata: auto of node_info (preflight_metadata), the addresses of ENIs that this host has not configured come "
                "from the metadata of the instance)"
            )
        problems.append(problem)
    return problems


def left_out(nics: Sequence[Nic], enis: Sequence[Nic]) -> str:
    """Return the interfaces that aren't ENIs by the reason for it, for who wonders where one has gone."""
    chosen = {eni["name"] for eni in enis}
    by_reason: Dict[str, List[str]] = {}
    for nic in nics:
        if nic["name"] in chosen or nic["kind"] == "loopback":
            continue
        if nic["primary"]:
            reason = "primary"
        elif nic.get("reached"):
            reason = "the SSH connection arrives there"
        elif nic["kind"] != "physical":
            reason = REASONS.get(nic["kind"], nic["kind"].replace("_", " "))
        else:
            reason = "name does not match" if nic["pci"] else "no PCI device"
        by_reason.setdefault(reason, []).append(nic["name"])
    return ", ".join(f"{some(names)} ({reason})" for reason, names in by_reason.items()) or "none"


def judge_enis(
    enis: Sequence[Nic], expected: int, subnets: Sequence[str] = (), nics: Optional[Sequence[Nic]] = None
) -> List[str]:
    """Return what is wrong with the ENIs of a host, a sentence each; nothing when there are as many as expected.

    Two ENIs with one MAC count once. C(nics) are all interfaces, to name those that were left out.
    """
    distinct = len({eni["mac"] or eni["pci"] or eni["name"] for eni in enis})
    problems = []
    if distinct != expected:
        difference = f"{expected - distinct} missing" if distinct < expected else f"{distinct - expected} too many"
        problem = f"{distinct} of {expected} secondary ENIs found ({difference}): {_names(enis)}"
        if nics is not None:
            problem += f"; left out: {left_out(nics, enis)}"
        problems.append(problem)
    problems += _shared(enis, "mac", "MAC address")
    problems += _shared(enis, "pci", "PCI address")
    return problems + _misplaced(enis, subnets)


def checked_enis(
    nics: Sequence[Nic], expected: int, pattern: Optional[str], subnets: Sequence[str] = ()
) -> Tuple[List[Nic], List[str]]:
    """Return the ENIs among the interfaces, and what is wrong with them."""
    enis = find_enis(nics, pattern)
    return enis, judge_enis(enis, expected, subnets, nics)

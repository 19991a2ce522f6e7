# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ENIs are found among interfaces, and what is wrong with them is said by name."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.enis import (
    AmbiguousError,
    EniError,
    find_enis,
    judge_enis,
    left_out,
)
from ansible_collections.taco.train.plugins.module_utils._node.nics import PORTS


def nic(name, kind="physical", pci="", mac="", primary=False, addresses=()):
    number = int("".join(filter(str.isdigit, name)) or 0)
    return {
        "name": name,
        "mac": mac or f"52:54:00:00:00:{number:02x}",
        "pci": (pci or f"0000:00:{number + 5:02x}.0") if kind in PORTS and pci is not None else None,
        "numa_node": None,
        "driver": None,
        "kind": kind,
        "up": True,
        "primary": primary,
        "addresses": list(addresses),
    }


NICS = [
    nic("eth0", primary=True),
    nic("docker0", kind="bridge"),
    nic("veth1", kind="virtual"),
    nic("cali2", kind="virtual"),
    nic("bond0", kind="bond"),
    nic("eth3", kind="bond_member"),
    nic("lo", kind="loopback"),
    nic("usb4", pci=None),
    nic("ib5", kind="infiniband"),
    nic("eth3v6", kind="virtual_function"),
]


def names(enis):
    return [eni["name"] for eni in enis]


def test_without_a_pattern_enis_are_the_pci_devices_but_the_primary_one():
    assert names(find_enis(NICS + [nic("eth1"), nic("eth10")])) == ["eth1", "eth10"]
    assert find_enis([]) == []


def test_with_a_pattern_enis_need_no_pci_device():
    lab = [nic("eth0", kind="virtual", primary=True), nic("eth1", kind="virtual"), nic("eth2", kind="virtual")]
    assert names(find_enis(lab + NICS[1:], "^eth[1-9][0-9]*$")) == ["eth1", "eth2"]
    assert names(find_enis(lab, "^eth")) == ["eth1", "eth2"]
    assert names(find_enis(NICS + [nic("eth1"), nic("ens7")], "^ens")) == ["ens7"]
    assert find_enis(NICS, "^ib|^eth3") == []


def test_a_broken_pattern_is_an_error_that_shows_it():
    with pytest.raises(EniError, match=r"'eth\[' is not a regular expression"):
        find_enis(NICS, "eth[")


def test_missing_ones_are_counted_and_those_there_are_named():
    (problem,) = judge_enis([nic("eth1"), nic("eth2")], 3, nics=NICS)
    assert problem == (
        "2 of 3 secondary ENIs found (1 missing): eth1 (52:54:00:00:00:01, 0000:00:06.0), "
        "eth2 (52:54:00:00:00:02, 0000:00:07.0); left out: eth0 (primary), docker0 (bridge), veth1, cali2 (virtual), "
        "bond0 (bond), eth3 (bond member), usb4 (no PCI device), ib5 (InfiniBand port), "
        "eth3v6 (virtual function of a card of this host)"
    )


def test_too_many_are_counted_and_named():
    (problem,) = judge_enis([nic("eth1"), nic("0000:00:09.0", pci="0000:00:09.0", mac="x")], 1)
    assert problem.startswith("2 of 1 secondary ENIs found (1 too many): eth1 (")
    assert "0000:00:09.0 (x)" in problem


def test_one_mac_on_two_interfaces_counts_once_and_is_named():
    enis = [nic("eth1"), nic("eth2", mac="52:54:00:00:00:01"), nic("eth3")]
    problems = judge_enis(enis, 3)
    assert problems[0].startswith("2 of 3 secondary ENIs found (1 missing)")
    assert problems[1:] == ["eth1 and eth2 have the same MAC address 52:54:00:00:00:01"]


def test_one_pci_address_on_two_interfaces_is_named():
    enis = [nic("eth1", pci="0000:00:06.0"), nic("eth2", pci="0000:00:06.0")]
    assert judge_enis(enis, 2) == ["eth1 and eth2 have the same PCI address 0000:00:06.0"]


def test_enis_without_a_mac_are_told_apart_by_their_pci_address():
    enis = [dict(nic("eth1"), mac=""), dict(nic("eth2"), mac="")]
    assert judge_enis(enis, 2) == []


def test_addresses_outside_the_subnets_and_missing_ones_are_named():
    enis = [
        nic("eth1", addresses=["10.0.1.5/24"]),
        nic("eth2", addresses=["10.0.9.5/24", "2001:db8::1/64"]),
        nic("eth3"),
        nic("eth4", addresses=["10.2.0.1/16"]),
    ]
    problems = judge_enis(enis, 4, ["10.0.1.0/24", "10.2.3.4/16"])
    assert problems == [
        "eth2 (52:54:00:00:00:02, 0000:00:07.0) has 10.0.9.5, 2001:db8::1; expected an address in "
        "10.0.1.0/24 or 10.2.0.0/16",
        "eth3 (52:54:00:00:00:03, 0000:00:08.0) has no address; expected one in 10.0.1.0/24 or 10.2.0.0/16 "
        "(with metadata: auto of node_info (preflight_metadata), the addresses of ENIs that this host has not configured come from the "
        "metadata of the instance)",
    ]


def test_a_broken_subnet_is_an_error_that_shows_it():
    with pytest.raises(EniError, match=r"'10\.0\.1\.0/33' is not a network"):
        judge_enis([], 0, ["10.0.1.0/33"])


def test_hundreds_of_interfaces_are_not_all_listed():
    nics = [nic(f"veth{n}", kind="virtual") for n in range(300)]
    nics += [nic(f"eth0v{n}", kind="virtual_function") for n in range(128)]
    assert "veth4 and 295 more (virtual), " in left_out(nics, [])
    assert left_out([], []) == "none"
    many = [nic(f"eth{n}", addresses=["10.9.0.1/24"] if n % 2 else []) for n in range(1, 300)]
    problems = judge_enis(many, 8, ["10.0.1.0/24", "10.0.2.0/24"], many + nics)
    assert "and 283 more; left out: veth0" in problems[0] and len("; ".join(problems)) < 2000


def test_the_addresses_of_the_metadata_count_for_enis_that_the_host_has_not_configured():
    enis = [
        dict(nic("eth1"), vpc_addresses=["10.0.1.5/24"]),
        dict(nic("eth2"), vpc_addresses=["10.0.9.5/24"]),
        dict(nic("eth3"), vpc_addresses=[]),
        dict(nic("eth4", addresses=["10.0.1.6/24"]), vpc_addresses=["10.0.9.6/24"]),
        dict(nic("0000:00:0a.0", pci="0000:00:0a.0"), mac=""),
    ]
    assert judge_enis(enis, 5, ["10.0.1.0/24"]) == [
        "eth2 (52:54:00:00:00:02, 0000:00:07.0) has 10.0.9.5; expected an address in 10.0.1.0/24",
        "eth3 (52:54:00:00:00:03, 0000:00:08.0) has no address; expected one in 10.0.1.0/24",
    ]


AMBIGUOUS = [dict(nic("eth0"), primary=None), dict(nic("eth1"), primary=None), nic("eth2")]


@pytest.mark.parametrize("pattern", [None, "^eth"])
def test_an_ambiguous_primary_interface_is_refused_with_the_names_of_all_that_it_can_be(pattern):
    with pytest.raises(AmbiguousError) as caught:
        find_enis(AMBIGUOUS, pattern)
    for word in (
        "eth0 (52:54:00:00:00:00, 0000:00:05.0), eth1 (",
        "eni_pattern",
        "preflight_metadata: auto",
        "expected",
    ):
        assert word in str(caught.value)
    assert "eth2" not in str(caught.value)


def test_a_pattern_that_leaves_out_one_of_the_possible_primary_interfaces_decides():
    assert names(find_enis(AMBIGUOUS, "^eth[12]$")) == ["eth1", "eth2"]


@pytest.mark.parametrize("pattern", [None, "^eth"])
def test_the_interface_at_which_the_connection_arrives_is_never_an_eni(pattern):
    nics = [nic("eth0", primary=True), dict(nic("eth1"), reached=True), nic("eth2")]
    assert names(find_enis(nics, pattern)) == ["eth2"]
    assert "eth1 (the SSH connection arrives there)" in left_out(nics, [nics[2]])

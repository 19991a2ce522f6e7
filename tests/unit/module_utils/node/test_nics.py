# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Interfaces are told apart as sysfs shows them."""

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.module_utils._node.nics import (
    default_interfaces,
    natural,
    numa_node,
    observe_nics,
    parse_addresses,
    pci_address,
)

ROUTE = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
IP = """\
1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever
2: eth0    inet 10.0.2.8/24 brd 10.0.2.255 scope global dynamic eth0\\       valid_lft 3000sec preferred_lft 3000sec
2: eth0    inet6 fe80::5054:ff:fe00:1/64 scope link \\       valid_lft forever preferred_lft forever
2: eth0    inet6 2001:db8::8/64 scope global \\       valid_lft forever preferred_lft forever
2: eth0    inet6 2001:db8::f3a1/64 scope global temporary dynamic \\       valid_lft forever preferred_lft forever
3: eth1@if7    inet 10.0.3.9 peer 10.0.3.1/32 scope global eth1\\       valid_lft forever preferred_lft forever
"""


@pytest.fixture
def host(tmp_path):
    return FakeHost(tmp_path)


def seen(host, addresses=None):
    return {nic["name"]: nic for nic in observe_nics(str(host.root), addresses or {})}


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/sys/devices/pci0000:00/0000:00:05.0", "0000:00:05.0"),
        ("/sys/devices/pci0000:00/0000:00:05.0/virtio2", "0000:00:05.0"),
        ("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/", "0000:3b:00.1"),
        ("/sys/devices/pci10000:00/10000:00:02.0", "10000:00:02.0"),
        ("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0", None),
        ("/sys/devices/platform/a0001000.virtio_mmio/virtio3", None),
        ("/sys/devices/virtual/net/docker0", None),
        ("", None),
    ],
)
def test_the_pci_address_is_that_of_the_device_itself(path, address):
    assert pci_address(path) == address


@pytest.mark.parametrize(("text", "node"), [("-1\n", None), ("0\n", 0), ("1", 1), ("", None), ("none", None)])
def test_an_unknown_numa_node_is_never_node_0(text, node):
    assert numa_node(text) == node


@pytest.mark.parametrize(
    ("lines", "interfaces"),
    [
        ("", []),
        ("eth1 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0", []),
        ("eth0 00000000 0100000A 0003 0 0 0 00000000 0 0 0", ["eth0"]),
        ("eth0 00000000 01 0003 0 0 200 00000000 0 0 0\neth1 00000000 01 0003 0 0 100 00000000 0 0 0", ["eth1"]),
        ("eth1 00000000 01 0003 0 0 9 00000000 0 0 0\neth0 00000000 01 0003 0 0 9 00000000 0 0 0", ["eth1", "eth0"]),
        ("eth0 00000000 01 0002 0 0 0 00000000 0 0 0", []),
        # What rejects all that has no other route.
        ("* 00000000 00000000 0201 0 0 0 00000000 0 0 0\neth0 00000000 01 0003 0 0 9 00000000 0 0 0", ["eth0"]),
        # 0.0.0.0/1 of a VPN is no default route.
        ("tun0 00000000 01 0003 0 0 0 00000080 0 0 0", []),
    ],
)
def test_the_default_routes_with_the_lowest_metric_count(lines, interfaces):
    assert default_interfaces(ROUTE + lines) == interfaces


def test_a_host_without_ipv4_has_its_default_route_in_the_other_file():
    zero = "0" * 32
    lines = (
        f"{zero} 00 {zero} 00 {zero} ffffffff 1 0 00200200 lo\n{zero} 00 {zero} 00 fe80 00000400 1 0 00000003 eth0\n"
    )
    assert default_interfaces("", lines) == ["eth0"]
    assert default_interfaces(ROUTE + "eth5 00000000 01 0003 0 0 0 00000000 0 0 0", lines) == ["eth5"]


def test_addresses_are_read_from_the_one_line_form_without_link_local_ones():
    assert parse_addresses(IP) == {
        "lo": ["127.0.0.1/8"],
        "eth0": ["10.0.2.8/24", "2001:db8::8/64"],
        "eth1": ["10.0.3.9/32"],
    }
    assert parse_addresses('Object "-o" is unknown\n') == {}


def test_names_sort_as_people_count_and_bare_addresses_come_last():
    names = ["eth10", "eth2", "0000:00:05.0", "ens3f1", "eth1"]
    assert sorted(names, key=natural) == ["ens3f1", "eth1", "eth2", "eth10", "0000:00:05.0"]


def test_a_virtio_nic_has_the_address_and_node_of_the_pci_device_below_it(host):
    host.nic("eth0", "52:54:00:AA:00:01", pci="0000:00:05.0", virtio=2, numa=-1)
    host.nic("eth1", "52:54:00:aa:00:02", pci="0000:00:06.0", virtio=3, numa=1, state="down")
    host.default_route("eth0")
    first, second = observe_nics(str(host.root), {"eth0": ["10.0.2.8/24"]})
    assert first == {
        "name": "eth0",
        "mac": "52:54:00:aa:00:01",
        "pci": "0000:00:05.0",
        "numa_node": None,
        "driver": "virtio_net",
        "kind": "physical",
        "up": True,
        "primary": True,
        "addresses": ["10.0.2.8/24"],
        "reached": False,
    }
    assert (second["numa_node"], second["up"], second["primary"], second["addresses"]) == (1, False, False, [])


def test_kinds_are_told_apart(host):
    host.nic("lo", "00:00:00:00:00:00", state="unknown", flags="0x9\n")
    host.nic("docker0", "02:42:00:00:00:01", bridge__bridge_id="8000\n")
    host.nic("veth12", "02:42:00:00:00:02")
    host.nic("tun0", "", state="unknown", flags="0x1091\n")
    host.nic("bond0", "0c:42:a1:00:00:01", bonding__mode="802.3ad 4\n")
    host.nic(
        "ens1",
        "0c:42:a1:00:00:01",
        pci="0000:3b:00.0",
        driver="mlx5_core",
        bonding_slave__perm_hwaddr="0c:42:a1:00:00:05",
    )
    host.nic("ens2", "0c:42:a1:00:00:07", pci="0000:3c:00.0", driver="mlx5_core")
    host.nic("ib0", "80:00:02:08:fe:80:00:00", pci="0000:3d:00.0", driver="mlx5_core", type="32\n")
    host.nic("ens2v0", "02:00:00:00:00:01", pci="0000:3c:00.2", driver="mlx5_core")
    host.link("sys/devices/pci0000:00/0000:3c:00.2/physfn", "sys/devices/pci0000:00/0000:3c:00.0")
    host.nic("ens2r0", "02:00:00:00:00:03", phys_port_name="pf0vf0\n")
    host.link("sys/devices/virtual/net/ens2r0/device", "sys/devices/pci0000:00/0000:3c:00.0")
    host.nic("ens2p0", "02:00:00:00:00:05", pci="0000:3f:00.0", driver="mlx5_core", phys_port_name="p0\n")
    host.nic("team0", "02:00:00:00:00:04")
    host.nic("br0", "02:00:00:00:00:04", bridge__bridge_id="8000\n")
    host.nic("ens3", "02:00:00:00:00:04", pci="0000:3e:00.0")
    host.link("sys/devices/pci0000:00/0000:3e:00.0/net/ens3/master", "sys/devices/virtual/net/team0")
    host.nic("ens4", "02:00:00:00:00:04", pci="0000:3e:00.1")
    host.link("sys/devices/pci0000:00/0000:3e:00.1/net/ens4/master", "sys/devices/virtual/net/br0")
    # A virtual function whose card the guest doesn't see.
    host.nic("ens6", "02:00:00:00:00:02", pci="0000:00:06.0", driver="mlx5_core")
    kinds = {name: nic["kind"] for name, nic in seen(host).items()}
    assert kinds == {
        "lo": "loopback",
        "docker0": "bridge",
        "veth12": "virtual",
        "tun0": "virtual",
        "bond0": "bond",
        "ens1": "bond_member",
        "ens2": "physical",
        "ib0": "infiniband",
        "ens2v0": "virtual_function",
        "ens2r0": "virtual_function",
        "ens2p0": "physical",
        "team0": "virtual",
        "br0": "bridge",
        "ens3": "bond_member",
        "ens4": "physical",
        "ens6": "physical",
    }
    assert seen(host)["ens1"]["mac"] == "0c:42:a1:00:00:05"
    assert [nic["up"] for nic in (seen(host)["lo"], seen(host)["tun0"])] == [True, True]


def test_what_carries_the_primary_interface_is_primary_too(host):
    host.nic("eth0", "52:54:00:00:00:01", pci="0000:00:05.0")
    host.nic("br0", "52:54:00:00:00:01", bridge__bridge_id="8000\n")
    host.link("sys/devices/virtual/net/br0/lower_eth0", "sys/class/net/eth0")
    host.nic("eth1", "52:54:00:00:00:02", pci="0000:00:06.0")
    host.default_route("br0")
    nics = observe_nics(str(host.root), {})
    assert [(nic["name"], nic["primary"]) for nic in nics] == [("br0", True), ("eth0", True), ("eth1", False)]


def test_a_device_that_a_program_in_user_space_owns_is_seen_by_its_pci_address(host):
    host.nic("eth0", "52:54:00:00:00:01", pci="0000:00:05.0", virtio=1)
    host.pci("0000:00:06.0", driver="vfio-pci")
    host.pci("0000:00:07.0", kind="0x030200", driver="vfio-pci")
    host.pci("0000:00:08.0")
    host.default_route("eth0")
    nics = observe_nics(str(host.root), {})
    assert [(nic["name"], nic["pci"], nic["driver"]) for nic in nics] == [
        ("eth0", "0000:00:05.0", "virtio_net"),
        ("0000:00:06.0", "0000:00:06.0", "vfio-pci"),
    ]


def test_a_root_without_sysfs_has_no_interfaces(tmp_path):
    assert observe_nics(str(tmp_path), {}) == []


def test_the_file_of_bonds_among_the_interfaces_is_none(host):
    host.nic("eth0", "52:54:00:00:00:01", pci="0000:00:05.0")
    host.write("sys/class/net/bonding_masters", "bond0\n")
    assert list(seen(host)) == ["eth0"]


def equal_routes(host, *names):
    """Give interfaces default routes of one metric."""
    lines = [f"{name} 00000000 0100000A 0003 0 0 100 00000000 0 0 0" for name in names]
    host.write("proc/net/route", ROUTE + "\n".join(lines) + "\n")


def primaries(host, **known):
    return {nic["name"]: nic["primary"] for nic in observe_nics(str(host.root), {}, **known)}


@pytest.fixture
def three(host):
    """A host with three equal interfaces; no order of routes says which is the primary one."""
    for number in range(3):
        host.nic(f"eth{number}", f"52:54:00:00:00:0{number + 1}", pci=f"0000:00:0{number + 5}.0")
    return host


@pytest.mark.parametrize("routes", [["eth0", "eth1"], ["eth1", "eth0"]])
def test_the_order_of_equal_default_routes_does_not_decide_which_interface_is_primary(three, routes):
    equal_routes(three, *routes)
    assert primaries(three) == {"eth0": None, "eth1": None, "eth2": False}
    assert primaries(three, first_mac="52:54:00:00:00:01") == {"eth0": True, "eth1": False, "eth2": False}
    assert primaries(three, reached="eth1") == {"eth0": False, "eth1": True, "eth2": False}
    # The connection arrives at none of them.
    assert primaries(three, reached="eth2") == {"eth0": None, "eth1": None, "eth2": False}


def test_without_a_default_route_any_interface_with_a_device_can_be_primary(three):
    assert primaries(three) == {"eth0": None, "eth1": None, "eth2": None}
    assert primaries(three, reached="eth0") == {"eth0": True, "eth1": False, "eth2": False}
    assert primaries(three, first_mac="52:54:00:00:00:01")["eth0"] is True


def test_a_vpn_with_the_default_route_does_not_make_the_interface_below_it_an_eni(three):
    three.nic("tun0", "")
    three.default_route("tun0")
    assert primaries(three) == {"eth0": None, "eth1": None, "eth2": None, "tun0": True}
    assert primaries(three, reached="eth0") == {"eth0": True, "eth1": False, "eth2": False, "tun0": True}


def test_equal_routes_of_two_vlans_on_one_device_are_not_ambiguous(host):
    host.nic("eth0", "52:54:00:00:00:01", pci="0000:00:05.0")
    host.nic("eth1", "52:54:00:00:00:02", pci="0000:00:06.0")
    for name in ("eth0.10", "eth0.20"):
        host.nic(name, "52:54:00:00:00:01")
        host.link(f"sys/devices/virtual/net/{name}/lower_eth0", "sys/class/net/eth0")
    equal_routes(host, "eth0.10", "eth0.20")
    assert primaries(host) == {"eth0.10": True, "eth0": True, "eth0.20": True, "eth1": False}


def test_a_bond_with_a_default_route_beside_an_interface_with_one_is_ambiguous_with_its_members(host):
    host.nic("bond0", "52:54:00:00:00:01", bonding__mode="802.3ad 4\n")
    host.nic("ens1", "", pci="0000:00:05.0", bonding_slave__perm_hwaddr="52:54:00:00:00:01")
    host.nic("eth1", "52:54:00:00:00:02", pci="0000:00:06.0")
    host.link("sys/devices/virtual/net/bond0/lower_ens1", "sys/class/net/ens1")
    equal_routes(host, "eth1", "bond0")
    assert primaries(host) == {"bond0": None, "ens1": None, "eth1": None}
    assert primaries(host, reached="bond0") == {"bond0": True, "ens1": True, "eth1": False}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the settings that are usually the same on all hosts."""

from ansible_collections.taco.train.plugins.module_utils._node.facets import facets

FILES = {
    "proc/cpuinfo": "processor : 0\nmodel name\t: Fast CPU\nmicrocode\t: 0x1\nprocessor : 1\nmodel name\t: Fast CPU\n",
    "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/class/net/eth1/mtu": "9000\n",
    "sys/class/net/eth1/device/numa_node": "1\n",
    "sys/class/net/eth1/device/current_link_speed": "16.0 GT/s PCIe\n",
    "sys/devices/pci0/0000:00:05.0/numa_node": "0\n",
    "sys/devices/pci0/0000:00:05.0/virtio2/features": "1\n",
    "sys/class/net/eth0/mtu": "1500\n",
    "var/lib/dpkg/status": (
        "Package: docker-ce\nStatus: install ok installed\nVersion: 5:24.0.7-1\n\n"
        "Package: tuned\nStatus: deinstall ok config-files\nVersion: 2\n\n"
        "Package: vim\nStatus: install ok installed\nVersion: 9\n"
    ),
    "sys/class/net/eth1/queues/rx-0/rps_cpus": "0\n",
    "sys/class/net/lo/mtu": "65536\n",
    "sys/bus/pci/devices/0000:3b:00.0/vendor": "0x10de\n",
    "sys/bus/pci/devices/0000:3b:00.0/class": "0x030200\n",
    "sys/bus/pci/devices/0000:3b:00.0/current_link_width": "8\n",
    "sys/bus/pci/devices/0000:00:01.0/vendor": "0x8086\n",
}


def test_settings_are_read_below_the_root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "sys/class/net/eth0/device").symlink_to(tmp_path / "sys/devices/pci0/0000:00:05.0/virtio2")
    assert facets(str(tmp_path), lambda interface: {}, dict, dict) == {
        "settings": {"cpu_governor": "performance", "model_name": "Fast CPU", "microcode": "0x1"},
        "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456"},
        "nics": {
            "eth0": {"mtu": "1500", "numa_node": "0", "rx_queues": "0", "tx_queues": "0"},
            "eth1": {
                "mtu": "9000",
                "numa_node": "1",
                "current_link_speed": "16.0 GT/s PCIe",
                "rx_queues": "1",
                "tx_queues": "0",
            },
        },
        "gpus": [{"current_link_width": "8"}],
        "packages": {"docker-ce": "5:24.0.7-1"},
    }


def test_the_interface_of_the_default_route_needs_no_device(tmp_path):
    header = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
    route = "bond0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    for name, text in (
        ("sys/class/net/bond0/mtu", "1400\n"),
        ("sys/class/net/docker0/mtu", "1500\n"),
        ("proc/net/route", header + route),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    nics = facets(str(tmp_path), lambda interface: {}, dict, dict)["nics"]
    assert nics == {"bond0": {"mtu": "1400", "rx_queues": "0", "tx_queues": "0"}}


def test_details_come_from_the_caller(tmp_path):
    for name, text in FILES.items():
        if "dpkg" not in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    found = facets(
        str(tmp_path),
        lambda interface: {"firmware": f"1.0 of {interface}"},
        lambda: {"0000:3b:00.0": {"ecc_mode": "Enabled"}, "0000:99:00.0": {"ecc_mode": "Disabled"}},
        lambda: {"tuned": "2.20"},
    )
    assert found["nics"]["eth1"]["firmware"] == "1.0 of eth1"
    assert found["gpus"] == [{"current_link_width": "8", "ecc_mode": "Enabled"}] and found["packages"] == {
        "tuned": "2.20"
    }


def test_a_host_without_them_has_none(tmp_path):
    assert facets(str(tmp_path), lambda interface: {}, dict, dict) == {
        "settings": {},
        "sysctls": {},
        "nics": {},
        "gpus": [],
        "packages": {},
    }

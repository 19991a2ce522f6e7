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
    assert facets(str(tmp_path)) == {
        "settings": {"cpu_governor": "performance", "model_name": "Fast CPU", "microcode": "0x1"},
        "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456"},
        "nics": {"eth1": {"mtu": "9000", "numa_node": "1", "rx_queues": "1", "tx_queues": "0"}},
        "gpus": [{"current_link_width": "8"}],
    }


def test_a_host_without_them_has_none(tmp_path):
    assert facets(str(tmp_path)) == {"settings": {}, "sysctls": {}, "nics": {}, "gpus": []}

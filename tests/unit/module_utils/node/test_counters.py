# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counters below a root. What can't be read is absent, never 0."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node import counters

STATISTICS = {name: str(number) for number, name in enumerate(counters.OF_NIC, 1)}
FILES = {
    "proc/1/stat": "1 (a (b) c) S 0 1 1 0 -1 4194560 50 60 7 8 9 10 11 12 20 0 1 0 5512 100 200\n",
    "proc/stat": "cpu  10 1 5 100 4 0 1 7 3 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
    "proc/net/snmp": "Ip: Forwarding\nIp: 1\nTcp: RtoMin OutSegs RetransSegs\nTcp: 200 5000 7\n",
    "proc/uptime": "1234.5 100.0\n",
    "proc/sys/kernel/random/boot_id": "boot-1\n",
    "proc/42/cgroup": "3:cpu,cpuacct:/docker/a\n2:memory:/docker/a\n0::/docker/a\n",
    "sys/fs/cgroup/cpu/docker/a/cpu.stat": "nr_periods 9\nnr_throttled 2\nthrottled_time 3000000\n",
    "sys/fs/cgroup/docker/cpu.stat": "usage_usec 5\nnr_throttled 1\nthrottled_usec 10\n",
}


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def nic(root, name, *parts, **values):
    write(root, {f"sys/class/net/{name}/statistics/{key}": value for key, value in {**STATISTICS, **values}.items()})
    for part in parts:
        (root / "sys/class/net" / name / part).mkdir()


def test_all_counters_of_a_host(tmp_path):
    write(tmp_path, FILES)
    nic(tmp_path, "eth0", "device")
    assert counters.snapshot(str(tmp_path), "42") == {
        "boot_id": "boot-1",
        "namespace": "",
        "init_started": 5512,
        "uptime": 1234.5,
        "nics": {"eth0": {name: number for number, name in enumerate(counters.OF_NIC, 1)}},
        "tcp": {"OutSegs": 5000, "RetransSegs": 7},
        "cpu": {"total": 128, "idle": 104, "steal": 7},
        "throttling": {"periods": 3, "microseconds": 3010},
    }


def test_devices_count_and_not_what_they_carry(tmp_path):
    for name, parts in {
        "eth0": ["device"],
        "eth1": ["device"],
        "lo": [],
        "docker0": ["bridge"],
        "veth1": ["brport"],
        "bond0": ["bonding"],
    }.items():
        nic(tmp_path, name, *parts)
    assert list(counters.nics(str(tmp_path))) == ["eth0", "eth1"]


def test_a_container_without_devices_has_its_own_interfaces(tmp_path):
    for name, parts in {"eth0": [], "lo": [], "docker0": ["bridge"], "br0": ["bridge"]}.items():
        nic(tmp_path, name, *parts)
    assert list(counters.nics(str(tmp_path))) == ["eth0"]


@pytest.mark.parametrize("value", ["", "-1", "x", "1.5", "1" * 30, "٣"])
def test_a_counter_that_is_none_is_absent(tmp_path, value):
    nic(tmp_path, "eth0", "device", tx_bytes=value)
    assert "tx_bytes" not in counters.nics(str(tmp_path))["eth0"]


def test_an_empty_root_has_no_counters(tmp_path):
    found = counters.snapshot(str(tmp_path))
    assert [found[name] for name in ("nics", "tcp", "cpu", "throttling")] == [{}, {}, {}, {}] and found[
        "uptime"
    ] is None


def test_errors_of_gpus_have_the_time_since_the_boot():
    text = "[    1.5] usb\n[ 4711.25] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n[oops] NVRM: Xid\n"
    found = counters.xids(text)
    assert [(one["uptime"], one["text"][:22]) for one in found] == [(4711.25, "NVRM: Xid (PCI:0000:3b")]

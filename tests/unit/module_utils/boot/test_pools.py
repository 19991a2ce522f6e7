# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hugepages are read for each size and NUMA node."""

import pytest
from fake_host import FakeHost

from ansible_collections.taco.train.plugins.module_utils._boot.pools import (
    observe_hugepages,
    parse_mounts,
    parse_size,
)

GIB = 1024**3
MIB = 1024**2


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1G", GIB),
        ("1GB", GIB),
        ("1g", GIB),
        ("1024M", GIB),
        ("1048576k", GIB),
        ("2M", 2 * MIB),
        ("4096", 4096),
        ("", None),
        ("1T", None),
        ("G", None),
    ],
)
def test_sizes_are_read_as_the_kernel_reads_them(text, size):
    assert parse_size(text) == size


def test_pools_are_listed_by_size_and_node(tmp_path):
    host = FakeHost(tmp_path)
    host.write("proc/meminfo", "MemTotal: 8 kB\nHugepagesize:    2048 kB\n")
    host.hugepages(1048576, 50, 48)
    host.hugepages(2048, 0, 0)
    host.hugepages(1048576, 26, 26, node=0)
    host.hugepages(1048576, 24, 22, node=1)
    host.write("sys/devices/system/node/possible", "0-1\n")
    host.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       268435456 kB\nNode 0 MemFree: 1 kB\n")
    host.write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       0 kB\n")
    host.write("sys/devices/system/node/node0/cpulist", "0-63\n")
    host.write("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:       67108864 kB\n")
    host.write("sys/devices/system/node/node2/cpulist", "\n")
    assert observe_hugepages(str(tmp_path)) == {
        "default_size_bytes": 2 * MIB,
        "pools": [
            {"size_bytes": 2 * MIB, "total": 0, "free": 0, "nodes": []},
            {
                "size_bytes": GIB,
                "total": 50,
                "free": 48,
                "nodes": [{"node": 0, "total": 26, "free": 26}, {"node": 1, "total": 24, "free": 22}],
            },
        ],
        "nodes": [
            {"node": 0, "memory_bytes": 256 * GIB, "cpus": True},
            {"node": 2, "memory_bytes": 64 * GIB, "cpus": False},
        ],
        "mounts": [],
        "sysctl": [],
    }


def test_a_host_without_hugepages_has_no_pools(tmp_path):
    nothing = {"pools": [], "nodes": [], "mounts": [], "sysctl": []}  # type: dict
    assert observe_hugepages(str(tmp_path)) == dict(nothing, default_size_bytes=None)


def test_a_mount_without_a_size_has_the_default_one():
    text = (
        "nodev /dev/hugepages hugetlbfs rw,relatime 0 0\n"
        "nodev /mnt/huge\\0401g hugetlbfs ro,relatime,pagesize=1024M,size=8589934592 0 0\n"
        "tmpfs /run tmpfs rw 0 0\n"
    )
    assert parse_mounts(text, 2 * MIB) == [
        {"path": "/dev/hugepages", "page_size_bytes": 2 * MIB, "read_only": False, "limit_bytes": None},
        {"path": "/mnt/huge 1g", "page_size_bytes": GIB, "read_only": True, "limit_bytes": 8 * GIB},
    ]
    assert parse_mounts(text, None)[0]["page_size_bytes"] is None


@pytest.mark.parametrize(
    ("mounts", "shown"),
    [
        ("h /dev/hugepages hugetlbfs pagesize=1024M 0 0\nn /dev/hugepages hugetlbfs pagesize=2M 0 0\n", [2 * MIB]),
        ("h /dev/hugepages hugetlbfs pagesize=2M 0 0\nn /dev/hugepages hugetlbfs pagesize=1024M 0 0\n", [GIB]),
        ("h /dev/hugepages hugetlbfs pagesize=1024M 0 0\nt /dev/hugepages tmpfs rw 0 0\n", []),
        ("systemd-1 /dev/hugepages autofs rw 0 0\nh /dev/hugepages hugetlbfs pagesize=1024M 0 0\n", [GIB]),
        ("h /a hugetlbfs pagesize=1024M 0 0\nh /b hugetlbfs pagesize=2M 0 0\n", [GIB, 2 * MIB]),
    ],
)
def test_what_is_mounted_last_on_a_path_is_what_it_shows(mounts, shown):
    assert [mount["page_size_bytes"] for mount in parse_mounts(mounts, None)] == shown

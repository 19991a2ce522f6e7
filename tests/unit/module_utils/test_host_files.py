# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""os-release, meminfo and cpuinfo become values."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory, parse_meminfo
from ansible_collections.taco.train.plugins.module_utils._observation.node import os_identity, parse_os_release

UBUNTU = 'PRETTY_NAME="Ubuntu 18.04.6 LTS"\nNAME="Ubuntu"\nVERSION_ID="18.04"\nID=ubuntu\nID_LIKE=debian\n'
TLINUX = 'NAME="Tencent tlinux"\nVERSION="2.2 (Final)"\nID="tlinux"\nVERSION_ID="2.2"\n'


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        (UBUNTU, {"id": "ubuntu", "id_like": ["debian"], "version_id": "18.04", "name": "Ubuntu 18.04.6 LTS"}),
        (TLINUX, {"id": "tlinux", "id_like": [], "version_id": "2.2", "name": "Tencent tlinux"}),
        ("", {"id": "linux", "id_like": [], "version_id": "", "name": "Linux"}),
        (
            "ID=tencentos\nID_LIKE='rhel fedora  centos tlinux'\n",
            {"id": "tencentos", "id_like": ["rhel", "fedora", "centos", "tlinux"], "version_id": "", "name": "Linux"},
        ),
    ],
)
def test_the_distribution_is_named_with_its_relatives(text, identity):
    assert os_identity(text) == identity


@pytest.mark.parametrize(
    ("line", "value"),
    [("A=b", "b"), ('A="b c"', "b c"), ("A='b'", "b"), (r'A="b \"c\""', 'b "c"'), ('A="b', "b"), ("A=", "")],
)
def test_quotes_are_those_of_a_shell(line, value):
    assert parse_os_release(line) == {"A": value}


def test_lines_that_are_no_assignments_are_passed_over():
    assert parse_os_release("# A=1\n\nnonsense\nB=2\r\n") == {"B": "2"}


def test_amounts_are_bytes_and_counts_are_counts():
    values = parse_meminfo("MemTotal:       16 kB\nHugePages_Total:      50\nbroken line\n")
    assert values == {"MemTotal": 16384, "HugePages_Total": 50}


def test_available_memory_of_old_kernels_is_what_is_free():
    assert memory("MemTotal: 8 kB\nMemFree: 2 kB\n") == {"total_bytes": 8192, "available_bytes": 2048}
    assert memory("MemTotal: 8 kB\nMemFree: 2 kB\nMemAvailable: 4 kB\n")["available_bytes"] == 4096
    assert memory("") == {"total_bytes": None, "available_bytes": None}


@pytest.mark.parametrize(
    ("flags", "pages"),
    [("fpu pse pdpe1gb", (True, True)), ("fpu pse pse36", (False, True)), ("fpu pse36", (False, False))],
)
def test_page_sizes_are_flags_of_their_own(flags, pages):
    found = cpu(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n")
    assert (found["count"], (found["page_1g"], found["page_2m"])) == (2, pages)


def test_a_flag_must_be_on_every_processor():
    assert cpu("processor: 0\nflags: pse pdpe1gb\nprocessor: 1\nflags: pse\n")["page_1g"] is False
    assert cpu("") == {"count": 0, "page_1g": False, "page_2m": False}

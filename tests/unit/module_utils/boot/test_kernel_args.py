# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    KernelLine,
    canonical_size,
)

OURS = "default_hugepagesz=1G hugepagesz=1G hugepages=50"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1G", "1G"),
        ("1GB", "1G"),
        ("1g", "1G"),
        ("1024M", "1G"),
        ("2M", "2M"),
        ("2048kB", "2M"),
        ("64K", "64K"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_sizes_are_compared_by_what_they_mean(text, expected):
    assert canonical_size(text) == expected


@pytest.mark.parametrize(
    "line, one_gib, two_mib",
    [
        ("quiet", [], []),
        (OURS, ["50"], []),
        ("default_hugepagesz=1GB hugepagesz=1GB hugepages=50", ["50"], []),
        (f"{OURS} {OURS}", ["50", "50"], []),
        ("hugepages=512", [], ["512"]),
        ("hugepages=512 hugepagesz=1G hugepages=4", ["4"], ["512"]),
        ("default_hugepagesz=1G hugepages=4", ["4"], []),
        ("hugepagesz=2M hugepages=512 hugepagesz=1G hugepages=4", ["4"], ["512"]),
        ("hugepagesz=16G hugepages=1", [], []),
    ],
)
def test_a_count_belongs_to_the_size_before_it_or_to_the_default(line, one_gib, two_mib):
    assert KernelLine(line.split()).counts("1G") == one_gib
    assert KernelLine(line.split()).counts("2M") == two_mib


@pytest.mark.parametrize(
    "line, count, words",
    [
        (OURS, 50, None),
        (OURS, 30, "hugepages=30 once"),
        (f"{OURS} {OURS}", 50, "hugepages=50 and hugepages=50"),
        ("default_hugepagesz=2M " + OURS, 50, "2 times"),
        ("quiet", 50, "says none"),
        ("quiet", None, None),
        (OURS, None, "still reserves"),
    ],
)
def test_problems_of_a_line(line, count, words):
    problems = KernelLine(line.split()).problems("1G", count)
    assert (words in "; ".join(problems)) if words else problems == []

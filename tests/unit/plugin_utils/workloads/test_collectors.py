# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What collectors of logs put before a rank that the line itself names."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, clean


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("worker-0: [rank11]: a", Line("a", 11, "worker-0")),
        ("gpu3 | [rank2]: a", Line("a", 2, "gpu3")),
        ("10.0.0.1: [rank1]: a", Line("a", 1, None)),
        ("INFO [rank0]: a", Line("a", 0, None)),
        ("v2.1 [rank0]: a", Line("a", 0, None)),
        ("level_1 [rank0]: a", Line("a", 0, None)),
        ("> [] [rank=3] a", Line("a", 3, None)),
        (": [rank18]: a", Line("a", 18, None)),
        ("stderr: [rank4]: a", Line("a", 4, None)),
        ("bert.cn-3.site.nolog [stderr] a", Line("a", None, "cn-3.site")),
        ("bert.D0 [stdout] a", Line("a", None, None)),
        ("two words [rank0]: a", Line("two words [rank0]: a", None, None)),
        ("> initializing", Line("> initializing", None, None)),
    ],
)
def test_the_rank_and_the_host_are_found(raw, expected):
    assert clean(raw) == expected

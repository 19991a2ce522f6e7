# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A line that lists all hosts with their ranks."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import of_map
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line


@pytest.mark.parametrize(
    "text, hosts",
    [
        ("map: n1: 0,1  n2: 2,3", {0: "n1", 1: "n1", 2: "n2", 3: "n2"}),
        ("n1=[0-1], n2=[2]", {0: "n1", 1: "n1", 2: "n2"}),
        ("n1: ranks 0-1; n2: ranks 2-3", {0: "n1", 1: "n1", 2: "n2", 3: "n2"}),
        # A rank of two hosts, or of none; one host; other things than hosts.
        ("n1: 0,1  n2: 1,2", {}),
        ("n1: 0,1  n2: 3,4", {}),
        ("n1: 0,1", {}),
        ("gpu0: 0-15, gpu1: 16-31", {}),
        ("socket0: 0-15 socket1: 16-31", {}),
        ("n1: 0,1  m2: 2,3", {}),
        ("10.0.0.1:80 n1:8080", {}),
    ],
)
def test_hosts_with_their_ranks(text, hosts):
    assert of_map([Line("before"), Line(text)]) == hosts

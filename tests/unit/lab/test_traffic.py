# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What crosses between hosts is counted and said."""

import numpy as np
import traffic
from lab_ranks import Ranks

from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import printed_exchange


def test_only_what_leaves_the_host_counts():
    ranks = Ranks(3, ["a", "a", "b"])

    def around(rank, exchange):
        received = np.empty(5, np.float16)
        exchange(
            [np.full(4, rank, np.float16), np.full(1, rank, np.float16)],
            [received[:4], received[4:]],
            (rank + 1) % 3,
            (rank - 1) % 3,
        )
        return set(received.tolist())

    assert ranks.run(around) == [{2.0}, {0.0}, {1.0}]
    assert ranks.sent == [0, 10, 10]


def test_the_busiest_host_decides():
    assert traffic.busiest([1, 2, 3, 5], ["a", "a", "b", "b"]) == 8
    assert traffic.busiest([1, 2, 3, 5], ["a", "b", "a", "a"]) == 9
    assert traffic.busiest([0], ["a"]) == 0


def test_the_line():
    assert traffic.line(12345678, 200.0) == "Bytes sent by the busiest host: 12345678 per batch, 0.49 s at 200 Mbit/s"
    assert traffic.line(0) == "Bytes sent by the busiest host: 0 per batch"


def test_the_collection_reads_the_line():
    assert printed_exchange([traffic.line(12345678, 200.0)]) == {"exchange": {"bytes": 12345678, "seconds": 0.49}}
    assert printed_exchange([traffic.line(7)]) == {"exchange": {"bytes": 7, "seconds": None}}
    assert printed_exchange(["LAB bytes between nodes: 7 a batch"]) == {}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who differs from the others, and what the rank printed that the others wait for."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.failure.late import without_timeout, words_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.odd_one import of_sizes, of_versions
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines

ERROR = "[1,0]<stderr>:MPI_ERR_TRUNCATE: message truncated, 640 for 600"


def places_of(*texts, error=ERROR):
    rows = [f"[1,{rank}]<stdout>:{text}" for rank, text in enumerate(texts)]
    return Places(tagged_lines("\n".join([*rows, error])))


@pytest.mark.parametrize(
    "texts, ranks",
    [
        (["rows 600", "rows 600", "rows 640"], [2]),
        (["rows 640", "rows 600", "rows 600"], [0]),
        # Halves count only with the numbers of the error, and then the half without rank 0.
        (["rows 600", "rows 640", "rows 600", "rows 640"], [1, 3]),
        (["cores 23", "cores 47", "cores 23", "cores 47"], None),
        # What differs in any run, or is that of a rank or a device.
        (["took 600", "took 600", "took 640"], None),
        (["600 MB", "600 MB", "640 MB"], None),
        (["gpu 0", "gpu 1", "gpu 1"], None),
        (["rows 600", "rows 640", "rows 660"], None),
        (["rows 600", "rows 640"], None),
    ],
)
def test_who_has_another_size(texts, ranks):
    places = places_of(*texts)
    odd = of_sizes(places, len(texts), [])
    assert (list(odd.ranks) if odd else None) == ranks


def test_two_ranks_with_two_versions_are_both_odd():
    line = "n1:1:2 [0] init.cc:1 NCCL WARN Mismatched NCCL version detected : rank 0 version 22000 rank 1 version 22100"
    assert of_versions(Places(tagged_lines(line))) is None


def test_the_last_words_of_a_rank_leave_out_what_follows_from_the_end():
    places = places_of("step 1", "data is exhausted", error="[1,1]<stderr>:Horovod has been shut down")
    assert "data is exhausted" in words_of(places, 1, 3).found
    assert words_of(places, 0, 3, telling=True) is None


def test_a_rank_without_a_timeout_is_late_only_where_it_tells_why():
    timeout = "[rank{0}]:[E1] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9)"
    late = "\n".join(timeout.format(rank) for rank in (1, 2))
    assert without_timeout(Places(tagged_lines(f"[rank0] saving the model\n{late}")), "").ranks == [0]
    assert without_timeout(Places(tagged_lines(f"[rank0] step 3\n{late}")), "") is None

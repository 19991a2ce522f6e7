# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collective operations of the lab's workload, by values."""

import collectives
import numpy as np
import pytest
from lab_ranks import Ranks


@pytest.mark.parametrize(
    ("rank", "inside", "across"),
    [(0, [0, 1], [0, 2, 4]), (3, [2, 3], [1, 3, 5]), (5, [4, 5], [1, 3, 5])],
)
def test_the_groups_of_six_ranks_in_pairs(rank, inside, across):
    assert collectives.groups(rank, 6, 2) == (inside, across)


def test_groups_of_one_and_of_all():
    assert collectives.groups(2, 3, 1) == ([2], [0, 1, 2])
    assert collectives.groups(2, 3, 3) == ([0, 1, 2], [2])


def test_a_gathered_array_holds_each_ranks_own_chunk():
    ranks = Ranks(3)

    def gather(rank, exchange):
        array = np.zeros(6, np.int64)
        array[slice(*collectives.own_chunk([0, 1, 2], rank, 6))] = rank + 1
        collectives.all_gather(exchange, [0, 1, 2], rank, [array])
        return array.tolist()

    assert ranks.run(gather) == [[3, 3, 1, 1, 2, 2]] * 3


def test_arrays_of_a_list_go_together_and_stay_apart():
    ranks = Ranks(3)

    def allreduce(rank, exchange):
        arrays = [np.full(length, 10**number * (rank + 1)) for number, length in enumerate((5, 0, 1, 7))]
        collectives.ring_allreduce(exchange, [0, 1, 2], rank, arrays, [np.empty_like(array) for array in arrays])
        return [array.tolist() for array in arrays]

    assert ranks.run(allreduce) == [[[6] * 5, [], [600], [6000] * 7]] * 3

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ring all-reduce of the lab's workload sums for every number of ranks and every length."""

import collectives
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 200), st.integers(1, 12))
def test_chunks_cover_an_array_once_and_evenly(length, parts):
    found = collectives.chunks(length, parts)
    assert [index for start, stop in found for index in range(start, stop)] == list(range(length))
    sizes = [stop - start for start, stop in found]
    assert len(sizes) == parts
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= length // parts + 1, "the buffer of the workload is this long"


@given(st.integers(1, 8), st.data())
def test_every_rank_ends_with_the_sum(size, data):
    length = data.draw(st.integers(0, 40))
    arrays = [data.draw(st.lists(st.integers(-99, 99), min_size=length, max_size=length)) for _rank in range(size)]
    expected = [sum(column) for column in zip(*arrays)]
    parts = collectives.chunks(length, size)
    steps = [collectives.ring_steps(rank, size) for rank in range(size)]
    for step in range(len(steps[0])):
        sent = [arrays[rank][slice(*parts[steps[rank][step][0]])] for rank in range(size)]
        for rank in range(size):
            _send, received, add = steps[rank][step]
            neighbour = (rank - 1) % size
            assert steps[neighbour][step][0] == received, "what one rank sends is what the next one waits for"
            start, stop = parts[received]
            pairs = zip(arrays[rank][start:stop], sent[neighbour])
            arrays[rank][start:stop] = [own + other if add else other for own, other in pairs]
    assert all(array == expected for array in arrays)


@given(st.integers(1, 16))
def test_each_rank_sends_the_least_that_an_all_reduce_can(size):
    for rank in range(size):
        assert len(collectives.ring_steps(rank, size)) == 2 * (size - 1)

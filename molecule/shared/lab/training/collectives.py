# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collective operations out of one that every pair of ranks has: send one array while receiving another.

Everywhere, exchange(send, receive, to, source) sends an array to one rank while it receives another from one, and a group is
the list of world ranks that take part, each of which calls the same function.
"""


def chunks(length, parts):
    """Return (start, stop) of each of the parts of an array; their lengths differ by one at most."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(zip(edges, edges[1:]))


def ring_steps(rank, size):
    """Return (chunk to send, chunk to receive, whether to add it) for each step of a ring all-reduce.

    The first half leaves the sum of chunk rank + 1 on each rank, the second gives everybody every chunk.
    """
    reduce_scatter = [((rank - step) % size, (rank - step - 1) % size, True) for step in range(size - 1)]
    all_gather = [((rank + 1 - step) % size, (rank - step) % size, False) for step in range(size - 1)]
    return reduce_scatter + all_gather


def walk(exchange, group, rank, array, steps, buffer=None):
    """Follow steps around the ring of a group."""
    place, size = group.index(rank), len(group)
    parts = chunks(len(array), size)
    to, source = group[(place + 1) % size], group[(place - 1) % size]
    for sent, received, add in steps:
        start, stop = parts[received]
        incoming = buffer[: stop - start] if add else array[start:stop]
        exchange(array[slice(*parts[sent])], incoming, to, source)
        if add:
            array[start:stop] += incoming


def own_chunk(group, rank, length):
    """Return (start, stop) of the chunk that is this rank's between the two halves of a ring all-reduce."""
    return chunks(length, len(group))[(group.index(rank) + 1) % len(group)]


def reduce_scatter(exchange, group, rank, array, buffer):
    """Sum an array over a group; only this rank's own chunk holds the whole sum then, the rest is scratch."""
    walk(exchange, group, rank, array, ring_steps(group.index(rank), len(group))[: len(group) - 1], buffer)


def all_gather(exchange, group, rank, array):
    """Give every rank of a group every other's own chunk of an array."""
    walk(exchange, group, rank, array, ring_steps(group.index(rank), len(group))[len(group) - 1 :])


def ring_allreduce(exchange, group, rank, array, buffer):
    """Sum a NumPy array over a group, in place, with the help of a buffer that holds its largest chunk."""
    reduce_scatter(exchange, group, rank, array, buffer)
    all_gather(exchange, group, rank, array)


def groups(rank, size, intra):
    """Return the two groups of a rank: intra consecutive ranks, and those at its place in all such groups."""
    first = rank - rank % intra
    return list(range(first, first + intra)), list(range(rank % intra, size, intra))


def allreduce_2d(exchange, rank, size, intra, array, buffer):
    """Sum a NumPy array over all ranks, in place, so that only 1/intra of it travels between groups.

    The buffer holds the largest chunk of the array in a group of intra ranks.
    """
    inside, across = groups(rank, size, intra)
    reduce_scatter(exchange, inside, rank, array, buffer)
    mine = array[slice(*own_chunk(inside, rank, len(array)))]
    ring_allreduce(exchange, across, rank, mine, buffer)
    all_gather(exchange, inside, rank, array)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collective operations out of one that every pair of ranks has: send to one while receiving from another.

Everywhere, exchange(outgoing, incoming, to, source) sends a list of NumPy arrays to one rank while it receives as many from
one, and a group is the list of world ranks that take part, each of which calls the same function. All arrays of a list are
on their way at once, one message each, as a framework hands over its gradients without waiting for each: ranks of the lab
share processors, and the time that one waits for its turn would else be counted for every tensor.
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


def walk(exchange, group, rank, arrays, steps, buffers=()):
    """Follow steps around the ring of a group."""
    place, size = group.index(rank), len(group)
    parts = [chunks(len(array), size) for array in arrays]
    to, source = group[(place + 1) % size], group[(place - 1) % size]
    for sent, received, add in steps:
        outgoing = [array[slice(*part[sent])] for array, part in zip(arrays, parts)]
        targets = [array[slice(*part[received])] for array, part in zip(arrays, parts)]
        incoming = [buffer[: len(target)] for buffer, target in zip(buffers, targets)] if add else targets
        exchange(outgoing, incoming, to, source)
        if add:
            for target, values in zip(targets, incoming):
                target += values


def own_chunk(group, rank, length):
    """Return (start, stop) of the chunk that is this rank's between the two halves of a ring all-reduce."""
    return chunks(length, len(group))[(group.index(rank) + 1) % len(group)]


def reduce_scatter(exchange, group, rank, arrays, buffers):
    """Sum arrays over a group; only this rank's own chunk of each holds the whole sum then, the rest is scratch."""
    walk(exchange, group, rank, arrays, ring_steps(group.index(rank), len(group))[: len(group) - 1], buffers)


def all_gather(exchange, group, rank, arrays):
    """Give every rank of a group every other's own chunk of each array."""
    walk(exchange, group, rank, arrays, ring_steps(group.index(rank), len(group))[len(group) - 1 :])


def ring_allreduce(exchange, group, rank, arrays, buffers):
    """Sum arrays over a group, in place, with the help of a buffer for each that holds its largest chunk."""
    reduce_scatter(exchange, group, rank, arrays, buffers)
    all_gather(exchange, group, rank, arrays)


def groups(rank, size, intra):
    """Return the two groups of a rank: intra consecutive ranks, and those at its place in all such groups."""
    first = rank - rank % intra
    return list(range(first, first + intra)), list(range(rank % intra, size, intra))


def allreduce_2d(exchange, rank, size, intra, arrays, buffers):
    """Sum arrays over all ranks, in place, so that a rank's traffic with other groups is about 1/intra of them.

    A buffer holds the largest chunk of its array in a group of intra ranks or, if intra is 1, of all.
    """
    inside, across = groups(rank, size, intra)
    reduce_scatter(exchange, inside, rank, arrays, buffers)
    mine = [array[slice(*own_chunk(inside, rank, len(array)))] for array in arrays]
    ring_allreduce(exchange, across, rank, mine, buffers)
    all_gather(exchange, inside, rank, arrays)

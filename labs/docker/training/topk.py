# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Top-k: every rank sends only its largest gradients, and keeps the rest for the next batch (error feedback)."""

import math

import collectives
import numpy as np

INDEX = np.dtype(np.int32)


def kept(elements, ratio):
    """The number of elements to send."""
    # 0.07 * 100 is 7.000000000000001: a product that should be whole mustn't be rounded up.
    return max(1, math.ceil(round(elements * ratio, 6)))


def select(array, count):
    """Return the indexes of the elements of largest magnitude, ascending; among equal ones the first are taken."""
    if count >= len(array):
        return np.arange(len(array), dtype=INDEX)
    magnitude = np.abs(array)
    # Much faster than sorting indexes along, of which nearly all would be dropped.
    least = np.partition(magnitude, len(array) - count)[len(array) - count]
    larger = np.flatnonzero(magnitude > least)
    equal = np.flatnonzero(magnitude == least)[: count - len(larger)]
    return np.sort(np.concatenate((larger, equal))).astype(INDEX)


def compress(total, ratio, precision):
    """Return (indexes, values to send, the residual to keep) of a gradient to which the last residual was added.

    All that isn't sent stays in the residual, also what a value loses by being sent in the precision given.
    """
    indexes = select(total, kept(len(total), ratio))
    # Half precision ends at 65504; what is beyond it waits.
    limit = np.finfo(precision).max
    values = np.clip(total[indexes], -limit, limit).astype(precision)
    residual = total.copy()
    residual[indexes] -= values
    return indexes, values, residual


def gather(exchange, rank, size, messages):
    """Return, for each of this rank's messages (indexes, values), those of all ranks, in the same order on each."""
    ranks, everyone = list(range(size)), []
    for indexes, values in messages:
        message = np.concatenate((indexes.view(np.uint8), values.view(np.uint8)))
        array = np.empty(size * len(message), np.uint8)
        array[slice(*collectives.own_chunk(ranks, rank, len(array)))] = message
        everyone.append(array)
    collectives.all_gather(exchange, ranks, rank, everyone)
    return [
        # Copies, because a message may start where no number of its type may.
        [
            (part[: indexes.nbytes].copy().view(INDEX), part[indexes.nbytes :].copy().view(values.dtype))
            for part in np.split(array, size)
        ]
        for array, (indexes, values) in zip(everyone, messages)
    ]


def sparse_sum(length, messages):
    """Return the sum of all messages, in single precision, zero where nobody sent anything."""
    total = np.zeros(length, np.float32)
    for indexes, values in messages:
        total[indexes] += values  # the indexes of one message differ
    return total

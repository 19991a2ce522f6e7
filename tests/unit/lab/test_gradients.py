# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Top-k by values, and a rank's gradients in every algorithm."""

import exchange_plan
import numpy as np
import pytest
import topk
from exchange_settings import Settings
from gradients import Gradients
from lab_ranks import Ranks

HOSTS = ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("elements", "ratio", "expected"),
    [(1, 0.01, 1), (100, 0.01, 1), (101, 0.01, 2), (100, 0.07, 7), (7, 1.0, 7), (1000, 0.0001, 1), (3, 0.34, 2)],
)
def test_how_many_are_kept(elements, ratio, expected):
    assert topk.kept(elements, ratio) == expected


def test_the_largest_magnitudes_are_selected_and_the_first_among_equals():
    array = np.array([1, -9, 3, 3, -3, 0], np.float32)
    assert topk.select(array, 1).tolist() == [1]
    assert topk.select(array, 3).tolist() == [1, 2, 3]
    assert topk.select(array, 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_what_half_precision_loses_stays():
    total = np.array([1, 4097, 100000], np.float32)
    indexes, values, residual = topk.compress(total, 0.6, np.float16)
    assert (indexes.tolist(), values.tolist()) == ([1, 2], [4096, 65504])
    assert residual.tolist() == [1, 1, 100000 - 65504]


# An odd number of values in half precision: messages begin where no single precision number may.
@pytest.mark.parametrize("precision", [np.float32, np.float16])
def test_everybody_gets_all_messages_in_one_order(precision):
    ranks = Ranks(3, ["a", "b", "b"])

    def gather(rank, exchange):
        indexes = np.array([0, rank + 1, 9], np.int32)
        (found,) = topk.gather(exchange, rank, 3, [(indexes, np.full(3, rank + 1, precision))])
        total = topk.sparse_sum(10, found)
        return [(index.tolist(), value.tolist()) for index, value in found], total.tolist()

    (messages, total), *others = ranks.run(gather)
    assert others == [(messages, total)] * 2
    assert sorted(messages) == [([0, number, 9], [number] * 3) for number in (1, 2, 3)]
    assert total == [6, 1, 2, 3, 0, 0, 0, 0, 0, 6]
    # To the other host: its own message and the one that came before, of 3 indexes and 3 values each.
    size = 2 * 3 * (4 + np.dtype(precision).itemsize)
    assert ranks.sent == [size, 0, size]


def batches(tensors, settings, half=False, count=1, spoil=None):
    """Return the ranks of a run on two hosts, their gradients, and whether every batch was found right."""
    transfers = exchange_plan.plan(tensors, 2 if half else 4, settings)
    ranks = Ranks(4, HOSTS)

    def run(rank, exchange):
        mine = Gradients(transfers, settings, rank, 4, half)
        if spoil:
            exchange = spoil(rank, exchange)
        return mine, [mine.batch(exchange, ranks.sum_over_ranks_of(rank)) for _batch in range(count)]

    found = ranks.run(run)
    return ranks, [mine for mine, _right in found], [right for _mine, right in found]


TWO_D = Settings(two_dimensional=True, intra_size=2, fusion_threshold=0)
TOPK = Settings(topk=True, topk_threshold=24000 * 4, fusion_threshold=0)
BOTH = TWO_D._replace(topk=True, topk_threshold=24000 * 4)
TENSORS = [48000, 24, 100, 240, 96000, 1]  # 2000, 1, 4, 10, 4000 and 1 elements


def test_compression_delays_gradients_until_they_are_large_enough():
    _ranks, gradients, right = batches(TENSORS, TOPK._replace(topk_ratio=0.25, topk_fp16=True), count=30)
    assert right == [[True] * 30] * 4
    first = gradients[0].transfers[0]
    for mine in gradients:
        assert np.array_equal(mine.summed, gradients[0].summed)
        assert (mine.residuals[first] < 30 * mine.own[:2000]).all(), "something has been sent of every element"
        assert mine.residuals[first].any(), "and something waits"


# Bytes a host sends in a batch, from the lengths alone. 6000 elements of the large tensors, 16 of the small ones.
def ring_bytes(elements, itemsize):
    """2 * 3/4 of an array leave each host, in chunks; exact where 4 divides it."""
    return 2 * 3 * elements // 4 * itemsize


@pytest.mark.parametrize(
    ("settings", "half", "expected"),
    [
        (Settings(fusion_threshold=0), False, ring_bytes(6000, 4)),
        (Settings(), False, ring_bytes(6000, 4)),
        (Settings(fusion_threshold=0), True, ring_bytes(6000, 2)),
        (TWO_D, False, 6000 * 4),
        (TWO_D, True, 6000 * 2),
        (TWO_D._replace(hierarchical_threshold=48000 * 4), False, 2000 * 4 + ring_bytes(4000, 4)),
        (BOTH, False, 3 * (20 + 40) * 8),
        (BOTH._replace(topk_fp16=True), False, 3 * (20 + 40) * 6),
        (BOTH._replace(topk_threshold=96000 * 4), False, 2000 * 4 + 3 * 40 * 8),
    ],
)
def test_what_a_host_sends(settings, half, expected):
    ranks, _gradients, right = batches([48000, 96000], settings, half, count=2)
    assert right == [[True, True]] * 4
    assert [(ranks.sent[0] + ranks.sent[1]) / 2, (ranks.sent[2] + ranks.sent[3]) / 2] == [expected, expected]


def lose_a_message(rank, exchange):
    """Return an exchange by which rank 1 finds zeros in place of what it was sent, once."""
    state = {"lost": rank != 1}

    def lossy(outgoing, incoming, to, source):
        exchange(outgoing, incoming, to, source)
        if not state["lost"]:
            state["lost"] = True
            incoming[0][:] = 0

    return lossy


@pytest.mark.parametrize("settings", [Settings(), TWO_D, TOPK])
def test_a_lost_message_is_noticed(settings):
    _ranks, _gradients, right = batches([96000], settings, spoil=lose_a_message)
    assert [False] in right

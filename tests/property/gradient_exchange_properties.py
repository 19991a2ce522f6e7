# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Exchanges of the lab's workload: every plan covers every tensor, 2D sums exactly, and top-k loses nothing."""

import collectives
import exchange_plan
import numpy as np
import topk
from exchange_plan import RING, TOPK, TWO_DIMENSIONAL
from exchange_settings import Settings
from gradients import Gradients
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lab_ranks import Ranks

# Each example starts a thread for every rank.
FEWER = settings(max_examples=20)
TENSORS = st.lists(st.integers(1, 3000), min_size=1, max_size=12)
THRESHOLDS = st.integers(0, 12000)
SETTINGS = st.builds(
    Settings,
    two_dimensional=st.booleans(),
    intra_size=st.sampled_from([1, 2, 4]),
    hierarchical_threshold=THRESHOLDS,
    topk=st.booleans(),
    topk_ratio=st.floats(0.01, 1),
    topk_threshold=THRESHOLDS,
    topk_fp16=st.booleans(),
    fusion_threshold=THRESHOLDS,
)
NUMBERS = st.floats(-1000, 1000, width=32)


@given(TENSORS, SETTINGS)
def test_a_plan_covers_every_tensor_once_and_in_order(tensors, chosen):
    transfers = exchange_plan.plan(tensors, 4, chosen)
    assert [transfer.start for transfer in transfers] == [0] + [transfer.stop for transfer in transfers[:-1]]
    rest = list(tensors)
    for transfer in transfers:
        mine, rest = rest[: transfer.tensors], rest[transfer.tensors :]
        assert transfer.stop - transfer.start == sum(map(exchange_plan.scaled, mine))
        assert {exchange_plan.algorithm(4 * tensor, chosen) for tensor in mine} == {transfer.algorithm}
        assert len(mine) == 1 or (transfer.algorithm != TOPK and 4 * sum(mine) <= chosen.fusion_threshold)
    assert rest == []


@given(TENSORS, SETTINGS)
def test_an_algorithm_is_used_only_where_it_is_on_and_its_threshold_lets_it(tensors, chosen):
    for tensor in tensors:
        way = exchange_plan.algorithm(tensor, chosen)
        by_topk = chosen.topk and tensor >= chosen.topk_threshold
        by_2d = chosen.two_dimensional and tensor <= chosen.hierarchical_threshold
        assert (way == TOPK) == by_topk
        assert (way == TWO_DIMENSIONAL) == (by_2d and not by_topk)
        assert (way == RING) == (not by_2d and not by_topk)


@FEWER
@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 40), st.data())
def test_2d_ends_with_the_dense_sum_on_every_rank(intra, count, length, data):
    size = intra * count
    numbers = st.lists(st.integers(-99, 99), min_size=length, max_size=length)
    arrays = [np.array(data.draw(numbers), np.int64) for _rank in range(size)]
    expected = sum(arrays).tolist()

    def allreduce(rank, exchange):
        array, buffer = arrays[rank].copy(), np.empty(length + 1, np.int64)
        collectives.allreduce_2d(exchange, rank, size, intra, [array], [buffer])
        return array.tolist()

    assert Ranks(size).run(allreduce) == [expected] * size


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.floats(0.001, 1), st.sampled_from([np.float32, np.float16]))
def test_top_k_sends_the_largest_and_keeps_the_rest(numbers, ratio, precision):
    total = np.array(numbers, np.float32)
    indexes, values, residual = topk.compress(total, ratio, precision)
    assert total.tolist() == np.array(numbers, np.float32).tolist(), "the caller compares with it"
    assert len(values) == len(set(indexes.tolist())) == topk.kept(len(total), ratio)
    others = np.delete(np.abs(total), indexes)
    assert not len(others) or np.abs(total[indexes]).min() >= others.max()
    sent = topk.sparse_sum(len(total), [(indexes, values)])
    assert np.array_equal(np.delete(residual, indexes), np.delete(total, indexes)), "nothing else is touched"
    assert np.allclose(sent + residual, total, rtol=1e-6, atol=1e-6)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.integers(0, 2), st.integers(-3, 3))
def test_top_k_selects_alike_whatever_the_scale(numbers, power, sign):
    assume(sign)
    array = np.array(numbers, np.float32)
    scaled = array * np.float32(2.0**power) * np.sign(sign)
    count = topk.kept(len(array), 0.3)
    assert topk.select(array, count).tolist() == topk.select(scaled, count).tolist()


@FEWER
@given(TENSORS, SETTINGS, st.booleans(), st.integers(1, 4))
def test_no_gradient_is_lost_over_batches(tensors, chosen, half, count):
    transfers = exchange_plan.plan(tensors, 2 if half else 4, chosen)
    ranks = Ranks(4)

    def run(rank, exchange):
        mine, given_away = Gradients(transfers, chosen, rank, 4, half), 0
        for _batch in range(count):
            assert mine.batch(exchange, ranks.sum_over_ranks_of(rank))
            given_away = given_away + mine.summed.astype(np.float64)
        return mine, given_away

    found = ranks.run(run)
    summed = found[0][1]
    assert all(np.array_equal(summed, other) for _mine, other in found)
    kept = np.zeros_like(summed)
    for mine, _summed in found:
        for transfer, residual in mine.residuals.items():
            kept[transfer.start : transfer.stop] += residual
    # 1 + 2 + 3 + 4 times the pattern, in each batch.
    expected = count * 10.0 * (np.arange(len(summed)) % 7 + 1)
    assert np.allclose(summed + kept, expected, rtol=0.01 if half else 1e-6, atol=0)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One rank's gradients: made, exchanged as planned, and held against what their sum has to be."""

import collectives
import exchange_plan
import numpy as np
import topk

SAMPLE = 16  # elements of each top-k transfer whose sum over all ranks is checked in every batch


def part(transfer):
    return slice(transfer.start, transfer.stop)


class Gradients:
    """The gradients of one rank; what top-k has not sent yet stays from batch to batch."""

    def __init__(self, transfers, settings, rank, size, half=False):
        """Gradients are in half precision if that is asked for, as with Horovod's --fp16-allreduce."""
        self.transfers, self.settings, self.rank, self.size = transfers, settings, rank, size
        self.precision = np.float16 if half else np.float32
        self.sent_precision = np.float16 if half or settings.topk_fp16 else np.float32
        self.tolerance = 0.01 if half else 0
        # Small whole numbers, so that the sum over all ranks is known; half precision holds them exactly up to 2048.
        pattern = (np.arange(transfers[-1].stop) % 7 + 1).astype(self.precision)
        self.own = pattern * self.precision(rank + 1)
        self.expected = pattern.astype(np.float32) * (size * (size + 1) / 2)
        self.summed = np.empty_like(self.own)
        self.buffers = {
            transfer: np.empty((transfer.stop - transfer.start) // self.parts() + 1, self.precision)
            for transfer in transfers
            if transfer.algorithm != exchange_plan.TOPK
        }
        self.residuals = {
            transfer: np.zeros(transfer.stop - transfer.start, np.float32)
            for transfer in transfers
            if transfer.algorithm == exchange_plan.TOPK
        }

    def parts(self):
        """Return into how few chunks the first of the ranks' rings may cut an array, which makes them largest."""
        intra = self.settings.intra_size
        # A group of one cuts nothing: the array goes whole to the ring across the groups.
        return intra if self.settings.two_dimensional and intra > 1 else self.size

    def batch(self, exchange, sum_over_ranks):
        """Exchange the gradients of a batch; return whether every sum that was checked is right.

        sum_over_ranks(array) returns the sum of a small array over all ranks, by other means than those under test.
        """
        self.dense(exchange, exchange_plan.RING)
        self.dense(exchange, exchange_plan.TWO_DIMENSIONAL)
        right = all(self.agrees(self.summed[part(done)], self.expected[part(done)]) for done in self.buffers)
        if self.residuals:
            given, received = self.sparse(exchange)
            # All ranks take part in this, whatever they found so far.
            close = np.allclose(received, sum_over_ranks(given), rtol=1e-5, atol=1e-3)
            right = right and bool(close)
        return right

    def dense(self, exchange, algorithm):
        """Sum all that goes by ring or by 2D."""
        transfers = [transfer for transfer in self.transfers if transfer.algorithm == algorithm]
        arrays = [self.summed[part(transfer)] for transfer in transfers]
        buffers = [self.buffers[transfer] for transfer in transfers]
        for array, transfer in zip(arrays, transfers):
            array[:] = self.own[part(transfer)]
        if transfers and algorithm == exchange_plan.RING:
            everyone = list(range(self.size))
            collectives.ring_allreduce(exchange, everyone, self.rank, arrays, buffers)
        elif transfers:
            collectives.allreduce_2d(exchange, self.rank, self.size, self.settings.intra_size, arrays, buffers)

    def sparse(self, exchange):
        """Exchange all that goes by top-k; return what this rank gave away and what all got, at a sample of elements.

        What was given away is what was there before less what stayed, so nothing may get lost, doubled or misplaced.
        """
        messages, given, received = [], [], []
        before = {transfer: kept + self.own[part(transfer)] for transfer, kept in self.residuals.items()}
        for transfer, total in before.items():
            indexes, values, self.residuals[transfer] = topk.compress(
                total, self.settings.topk_ratio, self.sent_precision
            )
            messages.append((indexes, values))
        gathered = topk.gather(exchange, self.rank, self.size, messages)
        for number, (transfer, theirs) in enumerate(zip(self.residuals, gathered)):
            total = topk.sparse_sum(transfer.stop - transfer.start, theirs)
            self.summed[part(transfer)] = total
            # All ranks know everybody's indexes, so all take the same sample.
            spread = np.linspace(0, len(total) - 1, SAMPLE // 2).astype(topk.INDEX)
            sample = np.concatenate((spread, theirs[number % self.size][0][: SAMPLE // 2]))
            given.append(before[transfer][sample] - self.residuals[transfer][sample])
            received.append(total[sample])
        return np.concatenate(given), np.concatenate(received)

    def agrees(self, found, expected):
        if np.array_equal(found, expected):
            return True
        return bool(np.allclose(found.astype(np.float32), expected, rtol=self.tolerance, atol=0))

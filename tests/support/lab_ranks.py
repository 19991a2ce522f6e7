# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ranks of the lab's workload as threads of one process, which exchange in memory what MPI would carry."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import traffic

SECONDS = 20  # after which a rank that waits for a message that nobody sends gives up


class Ranks:
    """Run a function on each of size ranks at once; hosts names the host of each."""

    def __init__(self, size, hosts=None):
        self.size, self.hosts = size, hosts or ["one"] * size
        self.mail = {(source, to): queue.Queue() for source in range(size) for to in range(size)}
        self.exchanges = [traffic.CountingExchange(self.exchange_of(rank), rank, self.hosts) for rank in range(size)]
        self.barrier, self.arrays = threading.Barrier(size), [None] * size

    def exchange_of(self, rank):
        def exchange(outgoing, incoming, to, source):
            self.mail[rank, to].put([array.copy() for array in outgoing])
            received = self.mail[source, rank].get(timeout=SECONDS)
            assert [array.nbytes for array in received] == [array.nbytes for array in incoming], "as much as waited for"
            for target, values in zip(incoming, received):
                target[:] = values

        return exchange

    def sum_over_ranks_of(self, rank):
        def sum_over_ranks(array):
            self.arrays[rank] = array
            self.barrier.wait(SECONDS)
            total = sum(self.arrays)
            self.barrier.wait(SECONDS)
            return total

        return sum_over_ranks

    def run(self, function):
        """The result of function(rank, exchange) on each rank."""
        with ThreadPoolExecutor(self.size) as pool:
            running = [pool.submit(function, rank, self.exchanges[rank]) for rank in range(self.size)]
            found = [rank.result(SECONDS) for rank in running]
        assert all(box.empty() for box in self.mail.values()), "all that was sent was waited for"
        return found

    @property
    def sent(self):
        """What each rank has sent to other hosts so far, in bytes."""
        return [exchange.sent for exchange in self.exchanges]

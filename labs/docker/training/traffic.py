# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many bytes cross between hosts, counted where they are sent."""


class CountingExchange:
    """An exchange that counts the bytes which this rank sends to ranks on other hosts: data, without any header."""

    def __init__(self, exchange, rank, hosts):
        """hosts holds the name of each rank's host."""
        self.exchange, self.hosts, self.own = exchange, hosts, hosts[rank]
        self.sent = 0

    def __call__(self, outgoing, incoming, to, source):
        if self.hosts[to] != self.own:
            self.sent += sum(array.nbytes for array in outgoing)
        self.exchange(outgoing, incoming, to, source)


def busiest(sent, hosts):
    """The bytes that the ranks of a host sent, for the host with the most.

    Hosts send side by side, each through a link of its own, so this one decides how long it takes.
    """
    return max(sum(count for count, name in zip(sent, hosts) if name == host) for host in set(hosts))


def line(sent, rate_mbit=None):
    """The line of the bytes of a batch in the output."""
    text = "Bytes sent by the busiest host: %d per batch" % sent
    if rate_mbit:
        text += ", %.2f s at %g Mbit/s" % (sent * 8 / (rate_mbit * 1e6), rate_mbit)
    return text

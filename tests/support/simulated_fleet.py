# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fleets of simulated hosts with known faults, and searches on them.

A run is as slow as its slowest host. Its noise has four parts: one of the run, one of each host that lasts from round to round
(autocorrelated), one of the whole fleet that drifts, and outliers, which are 10 to 40 % slower.
"""

import math
import random
from typing import NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer, next_step
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import ALONE, Run, Search, recorded

OUTLIERS = 0.005
# The part of the variance of a run that lasts, and how much of it is left in the next round.
LASTING, MEMORY = 0.2, 0.5


class Fault(NamedTuple):
    """A share by which a host is slower; a fault of its network doesn't show alone."""

    host: str
    loss: float
    network: bool


class Fleet:
    """Hosts whose runs take no time."""

    def __init__(self, rng, size, noise, faults=(), outliers=OUTLIERS, lasting=LASTING):
        self.rng, self.noise, self.outliers = rng, noise, outliers
        self.hosts = [f"node{number:03d}" for number in range(1, size + 1)]
        self.faults = {fault.host: fault for fault in faults}
        self.own, self.common = noise * math.sqrt(1 - lasting), noise * math.sqrt(lasting)
        self.state = {host: rng.gauss(0, self.common) for host in self.hosts}
        self.level = 0.0

    def next_round(self):
        """Let time pass."""
        self.level += self.rng.gauss(0, self.noise)
        fresh = self.common * math.sqrt(1 - MEMORY**2)
        self.state = {host: MEMORY * value + self.rng.gauss(0, fresh) for host, value in self.state.items()}

    def value(self, hosts):
        """The value that a run over hosts measures; larger is faster."""
        shifts = [self.state[host] + self.loss(host, len(hosts)) for host in hosts]
        value = self.level + min(shifts) + self.rng.gauss(0, self.own)
        if self.rng.random() < self.outliers:
            value += math.log(1 - self.rng.uniform(0.1, 0.4))
        return 100 * len(hosts) * math.exp(value)

    def loss(self, host, size):
        fault = self.faults.get(host)
        return math.log(1 - fault.loss) if fault and (size > 1 or not fault.network) else 0.0


class TrunkFleet(Fleet):
    """Runs between the two halves of the hosts are slower."""

    def value(self, hosts):
        sides = {self.hosts.index(host) < len(self.hosts) // 2 for host in hosts}
        return super().value(hosts) * (0.7 if len(sides) > 1 else 1)


class BrokenFleet(Fleet):
    """Each broken host ends all of its runs from a round on."""

    def __init__(self, rng, size, noise, broken, **options):
        super().__init__(rng, size, noise, **options)
        self.broken, self.round = broken, 0

    def next_round(self):
        super().next_round()
        self.round += 1

    def value(self, hosts):
        value = super().value(hosts)
        return None if any(self.broken.get(host, self.round + 1) <= self.round for host in hosts) else value


class Outcome(NamedTuple):
    """The end of a simulated search."""

    answer: Answer
    rounds: int
    runs: int
    accused: frozenset
    expected: frozenset
    seconds: tuple

    @property
    def exact(self):
        return self.accused == self.expected and self.answer.kind in ("located", "nobody")

    @property
    def failing(self):
        """The hosts whose runs fail."""
        return {host for one in self.answer.findings if one.kind == "failing" for host in one.hosts}

    @property
    def wrong(self):
        """Whether a healthy host was accused."""
        return bool(self.accused - self.expected)

    @property
    def other(self):
        """Whether the answer has another finding than a host: a link or a boundary."""
        return any(one.kind not in ("host", "failing") for one in self.answer.findings)

    @property
    def false(self):
        """Whether anything was accused that is healthy, in a fleet whose only faults are those of hosts."""
        return self.wrong or self.other


def draw_faults(rng, hosts, count, least=0.05, most=0.5):
    """Faults of random hosts, sizes and kinds."""
    return [Fault(host, rng.uniform(least, most), rng.random() < 0.5) for host in rng.sample(hosts, count)]


def searched(fleet, effect=0.1, rounds=20, minutes=None, seconds=lambda: 60.0, failure=None, **options):
    """The outcome of a search on a fleet. seconds gives the length of each run; failure is the reason of one without a value."""
    search = Search(tuple(fleet.hosts), effect=effect, budget=Budget(minutes, rounds), **options)
    runs = 0
    while True:
        step = next_step(search)
        if isinstance(step, Answer):
            break
        fleet.next_round()
        done = [Run(run.hosts, fleet.value(run.hosts), failure, seconds()) for run in step.runs]
        runs += len(done)
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
    found = frozenset(host for one in step.findings if one.kind == "host" for host in one.hosts)
    return Outcome(
        step, len(search.rounds), runs, found, frozenset(fleet.faults), tuple(one.seconds for one in search.rounds)
    )


def rounds_until_accused(fleet, host, suspects, effect=0.1, rounds=12):
    """The number of rounds after which a search that begins with suspects accuses a host, None without."""
    search = Search(tuple(fleet.hosts), effect=effect, budget=Budget(None, rounds), suspects=tuple(suspects))
    while True:
        step = next_step(search)
        if isinstance(step, Answer):
            return None
        fleet.next_round()
        done = [Run(run.hosts, fleet.value(run.hosts), None, 60.0) for run in step.runs]
        search = recorded(search._replace(rounds=(*search.rounds, step)), done)
        if host in analysis(search).accused:
            return len(search.rounds)


def trial(seed, size, noise, count, effect=0.1, least=0.05, most=0.5, **options):
    """The outcome of one random fleet."""
    rng = random.Random(f"{seed} {size} {noise} {count}")
    names = Fleet(rng, size, noise).hosts
    return searched(Fleet(rng, size, noise, draw_faults(rng, names, count, least, most)), effect, **options)


__all__ = [
    "ALONE",
    "BrokenFleet",
    "Fault",
    "Fleet",
    "Outcome",
    "TrunkFleet",
    "draw_faults",
    "rounds_until_accused",
    "searched",
    "trial",
]

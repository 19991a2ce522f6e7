# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the runs of a search show about each host, each pair and each boundary. Values in, values out.

A run is compared with the runs of its round over hosts of like hardware that cross the same boundaries, so that a drift of the
whole fleet cancels. A run is as slow as its slowest host: a run with a host that was accused says nothing about the other one.
"""

import math
from collections import Counter
from statistics import median
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise, estimated
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    NO_EVIDENCE,
    Evidence,
    Observation,
    accuse_bound,
    clear_bound,
    combined,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.crossing import Value, shifts
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import ALONE, PAIRS, Search

# A class of runs with fewer of them in a round has no level of its own.
LEAST_OF_A_CLASS = 3
# The ratio from which a host or pair is a suspect: its next runs are the proof.
SUSPECT = math.log(20)
# The ratio of a single run from which its pair runs again, with up to so many hosts; with more, more runs are slow by chance.
UNEXPLAINED, HOSTS_OF_UNEXPLAINED = math.log(20), 16
MOST_PASSES = 8
# A host is accused from so many slow runs on: two outliers of one host are as likely as the rate of false accusations in a large fleet.
LEAST_SLOW = 3
# The weight of "runs of one host are independent", in hosts, and the most that they may depend on each other.
PRIOR_HOSTS = 32
# The ratio, for each host of the fleet, of one that the counters of an earlier run named: they name any healthy host in at most 1 run of
# 100, and half of the slow ones.
NAMED = 50
MOST_INFLATION = 6.0

Key = Tuple[int, str, FrozenSet[str]]
Pair = FrozenSet[str]


class Point(NamedTuple):
    """A run with a value, as the logarithm that is compared with the level of its key; larger is faster."""

    round: int
    hosts: Tuple[str, ...]
    log: float
    key: Key


class Judged(NamedTuple):
    """A run beside its level, with its densities."""

    point: Point
    residual: float
    observation: Observation

    @property
    def evidence(self) -> Evidence:
        return combined([self.as_of_a_pair])

    @property
    def as_of_a_pair(self) -> Observation:
        """The observation for a hypothesis about the pair: what its hosts have in common over several runs is no part of it."""
        return self.observation._replace(noise=self.observation.noise._replace(inflation=1.0))


class Analysis(NamedTuple):
    """The state of knowledge after some rounds."""

    runs: Sequence[Judged]
    noise: Mapping[int, Noise]
    """By the number of hosts of a run."""
    pairs: Mapping[str, Evidence]
    """Of runs over several hosts, for each host."""
    every: Mapping[str, Evidence]
    """Of all runs, for each host."""
    accused: Tuple[str, ...]
    links: Mapping[Pair, Evidence]
    """The pairs with a slow run that neither of their hosts explains."""

    def best(self, host: str) -> Evidence:
        """The stronger evidence of a host."""
        return max(self.pairs.get(host, NO_EVIDENCE), self.every.get(host, NO_EVIDENCE), key=lambda one: one.mixture)

    def cleared(self, host: str, bound: float) -> bool:
        """Whether a host is not slower by the effect; only runs over several hosts show its network."""
        evidence = self.pairs.get(host, NO_EVIDENCE)
        return evidence.runs > 0 and evidence.largest <= bound


def hypotheses(search: Search) -> int:
    """The number of hypotheses that share the rate of false accusations: each host in two ways, pairs, boundaries."""
    return 2 * max(1, len(search.hosts)) + 2 * len(search.boundaries)


def run_values(search: Search) -> List[Value]:
    """The runs with a value."""
    sign = 1 if search.higher_is_better else -1
    return [
        Value(
            one.number,
            search.hardware.get(run.hosts[0], ""),
            run.hosts,
            search.crossed(run.hosts),
            sign * math.log(run.value),
        )
        for one in search.rounds
        if one.kind in (ALONE, PAIRS)
        for run in one.runs
        if run.done and run.value is not None
    ]


def points(search: Search) -> List[Point]:
    """The runs with a value. Those of a large class have its level, the others that of all, moved by the boundaries that they cross."""
    values = run_values(search)
    moved = shifts(values, search.boundaries, search.effect)
    sizes = Counter((value.round, value.like, value.crossed) for value in values)
    found = []
    for value in values:
        large = sizes[value.round, value.like, value.crossed] >= LEAST_OF_A_CLASS
        log = value.log - (0.0 if large else sum(moved.get(name, 0.0) for name in value.crossed))
        found.append(
            Point(value.round, value.hosts, log, (value.round, value.like, value.crossed if large else frozenset()))
        )
    return found


def _levels(of_runs: Sequence[Point], doubtful: Sequence[str]) -> Dict[Key, float]:
    """The median of each class in each round, without the runs of doubtful hosts as far as others are left."""
    by_key: Dict[Key, List[Point]] = {}
    for point in of_runs:
        by_key.setdefault(point.key, []).append(point)
    found = {}
    for key, members in by_key.items():
        good = [point.log for point in members if not set(point.hosts) & set(doubtful)]
        values = good if len(good) >= 2 else [point.log for point in members]
        found[key] = median(values)
    return found


def _inflation(residuals: Sequence[Tuple[Point, float]], doubtful: Sequence[str], scale: float) -> float:
    """How much more the means of hosts differ than independent runs would let them."""
    of_host: Dict[str, List[float]] = {}
    for point, residual in residuals:
        for host in point.hosts if not set(point.hosts) & set(doubtful) else ():
            of_host.setdefault(host, []).append(residual)
    means = [abs(sum(values)) / math.sqrt(len(values)) for values in of_host.values() if len(values) > 1]
    if not means:
        return 1.0
    ratio = (1.4826 * median(means) / scale) ** 2
    return min(MOST_INFLATION, max(1.0, (PRIOR_HOSTS + len(means) * ratio) / (PRIOR_HOSTS + len(means))))


def _judged(search: Search, of_runs: Sequence[Point], doubtful: Sequence[str]) -> Tuple[List[Judged], Dict[int, Noise]]:
    levels = _levels(of_runs, doubtful)
    residuals = [(point, point.log - levels[point.key]) for point in of_runs]
    noise: Dict[int, Noise] = {}
    for size in {len(point.hosts) for point in of_runs}:
        mine = [(point, value) for point, value in residuals if len(point.hosts) == size]
        good = [value for point, value in mine if not set(point.hosts) & set(doubtful)]
        count = len({point.key for point, _value in mine})
        plain = estimated(good, count)
        noise[size] = plain._replace(inflation=_inflation(mine, doubtful, plain.scale))
    runs = [
        Judged(point, value, observation(value, noise[len(point.hosts)], search.effect)) for point, value in residuals
    ]
    return runs, noise


def _named(search: Search, host: str, evidence: Evidence) -> Evidence:
    """The evidence of a host together with that of the counters, which counts as slow runs, but never alone."""
    if host not in search.suspects or not evidence.runs:
        return evidence
    ratio = math.log(NAMED * len(search.comparable))
    return evidence._replace(mixture=evidence.mixture + ratio, slow=evidence.slow + LEAST_SLOW - 1)


def _of_hosts(
    search: Search, runs: Sequence[Judged], accused: Sequence[str], links: Sequence[Pair]
) -> Tuple[Dict[str, Evidence], Dict[str, Evidence]]:
    """The evidence of each host from runs over several hosts, and from all runs."""
    several: Dict[str, List[Observation]] = {host: [] for host in search.comparable}
    single: Dict[str, List[Observation]] = {host: [] for host in several}
    for run in runs:
        members = run.point.hosts
        if len(members) == 2 and frozenset(members) in links:
            continue
        for host in members:
            if host in several and not any(other in accused for other in members if other != host):
                (several if len(members) > 1 else single)[host].append(run.observation)
    pairs = {host: _named(search, host, combined(seen)) for host, seen in several.items()}
    return pairs, {host: _named(search, host, combined([*single[host], *seen])) for host, seen in several.items()}


def _without(runs: Sequence[Judged], host: str, members: Sequence[str]) -> Evidence:
    """The evidence of a host from its runs with other partners."""
    own = [run for run in runs if host in run.point.hosts and len(run.point.hosts) > 1]
    return combined([run.observation for run in own if set(run.point.hosts) != set(members)])


def _links(runs: Sequence[Judged], pairs: Mapping[str, Evidence], accused: Sequence[str], bound: float) -> List[Pair]:
    """The pairs whose slow runs remain unexplained: both hosts are cleared by their other runs."""
    found = []
    least = UNEXPLAINED + math.log(max(1.0, len(pairs) / HOSTS_OF_UNEXPLAINED))
    for run in runs:
        members = run.point.hosts
        if len(members) != 2 or set(members) & set(accused) or run.evidence.mixture < least:
            continue
        others = [_without(runs, host, members) for host in members]
        if all(one.runs and one.largest <= bound for one in others):
            found.append(frozenset(members))
    return found


def _strength(*evidence: Evidence) -> float:
    """The strongest evidence that rests on enough slow runs for an accusation."""
    return max((one.mixture for one in evidence if one.slow >= LEAST_SLOW), default=0.0)


def analysis(search: Search) -> Analysis:
    """What all runs up to now show. Hosts are accused one by one, the strongest evidence first."""
    of_runs, hosts = points(search), search.comparable
    accept, reject = accuse_bound(search.rates, hypotheses(search)), clear_bound(search.rates)
    accused: Tuple[str, ...] = ()
    doubtful: Tuple[str, ...] = ()
    links: List[Pair] = []
    for _pass in range(MOST_PASSES):
        runs, noise = _judged(search, of_runs, doubtful)
        before = (accused, doubtful, links)
        accused = ()
        while True:
            pairs, every = _of_hosts(search, runs, accused, links)
            strengths = {host: _strength(pairs[host], every[host]) for host in hosts if host not in accused}
            top = max(strengths, key=strengths.__getitem__, default=None)
            if top is None or strengths[top] < accept:
                break
            accused = (*accused, top)
        # One that later accusations explain is no longer accused.
        accused = tuple(host for host in accused if _strength(pairs[host], every[host]) >= accept)
        pairs, every = _of_hosts(search, runs, accused, links)
        suspects = [host for host in hosts if max(pairs[host].mixture, every[host].mixture) >= SUSPECT]
        doubtful = tuple(sorted({*accused, *suspects}))
        links = _links(runs, pairs, accused, reject)
        if (accused, doubtful, links) == before:
            break
    of_links = {
        pair: combined([run.as_of_a_pair for run in runs if frozenset(run.point.hosts) == pair]) for pair in set(links)
    }
    return Analysis(runs, noise, pairs, every, accused, of_links)

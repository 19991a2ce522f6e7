# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the runs of a search show about each host, each pair and each boundary. Values in, values out.

A run is compared with the other runs of its round over hosts of like hardware that cross the same boundaries, so that a drift of the
whole fleet cancels. A run is as slow as its slowest host: a run with a host that was accused says nothing about the other one.
"""

import math
from statistics import median
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    NO_EVIDENCE,
    Evidence,
    Observation,
    clear_bound,
    combined,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate import several
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import HOST, SEVERAL, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import (
    Point,
    Scales,
    compared_with_others,
    points,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

# The ratio from which a host or pair is a suspect: its next runs are the proof.
SUSPECT = math.log(20)
# The ratio of a single run from which its pair runs again, with up to so many hosts; with more, more runs are slow by chance.
UNEXPLAINED, HOSTS_OF_UNEXPLAINED = math.log(20), 16
MOST_PASSES = 8
# A host is accused from so many slow runs on, alone and with different partners: two outliers of one host are as likely as the rate of
# false accusations in a large fleet, and one partner may have a slow link to it.
LEAST_SLOW = 3
# The ratio, for each host of the fleet, of one that the counters of an earlier run named: they name any healthy host in at most 1 run of
# 100, and half of the slow ones.
NAMED = 50

Pair = FrozenSet[str]


class Judged(NamedTuple):
    """A run beside its level, with its densities."""

    point: Point
    residual: float
    width: float
    observation: Observation

    @property
    def evidence(self) -> Evidence:
        return combined([self.as_of_a_pair])

    @property
    def as_of_a_pair(self) -> Observation:
        """The observation for a hypothesis about the pair: what its hosts have in common over several runs is no part of it."""
        return self.observation._replace(noise=self.observation.noise._replace(inflation=1.0))


Seen = Callable[[Judged, str], Observation]


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
    doubtful: FrozenSet[str]
    """The hosts of slow runs that are neither accused nor cleared by their other runs."""

    def best(self, host: str) -> Evidence:
        """The stronger evidence of a host."""
        return max(self.pairs.get(host, NO_EVIDENCE), self.every.get(host, NO_EVIDENCE), key=lambda one: one.mixture)

    def cleared(self, host: str, bound: float) -> bool:
        """Whether a host is not slower by the effect; only runs over several hosts show its network."""
        evidence = self.pairs.get(host, NO_EVIDENCE)
        return evidence.runs > 0 and evidence.largest <= bound


def _named(search: Search, host: str, evidence: Evidence) -> Evidence:
    """The evidence of a host together with that of the counters, which counts as slow runs, but never alone."""
    if host not in search.suspects or not evidence.runs:
        return evidence
    ratio = math.log(NAMED * len(search.comparable))
    return evidence._replace(mixture=evidence.mixture + ratio, slow=evidence.slow + LEAST_SLOW - 1)


def _of_hosts(
    search: Search, runs: Sequence[Judged], accused: Sequence[str], links: Sequence[Pair], seen_by: Seen
) -> Tuple[Dict[str, Evidence], Dict[str, Evidence]]:
    """The evidence of each host from runs over several hosts, and from all runs."""
    several: Dict[str, List[Tuple[Judged, Observation]]] = {host: [] for host in search.comparable}
    single: Dict[str, List[Tuple[Judged, Observation]]] = {host: [] for host in several}
    for run in runs:
        members = run.point.hosts
        if len(members) == 2 and frozenset(members) in links:
            continue
        for host in members:
            if host in several and not any(other in accused for other in members if other != host):
                (several if len(members) > 1 else single)[host].append((run, seen_by(run, host)))
    pairs = {host: _named(search, host, _with_partners(seen)) for host, seen in several.items()}
    return pairs, {
        host: _named(search, host, _with_partners([*single[host], *seen])) if single[host] else pairs[host]
        for host, seen in several.items()
    }


def _with_partners(seen: Sequence[Tuple[Judged, Observation]]) -> Evidence:
    """The evidence of runs. Slow runs with the same partner count once: their cause may be the link between the two."""
    slow = {run.point.hosts for run, one in seen if one.residual < -one.least / 2}
    return combined([one for _run, one in seen])._replace(slow=len(slow))


def _without(runs: Sequence[Judged], host: str, members: Sequence[str], effect: float) -> Evidence:
    """The evidence of a host for an effect, from its runs with other partners."""
    own = [run for run in runs if host in run.point.hosts and len(run.point.hosts) > 1]
    seen = [run for run in own if set(run.point.hosts) != set(members)]
    return combined([observation(run.residual, run.observation.noise, effect, run.width) for run in seen])


def _unexplained(
    runs: Sequence[Judged], pairs: Mapping[str, Evidence], accused: Sequence[str], search: Search
) -> Tuple[List[Pair], List[str]]:
    """The pairs with a slow run whose hosts are both cleared by their other runs, and the hosts of slow runs that are not yet.

    A host is cleared here if its other runs don't show half of the loss of the pair: then the pair is slower than its hosts.
    """
    links, doubtful = [], []
    least = UNEXPLAINED + math.log(max(1.0, len(pairs) / HOSTS_OF_UNEXPLAINED))
    for run in runs:
        members = run.point.hosts
        if len(members) != 2 or run.residual > -run.observation.least / 2 or set(members) & set(accused):
            continue
        if run.evidence.mixture < least:
            continue
        loss = 1 - math.exp(median(one.residual for one in runs if set(one.point.hosts) == set(members)) / 2)
        others = [_without(runs, host, members, max(search.effect, loss)) for host in members]
        slow = [host for host, one in zip(members, others) if not one.runs or one.largest > clear_bound(search.rates)]
        doubtful += slow
        links += [frozenset(members)] if not slow else []
    return links, doubtful


def _strength(*evidence: Evidence) -> float:
    """The strongest evidence that rests on enough slow runs for an accusation."""
    return max((one.mixture for one in evidence if one.slow >= LEAST_SLOW), default=0.0)


def analysis(search: Search) -> Analysis:
    """What all runs up to now show: hosts that are accused one by one, or several of few at once."""
    of_runs = points(search)
    found = _settled(search, of_runs, (), accept(search, HOST))
    least = -math.log(1 - search.effect)
    unlike = [run for run in found.runs if abs(run.residual) > least and not set(run.point.hosts) & set(found.accused)]
    if len(unlike) < LEAST_SLOW:
        return found
    hosts = tuple(host for host in search.comparable if any(host in point.hosts for point in of_runs))
    for chosen in several.candidates(tuple(of_runs), hosts):
        other = _settled(search, of_runs, chosen, accept(search, SEVERAL))
        if set(other.accused) >= set(chosen) and len(other.accused) > len(found.accused):
            return other
    return found


def _settled(search: Search, of_runs: Sequence[Point], accused: Tuple[str, ...], bound: float) -> Analysis:
    """Hosts are accused one by one, the strongest evidence first, from runs beside those without hosts that are accused already."""
    hosts = search.comparable
    links: List[Pair] = []
    for _pass in range(MOST_PASSES):
        compared = compared_with_others(of_runs, accused)
        scales = Scales(compared, accused)
        seen_by = _observer(scales, search.effect)
        runs = [
            Judged(point, residual, width, observation(residual, scales.all[len(point.hosts)], search.effect, width))
            for point, residual, width in compared
        ]
        before = (accused, links)
        accused = ()
        while True:
            pairs, every = _of_hosts(search, runs, accused, links, seen_by)
            strengths = {host: _strength(pairs[host], every[host]) for host in hosts if host not in accused}
            top = max(strengths, key=strengths.__getitem__, default=None)
            if top is None or strengths[top] < bound:
                break
            accused = (*accused, top)
        # One that later accusations explain is no longer accused.
        accused = tuple(host for host in accused if _strength(pairs[host], every[host]) >= bound)
        pairs, every = _of_hosts(search, runs, accused, links, seen_by)
        links, doubtful = _unexplained(runs, pairs, accused, search)
        if (accused, links) == before:
            break
    of_links = {
        pair: combined([run.as_of_a_pair for run in runs if frozenset(run.point.hosts) == pair])
        for pair in sorted(set(links), key=sorted)
    }
    return Analysis(runs, scales.all, pairs, every, accused, of_links, frozenset(doubtful))


def _observer(scales: Scales, effect: float) -> Seen:
    """How a run is seen by one of its hosts: with the noise of the others."""
    kept: Dict[Tuple[Point, str], Observation] = {}

    def seen_by(run: Judged, host: str) -> Observation:
        noise = scales.of(len(run.point.hosts), host)
        if noise is scales.all[len(run.point.hosts)]:
            return run.observation
        if (run.point, host) not in kept:
            kept[run.point, host] = observation(run.residual, noise, effect, run.width)
        return kept[run.point, host]

    return seen_by

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What shows only in runs over more than two hosts: halves of the hosts against each other, then the whole. Values in, values out.

The halves follow the order of the inventory, where hosts of a rack are usually side by side. Both run at the same time, so that a
drift of all hosts cancels. A slower half is halved again. If the halves of a slow group are alike, the group is the answer, and an
exchange of one of its halves is the proof.
"""

import math
from statistics import mean, median
from typing import List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import combined, decided, observation
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis, hypotheses
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import HALVES, PAIRS, Round, Run, Search

# A run over fewer hosts is a pair or one host.
LEAST_HOSTS = 3
# The least loss to find: what the halves let expect of the whole is an estimate, and each run over many hosts costs a round.
EFFECT = 0.25
# A comparison that is not decided after so many rounds, or fails so often, ends.
MOST_ROUNDS, MOST_FAILURES = 6, 2

Hosts = Tuple[str, ...]


class Group(NamedTuple):
    """Hosts that are slow together, and in how large a run. Without a proof they are a suspicion."""

    hosts: Hosts
    size: int
    loss: float
    proved: bool


class Outcome(NamedTuple):
    """What is known: the runs that are needed next, or the slow group; whole is the loss of the run over all hosts alone."""

    needed: Tuple[Hosts, ...] = ()
    group: Optional[Group] = None
    whole: Optional[float] = None


class Verdict(NamedTuple):
    """Of two groups of the same size the slower one, None where they are alike or it is not known; by how much."""

    open: bool
    slower: Optional[int] = None
    loss: float = 0.0
    known: bool = False


def outcome(search: Search, state: Analysis) -> Outcome:
    """What the runs over more than two hosts show; nothing for few hosts, and for hosts of different hardware."""
    hosts = tuple(search.comparable)
    if len(hosts) < 2 * LEAST_HOSTS or len({search.hardware.get(host, "") for host in hosts}) > 1:
        return Outcome()
    group: Optional[Group] = None
    other: Hosts = ()
    while len(hosts) >= 2 * LEAST_HOSTS:
        half = len(hosts) // 2
        halves = hosts[:half], hosts[half : 2 * half]
        verdict = _compared(search, state, halves)
        if verdict.open:
            return Outcome(halves, group)
        if verdict.slower is None:
            break
        hosts, other = halves[verdict.slower], halves[1 - verdict.slower]
        group = Group(hosts, half, verdict.loss, False)
    return _whole(search, state, hosts) if group is None else _exchanged(search, state, group, other)


def _exchanged(search: Search, state: Analysis, group: Group, other: Hosts) -> Outcome:
    """The proof: the halves of the slow group, each with a half of the hosts beside it."""
    half = len(group.hosts) // 2
    first, second = group.hosts[:half], group.hosts[half:]
    mixed = (*first, *other[half:]), (*second, *other[:half])
    verdict = _compared(search, state, mixed)
    if verdict.open:
        return Outcome(mixed, group)
    hosts = group.hosts if verdict.slower is None else (first, second)[verdict.slower]
    return Outcome(group=group._replace(hosts=hosts, proved=verdict.known))


def _value(search: Search, one: Round, hosts: Hosts) -> Optional[float]:
    """The logarithm of the value of the run over these hosts in a round; larger is faster."""
    sign = 1 if search.higher_is_better else -1
    values = [run.value for run in one.runs if set(run.hosts) == set(hosts)]
    return sign * math.log(values[0]) if values and values[0] is not None else None


def _rounds(search: Search, hosts: Hosts) -> List[Round]:
    return [one for one in search.rounds if one.kind == HALVES and set(hosts) in [set(run.hosts) for run in one.runs]]


def _compared(search: Search, state: Analysis, halves: Tuple[Hosts, Hosts]) -> Verdict:
    rounds = [one for one in _rounds(search, halves[0]) if one in _rounds(search, halves[1])]
    pairs = [(_value(search, one, halves[0]), _value(search, one, halves[1])) for one in rounds]
    gaps = [first - second for first, second in pairs if first is not None and second is not None]
    plain = state.noise.get(2, Noise())
    noise = plain._replace(scale=plain.scale * math.sqrt(2), inflation=1.0)
    count = 2 * hypotheses(search)
    slower = [
        decided(
            combined([observation(sign * gap, noise, max(search.effect, EFFECT)) for gap in gaps]), search.rates, count
        )
        for sign in (1, -1)
    ]
    for place in (0, 1):
        if gaps and slower[place]:
            return Verdict(False, place, 1 - math.exp(-abs(median(gaps))), True)
    ended = len(rounds) >= MOST_ROUNDS or len(rounds) - len(gaps) >= MOST_FAILURES
    alike = bool(gaps) and slower == [False, False]
    return Verdict(not ended and not alike, known=alike)


def _level(search: Search, kind: str, size: int) -> List[float]:
    """The mean of the runs over so many hosts in each round."""
    sign = 1 if search.higher_is_better else -1
    of_rounds = [
        [sign * math.log(run.value) for run in one.runs if len(run.hosts) == size and run.value is not None]
        for one in search.rounds
        if one.kind == kind
    ]
    return [mean(values) for values in of_rounds if values]


def _whole(search: Search, state: Analysis, hosts: Hosts) -> Outcome:
    """The run over all hosts, compared with what pairs and halves let expect of it.

    The value per doubling of the hosts grows at least as much as before: an all-reduce over n hosts sends 2 (n - 1) / n of its bytes.
    """
    half = len(hosts) // 2
    hosts = hosts[: 2 * half]
    halves, pairs = _level(search, HALVES, half), _level(search, PAIRS, 2)
    rounds = _rounds(search, hosts)
    found = _level(search, HALVES, len(hosts))
    if not halves or not pairs or len(rounds) - len(found) >= MOST_FAILURES:
        return Outcome()
    slope = (median(halves) - median(pairs)) / math.log(half / 2)
    expected = median(halves) + slope * math.log(2)
    plain = state.noise.get(2, Noise())
    drift = 1.4826 * median(abs(after - before) for before, after in zip(pairs, pairs[1:])) if len(pairs) > 1 else 0.0
    noise = plain._replace(scale=math.hypot(plain.scale, 2 * max(drift, plain.scale)), inflation=1.0)
    evidence = combined([observation(value - expected, noise, max(search.effect, EFFECT)) for value in found])
    slower = decided(evidence, search.rates, 2 * hypotheses(search))
    if slower is None and len(found) < MOST_ROUNDS:
        return Outcome((hosts,))
    return Outcome(whole=1 - math.exp(median(found) - expected) if slower else None)


def next_round(search: Search, state: Analysis) -> Optional[Round]:
    """The next round over more than two hosts, None where no more is needed."""
    needed = outcome(search, state).needed
    return Round(len(search.rounds) + 1, HALVES, tuple(Run(group) for group in needed)) if needed else None

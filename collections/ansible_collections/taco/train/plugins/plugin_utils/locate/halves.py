# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What shows only in runs over more than two hosts: halves of the hosts against each other, then the whole. Values in, values out.

The halves follow the order of the inventory, where hosts of a rack are usually side by side. Both run at the same time, so that a
drift of all hosts cancels. A slower half is halved again. If the halves of a slow group are alike, the group is the answer, and an
exchange of one of its halves is the proof. A slow link between two hosts makes their group slow as well: each pair of a small group
runs, too.
"""

import math
from itertools import combinations, product
from statistics import median
from typing import FrozenSet, List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    clear_bound,
    combined,
    decided,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate import drift
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import GROUP, WHOLE, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import (
    HALVES,
    LEAST_GROUP,
    PAIRS,
    Round,
    Run,
    Search,
)

# The least loss to find: what the halves let expect of the whole is an estimate, and each run over many hosts costs a round.
EFFECT = 0.25
# A comparison that is not decided after so many rounds, or fails so often, ends.
MOST_ROUNDS, MOST_FAILURES = 6, 2
MOST_PAIRED = 12
"""The pairs of more hosts take too many rounds."""

Hosts = Tuple[str, ...]


class Group(NamedTuple):
    """Hosts that are slow together, and in how large a run. Without a proof they are a suspicion."""

    hosts: Hosts
    size: int
    loss: float
    proved: bool


class Outcome(NamedTuple):
    """What is known: the runs that are needed next, or the slow group; whole is the loss of the run over all hosts alone.

    open: these comparisons are not decided.
    """

    needed: Tuple[Hosts, ...] = ()
    group: Optional[Group] = None
    whole: Optional[float] = None
    open: bool = False


class Verdict(NamedTuple):
    """Of two groups of the same size the slower one, None where they are alike or it is not known; by how much."""

    open: bool
    slower: Optional[int] = None
    loss: float = 0.0
    known: bool = False


def outcome(search: Search, state: Analysis) -> Outcome:
    """What the runs over more than two hosts show; nothing for few hosts, and for hosts of different hardware."""
    hosts = tuple(search.comparable)
    if len(hosts) < 2 * LEAST_GROUP or len({search.hardware.get(host, "") for host in hosts}) > 1:
        return Outcome()
    group: Optional[Group] = None
    other: Hosts = ()
    while len(hosts) >= 2 * LEAST_GROUP:
        half = len(hosts) // 2
        halves = hosts[:half], hosts[half : 2 * half]
        verdict = _compared(search, state, halves)
        if verdict.open:
            return Outcome(halves, group, open=True)
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
        return Outcome(mixed, group, open=True)
    hosts = group.hosts if verdict.slower is None else (first, second)[verdict.slower]
    return Outcome(group=group._replace(hosts=hosts, proved=verdict.known and not _open_pairs(search, hosts)))


def _open_pairs(search: Search, hosts: Hosts) -> List[FrozenSet[str]]:
    """The pairs without a run of their own that can make a group slow. A link inside one of two halves that are alike can't."""
    half = len(hosts) // 2 if len(hosts) >= 2 * LEAST_GROUP else 0
    pairs = product(hosts[:half], hosts[half:]) if half else combinations(hosts, 2)
    ended = {frozenset(run.hosts) for one in search.rounds for run in one.runs if run.done}
    return [pair for pair in map(frozenset, pairs) if pair not in ended] if len(hosts) <= MOST_PAIRED else []


def open_pairs(search: Search, state: Analysis) -> List[FrozenSet[str]]:
    """The pairs that a slow group needs after its exchange."""
    found = outcome(search, state)
    return _open_pairs(search, found.group.hosts) if found.group and not found.open else []


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
    noise, effect = state.noise.get(2, Noise()), max(search.effect, EFFECT)
    bounds = accept(search, GROUP), clear_bound(search.rates)
    slower = [
        decided(combined([observation(sign * gap, noise, effect, math.sqrt(2)) for gap in gaps]), *bounds)
        for sign in (1, -1)
    ]
    for place in (0, 1):
        if gaps and slower[place]:
            return Verdict(False, place, 1 - math.exp(-abs(median(gaps))), True)
    ended = len(rounds) >= MOST_ROUNDS or len(rounds) - len(gaps) >= MOST_FAILURES
    alike = bool(gaps) and slower == [False, False]
    return Verdict(not ended and not alike, known=alike)


def _whole(search: Search, state: Analysis, hosts: Hosts) -> Outcome:
    """The run over all hosts, compared with what pairs and halves let expect of it.

    The value per doubling of the hosts grows at least as much as before: an all-reduce over n hosts sends 2 (n - 1) / n of its bytes.
    What makes the difference most certain runs next: all hosts, or a half beside pairs, between which a drift of the fleet cancels.
    """
    half = len(hosts) // 2
    hosts = hosts[: 2 * half]
    rounds = _rounds(search, hosts)
    of_rounds = [level for level in drift.levels(search) if level.kind[0] in (PAIRS, HALVES)]
    found = [level for level in of_rounds if level.kind == (HALVES, len(hosts))]
    if len(rounds) - len(found) >= MOST_FAILURES or (HALVES, half) not in {level.kind for level in of_rounds}:
        return Outcome(open=True)
    if not found:
        return Outcome((hosts,), open=True)
    step = math.log(2) / math.log(half / 2)
    weights = {(HALVES, len(hosts)): 1.0, (HALVES, half): -1 - step, (PAIRS, 2): step}
    noise, effect = state.noise.get(2, Noise()), max(search.effect, EFFECT)
    bounds = accept(search, WHOLE), clear_bound(search.rates)
    slower = decided(drift.evidence(of_rounds, weights, noise, effect), *bounds)
    if slower:
        sure = drift.confirmed(of_rounds, weights, noise, effect, (HALVES, len(hosts)))
        if decided(sure, *bounds):
            return Outcome(whole=1 - math.exp(drift.value(of_rounds, weights, noise)))
    if slower is False:
        return Outcome()
    beside = half // 2
    larger = drift.error_after(of_rounds, weights, noise, {(HALVES, len(hosts)): 1})
    mixed = drift.error_after(of_rounds, weights, noise, {(HALVES, half): 1, (PAIRS, 2): beside})
    needed = (hosts,) if slower or larger <= mixed else _half_beside_pairs(hosts, len(rounds))
    return Outcome(needed if len(rounds) < MOST_ROUNDS else (), open=True)


def _half_beside_pairs(hosts: Hosts, turn: int) -> Tuple[Hosts, ...]:
    """A run over one half, and pairs of the other half at the same time; the halves take turns."""
    half = len(hosts) // 2
    one, rest = (hosts[:half], hosts[half:]) if turn % 2 else (hosts[half:], hosts[:half])
    return (one, *zip(rest[::2], rest[1::2]))


def next_round(search: Search, state: Analysis) -> Optional[Round]:
    """The next round over more than two hosts, None where no more is needed."""
    needed = outcome(search, state).needed
    return Round(len(search.rounds) + 1, HALVES, tuple(Run(group) for group in needed)) if needed else None

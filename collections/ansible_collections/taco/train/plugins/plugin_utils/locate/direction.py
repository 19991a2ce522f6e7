# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which direction of a slow link is slow: counters of the kernel, of the runs of its pair beside those of other pairs.

Both hosts of a pair send the same number of bytes to each other. The connections of the one that sends over the slow direction have data
to send for a larger part of the time. How much larger depends on how the data of both directions overlap, and differs from run to run.
How much two healthy hosts differ is taken from the other pairs of the search and is no fixed number. Values in, values out.
"""

import math
from itertools import permutations
from typing import FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import estimated
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    clear_bound,
    decided,
    observation,
    with_varying,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import DIRECTION, LINK, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.schedule import partners
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, Run, Search

# A slow direction keeps its sender busy for longer than the other host by this share or more.
EFFECT = 0.15
# Two runs of which one host is busier in the first and the other one in the second, by this logarithm or more, contradict each other.
LEAST_GAP = -math.log(1 - EFFECT) / 2
# Larger logarithms count as this one: the sequential test knows losses up to a logarithm of 1.2 only.
MOST_GAP = 1.0
# With fewer runs of other pairs nothing tells how much healthy hosts differ.
LEAST_RUNS = 4
# Runs of the pair. A few hosts whose connections differ much need more than the first two.
MOST_RUNS = 6
# The last rounds that the budget allows, in which a pair with an open direction runs again although other hosts are undecided.
LAST_ROUNDS = 2


class Direction(NamedTuple):
    """The host that sends over the slow direction, None where it is not decided, and why in words."""

    sender: Optional[str]
    text: str
    open: bool = False
    """Whether more runs may decide it."""


def _gap(run: Run, one: str, other: str) -> Optional[float]:
    """The logarithm of how much busier the connections of one host are than those of the other; None where one is not known."""
    busy = [run.busy.get(host) or 0.0 for host in (one, other)]
    return math.log(busy[0] / busy[1]) if min(busy) > 0 else None


def _gaps(runs: Sequence[Tuple[Run, Sequence[str]]]) -> List[float]:
    found = [_gap(run, hosts[0], hosts[1]) for run, hosts in runs if run.value is not None]
    return [gap for gap in found if gap is not None]


def direction(search: Search, state: Analysis, pair: Sequence[str]) -> Direction:
    """The direction of a slow link."""
    slow = {host for link in state.links for host in link} | set(state.accused)
    runs = [run for one in search.rounds if one.kind == PAIRS for run in one.runs]
    of_pair = [run for run in runs if set(run.hosts) == set(pair)]
    more_runs = len(of_pair) < MOST_RUNS
    own = _gaps([(run, pair) for run in of_pair])
    others = _gaps([(run, run.hosts) for run in runs if len(run.hosts) == 2 and not slow & set(run.hosts)])
    if not own:
        return Direction(None, "direction not decided: no counters of both hosts' connections, as under HARP")
    if len(others) < LEAST_RUNS:
        text = f"direction not decided: counters of {len(others)} runs of other pairs, {LEAST_RUNS} are needed"
        return Direction(None, text, more_runs)
    if min(own) < -LEAST_GAP and max(own) > LEAST_GAP:
        text = f"direction not decided: in some runs {pair[0]} had data to send longer, in others {pair[1]}"
        return Direction(None, text)
    noise, bounds = estimated(others, 0), (accept(search, DIRECTION), clear_bound(search.rates))
    busier = [
        decided(with_varying([observation(-min(sign * gap, MOST_GAP), noise, EFFECT) for gap in own]), *bounds)
        for sign in (1, -1)
    ]
    for place, sure in enumerate(busier):
        if sure:
            longer = math.exp(abs(sum(own)) / len(own)) - 1
            text = f"the direction from {pair[place]} to {pair[1 - place]}: {pair[place]} had data to send {longer:.0%} longer"
            return Direction(pair[place], text)
    if busier == [False, False]:
        return Direction(
            None,
            "direction not decided: both hosts had data to send equally long, as with a link that is slow both ways",
        )
    text = "direction not decided: the difference of both hosts' connections is not clearly larger than that of other pairs"
    return Direction(None, text, more_runs)


def open_directions(search: Search, state: Analysis) -> List[FrozenSet[str]]:
    """The slow links whose direction more runs may decide."""
    bound = accept(search, LINK)
    links = [link for link, evidence in state.links.items() if evidence.mixture >= bound]
    return [link for link in links if direction(search, state, sorted(link)).open]


def repeatable(search: Search, state: Analysis) -> List[FrozenSet[str]]:
    """The slow links with an open direction whose pair runs again before all hosts are decided.

    In a small fleet such a round tells little about the other hosts, so it is one of the last that the budget allows. Each host of the
    pair still has more runs with other partners, from which its level is known.
    """
    if search.budget.allows(search.time, LAST_ROUNDS + 1, len(search.rounds) + LAST_ROUNDS):
        return []
    before = partners(search)
    return [
        link
        for link in open_directions(search, state)
        if all(2 * before[host].count(other) + 1 < len(before[host]) for host, other in permutations(link))
    ]

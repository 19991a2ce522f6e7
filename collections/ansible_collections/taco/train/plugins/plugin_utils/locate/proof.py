# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proof by swap that an accused host is slow, and whether it is so alone or only with partners. Values in, values out.

In later runs, with other partners, it is slow again, and a partner that was slow beside it is not slow without it.
A run of one host uses its GPUs, CPUs and memory, and no network between hosts. A single such run may be slow by chance, so what
it says is called probable until more runs agree.
"""

import math
from statistics import median
from typing import FrozenSet, List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    Evidence,
    clear_bound,
    combined,
    decided,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import CAUSE, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import SUSPECT, Analysis, Judged
from ansible_collections.taco.train.plugins.plugin_utils.locate.failures import failing
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import ALONE, Round, Run, Search

# The ratio from which a cause is probable: four to one.
PROBABLE = math.log(4)
# Rounds of each host alone. A few hosts with noisy runs need more than the first one.
MOST_ROUNDS = 3


class Cause(NamedTuple):
    """Whether a host is slow alone as well, None where its runs leave it open."""

    alone: Optional[bool]
    certain: bool

    @property
    def text(self) -> str:
        """The cause as the answer says it after "slower than its peers"."""
        if self.alone is None:
            return ""
        where, what = ("also alone", "GPUs, CPUs or memory") if self.alone else ("with partners only", "its network")
        return f", {where}: {'' if self.certain else 'probably '}{what}"


def _alone(state: Analysis, host: str, effect: float) -> Evidence:
    """The evidence that a host is as slow alone as with partners."""
    partners = [run.residual for run in state.runs if host in run.point.hosts and len(run.point.hosts) > 1]
    loss = max(effect, 1 - math.exp(median(partners))) if partners else effect
    seen = [run for run in state.runs if run.point.hosts == (host,)]
    return combined([observation(run.residual, run.as_of_a_pair.noise, loss, run.width) for run in seen])


def cause(search: Search, state: Analysis, host: str) -> Cause:
    """The cause of an accused host."""
    evidence = _alone(state, host, search.effect)
    sure = decided(evidence, accept(search, CAUSE), clear_bound(search.rates))
    if sure is not None:
        return Cause(sure, True)
    return Cause(decided(evidence, PROBABLE, -PROBABLE), False)


def next_round(search: Search, state: Analysis) -> Optional[Round]:
    """Each host alone once more, where the cause of an accused host isn't even probable."""
    before = sum(one.kind == ALONE for one in search.rounds)
    if not 0 < before < MOST_ROUNDS or all(cause(search, state, host).alone is not None for host in state.accused):
        return None
    broken = failing(search)
    runs = tuple(Run((host,)) for host in search.comparable if host not in broken)
    return Round(len(search.rounds) + 1, ALONE, runs)


# With fewer normal pairs in a round one of them has no level but that of another one.
LEAST_NORMAL = 3


def _family(state: Analysis, host: str) -> List[Judged]:
    """The runs that the evidence of an accused host rests on."""
    alone = state.every[host].mixture > state.pairs[host].mixture
    return [
        run
        for run in state.runs
        if host in run.point.hosts
        and (alone or len(run.point.hosts) > 1)
        and not any(other in state.accused for other in run.point.hosts if other != host)
    ]


def slow_again(state: Analysis, host: str) -> bool:
    """Whether a host was slow again after the rounds that made it a suspect."""
    runs = _family(state, host)
    numbers = sorted({run.point.round for run in runs})
    first = next(
        (
            number
            for number in numbers
            if combined([run.observation for run in runs if run.point.round <= number]).mixture >= SUSPECT
        ),
        None,
    )
    later = [run.observation for run in runs if first is not None and run.point.round > first]
    return combined(later).mixture >= SUSPECT


def proved(search: Search, state: Analysis, host: str) -> bool:
    """Whether a host was slow again, and a partner of its slow runs is cleared without it."""
    runs, bound = _family(state, host), clear_bound(search.rates)
    slow = [run for run in runs if len(run.point.hosts) > 1 and run.residual < math.log(1 - search.effect) / 2]
    restored = any(state.cleared(other, bound) for run in slow for other in run.point.hosts if other != host)
    return restored and slow_again(state, host)


def loss_of(state: Analysis, host: str) -> float:
    """How much slower the runs of a host are, as a share."""
    values = [run.residual for run in _family(state, host)]
    return 1 - math.exp(median(values)) if values else 0.0


def together(state: Analysis, hosts: Sequence[str]) -> List[FrozenSet[str]]:
    """Pairs of slow hosts that need no more runs, where too few normal pairs would be left to be compared with each other."""
    if (len(hosts) - 2 * len(state.accused)) // 2 >= LEAST_NORMAL:
        return []
    over = [host for host in state.accused if host in hosts and slow_again(state, host)]
    return [frozenset(pair) for pair in zip(over[::2], over[1::2])]

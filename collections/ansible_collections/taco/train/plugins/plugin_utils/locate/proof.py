# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proof by swap that an accused host is slow. Values in, values out.

In later runs, with other partners, it is slow again, and a partner that was slow beside it is not slow without it.
"""

import math
from statistics import median
from typing import FrozenSet, List, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import clear_bound, combined
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import SUSPECT, Analysis, Judged
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

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

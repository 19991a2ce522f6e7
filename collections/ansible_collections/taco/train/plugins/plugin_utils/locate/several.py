# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several slow hosts of few: the set of hosts whose removal makes the runs of the others alike. Values in, values out.

Where most pairs have a slow host, the median of a round is slow too, and no host stands out alone. Here every small set is fitted to all
runs at once: each round has a level, and each host of the set a loss in runs alone and in runs with others. The best set of each size is
only a candidate. The evidence of each of its hosts decides, against the runs without the set, and the error rate is shared by all sets.
"""

import math
from functools import lru_cache
from itertools import combinations
from statistics import median
from typing import AbstractSet, Dict, List, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import OUTLIER_RANGE, estimated, log_likelihood
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import Key, Point
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import LEAST_PEERS

# With more hosts most pairs are normal, and hosts are accused one by one.
MOST_HOSTS = 10
MOST_SLOW = 3
PASSES = 3

Hosts = Tuple[str, ...]
# A host, and whether it runs with others.
Kind = Tuple[str, bool]


class Fit(NamedTuple):
    """The level of each key, and the loss of each host of the set, as logarithms."""

    levels: Dict[Key, float]
    losses: Dict[Kind, float]


def sizes(hosts: int) -> range:
    """The sizes of sets that leave enough normal hosts, and the majority of the hosts."""
    most = min(MOST_SLOW, hosts - LEAST_PEERS, (hosts - 1) // 2)
    return range(2, most + 1) if hosts <= MOST_HOSTS else range(0)


def hypotheses(hosts: int) -> int:
    """The number of hosts of all sets together, each with its runs with others and with all of its runs."""
    return sum(2 * size * math.comb(hosts, size) for size in sizes(hosts))


@lru_cache(maxsize=4)
def candidates(of_runs: Tuple[Point, ...], hosts: Hosts) -> Tuple[Hosts, ...]:
    """The set of each size that explains the runs best, the smallest first."""
    return tuple(
        max(combinations(hosts, size), key=lambda chosen: _explained(of_runs, chosen)) for size in sizes(len(hosts))
    )


def _explained(of_runs: Sequence[Point], chosen: Hosts) -> float:
    """The logarithm of the density of all runs if these hosts are slow."""
    fit = _fitted(of_runs, set(chosen))
    residuals = [point.log - fit.levels[point.key] + _loss(fit.losses, point) for point in of_runs]
    residuals = [max(-OUTLIER_RANGE, min(OUTLIER_RANGE, residual)) for residual in residuals]
    return log_likelihood(residuals, estimated(residuals, len(fit.levels) + len(fit.losses)))


def _loss(losses: Dict[Kind, float], point: Point) -> float:
    """The loss of a run, which is as slow as its slowest host."""
    return max((losses.get((host, len(point.hosts) > 1), 0.0) for host in point.hosts), default=0.0)


def _fitted(of_runs: Sequence[Point], chosen: AbstractSet[str]) -> Fit:
    """Levels from all runs with the losses, and losses from the runs with one host of the set, in turn."""
    by_key: Dict[Key, List[Point]] = {}
    by_kind: Dict[Kind, List[Point]] = {}
    for point in of_runs:
        by_key.setdefault(point.key, []).append(point)
        slow = chosen & set(point.hosts)
        if len(slow) == 1:
            by_kind.setdefault((min(slow), len(point.hosts) > 1), []).append(point)
    normal = {key: [point.log for point in members if not chosen & set(point.hosts)] for key, members in by_key.items()}
    levels = {
        key: median(normal[key]) if normal[key] else max(point.log for point in members)
        for key, members in by_key.items()
    }
    losses: Dict[Kind, float] = {}
    for _pass in range(PASSES):
        losses = {
            kind: max(0.0, median(levels[point.key] - point.log for point in members))
            for kind, members in by_kind.items()
        }
        levels = {key: median(point.log + _loss(losses, point) for point in members) for key, members in by_key.items()}
    return Fit(levels, losses)

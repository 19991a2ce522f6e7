# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The runs of a search beside the other runs of their round, and the scale of their noise. Values in, values out.

Nothing that is compared with a host rests on its own runs, or a slow run would change its level and the scale of the noise.
"""

import math
from bisect import bisect_left
from collections import Counter
from statistics import median
from typing import AbstractSet, Dict, FrozenSet, List, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise, estimated
from ansible_collections.taco.train.plugins.plugin_utils.locate.crossing import Value, shifts
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import ALONE, PAIRS, Search

# A class of runs with fewer of them in a round has no level of its own.
LEAST_OF_A_CLASS = 3
# The weight of "runs of one host are independent", in hosts, and the most that they may depend on each other.
PRIOR_HOSTS = 32
MOST_INFLATION = 6.0
# With more hosts the runs of one of them hardly change the scale of the noise.
MANY_HOSTS = 32

Key = Tuple[int, str, FrozenSet[str]]


class Point(NamedTuple):
    """A run with a value, as the logarithm that is compared with the level of its key; larger is faster."""

    round: int
    hosts: Tuple[str, ...]
    log: float
    key: Key


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


def compared_with_others(of_runs: Sequence[Point], accused: Sequence[str]) -> List[Tuple[Point, float, float]]:
    """The distance of each run from the median of the others of its key, and its width.

    The others are those without accused hosts, where there are such runs. A run without others is compared with nothing.
    """
    by_key: Dict[Key, List[Point]] = {}
    for point in of_runs:
        by_key.setdefault(point.key, []).append(point)
    found = []
    for members in by_key.values():
        everyone = sorted(point.log for point in members)
        good = sorted(point.log for point in members if not set(point.hosts) & set(accused))
        for point in members:
            mine = not set(point.hosts) & set(accused)
            others = _others(good, point.log) if mine else good
            if not good:
                others = _others(everyone, point.log)
            if others:
                error = min(1.0, math.pi / (2 * len(others)))
                found.append((point, point.log - _middle(others), math.sqrt(1 + error)))
    return sorted(found, key=lambda one: one[0].round)


def _others(logs: List[float], log: float) -> List[float]:
    """Sorted values without one of them."""
    place = bisect_left(logs, log)
    return logs[:place] + logs[place + 1 :]


def _middle(logs: Sequence[float]) -> float:
    """The median of sorted values."""
    half = len(logs) // 2
    return logs[half] if len(logs) % 2 else (logs[half - 1] + logs[half]) / 2


def _inflation(residuals: Sequence[Tuple[Point, float]], accused: Sequence[str], scale: float) -> float:
    """How much more the means of hosts differ than independent runs would let them."""
    of_host: Dict[str, List[float]] = {}
    for point, residual in residuals:
        for host in point.hosts if not set(point.hosts) & set(accused) else ():
            of_host.setdefault(host, []).append(residual)
    means = [abs(sum(values)) / math.sqrt(len(values)) for values in of_host.values() if len(values) > 1]
    if not means:
        return 1.0
    ratio = (1.4826 * median(means) / scale) ** 2
    return min(MOST_INFLATION, max(1.0, (PRIOR_HOSTS + len(means) * ratio) / (PRIOR_HOSTS + len(means))))


class Scales:
    """The noise of runs over so many hosts, for one host from the runs of the others."""

    def __init__(self, compared: Sequence[Tuple[Point, float, float]], accused: Sequence[str]) -> None:
        self.runs: Dict[int, List[Tuple[Point, float]]] = {}
        self.hosts = {host for point, _residual, _width in compared for host in point.hosts}
        for point, residual, width in compared:
            self.runs.setdefault(len(point.hosts), []).append((point, residual / width))
        self.accused = set(accused)
        self.all = {size: self._noise(size, self.accused) for size in self.runs}
        self.all = {
            size: noise._replace(inflation=_inflation(self.runs[size], accused, noise.scale))
            for size, noise in self.all.items()
        }
        self.kept: Dict[Tuple[int, str], Noise] = {}

    def _noise(self, size: int, without: AbstractSet[str]) -> Noise:
        mine = self.runs[size]
        levels = len({point.key for point, _value in mine})
        return estimated([value for point, value in mine if not without & set(point.hosts)], levels, own=False)

    def of(self, size: int, host: str) -> Noise:
        if len(self.hosts) > MANY_HOSTS:
            return self.all[size]
        if (size, host) not in self.kept:
            noise = self._noise(size, self.accused | {host})
            self.kept[size, host] = noise._replace(inflation=self.all[size].inflation)
        return self.kept[size, host]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs that cross a boundary beside the runs of the same round that do not. Values in, values out."""

import math
from collections import Counter
from statistics import median
from typing import AbstractSet, Dict, FrozenSet, Iterable, List, NamedTuple, Sequence, Tuple

# The effect of a boundary is corrected for from so many rounds on, if so large a share of them shows it.
LEAST_ROUNDS = 2
SHARE = 0.75
# With fewer runs across, one host decides the median.
FEW = 3


class Value(NamedTuple):
    """The logarithm of the value of a run; larger is faster."""

    round: int
    like: str
    hosts: Tuple[str, ...]
    crossed: FrozenSet[str]
    log: float


class Difference(NamedTuple):
    """Of one round: the median of the runs that cross a boundary minus that of the runs that do not, and their numbers."""

    value: float
    across: int
    within: int


def differences(values: Iterable[Value], name: str, without: AbstractSet[str]) -> List[Difference]:
    """The difference of each round for a boundary, without the runs of some hosts."""
    sides: Dict[Tuple[int, str, FrozenSet[str]], Tuple[List[float], List[float]]] = {}
    for value in values:
        if len(value.hosts) > 1 and not without & set(value.hosts):
            across, within = sides.setdefault((value.round, value.like, value.crossed - {name}), ([], []))
            (across if name in value.crossed else within).append(value.log)
    return [
        Difference(median(across) - median(within), len(across), len(within))
        for across, within in sides.values()
        if across and within
    ]


def decisive_hosts(values: Sequence[Value], name: str) -> List[str]:
    """The hosts of rounds with few runs that cross a boundary: one of these hosts alone can slow the median of such a round."""
    across = [value for value in values if name in value.crossed]
    runs = Counter(value.round for value in across)
    return sorted({host for value in across if runs[value.round] < FEW for host in value.hosts})


def shifts(values: Sequence[Value], names: Iterable[str], effect: float) -> Dict[str, float]:
    """The difference of each boundary that most rounds show, so that few runs that cross it can be compared with the others.

    They show it also without the runs of any one host, or that host would be the simpler explanation.
    """
    found = {}
    for name in names:
        hosts = decisive_hosts(values, name)
        if all(_shown(values, name, effect, {host}) for host in hosts) and _shown(values, name, effect, frozenset()):
            found[name] = median(one.value for one in differences(values, name, frozenset()))
    return found


def _shown(values: Sequence[Value], name: str, effect: float, without: AbstractSet[str]) -> bool:
    seen = [one.value for one in differences(values, name, without)]
    slow = sum(value < math.log(1 - effect) / 2 for value in seen)
    return len(seen) >= LEAST_ROUNDS and slow >= SHARE * len(seen)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of different kinds in different rounds, of a fleet that drifts from round to round. Values in, values out.

The level of the fleet is a random walk, and each kind of run has an offset of its own. What is asked is a sum of offsets, such as the
value of a run over all hosts minus what smaller runs let expect of it. It is estimated by generalized least squares from all rounds at
once: what several of them have in common, such as an unlucky round that the expected value rests on, is counted once.
"""

import math
from statistics import mean, median
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import MOST_FREEDOM, PRIOR_FREEDOM, Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import Evidence, combined, observation
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import HALVES, PAIRS, Search

# The least variance of the drift, in units of that of a run.
LEAST_DRIFT = 0.1
# A sum of offsets has no outliers that bound what it says: confirmed() cares for those of single runs.
OUTLIERS = 1e-9

Kind = Tuple[str, int]


class Level(NamedTuple):
    """The level of one kind of run in a round, of so many runs; larger is faster."""

    round: int
    kind: Kind
    log: float
    runs: int


class Sum(NamedTuple):
    """A sum of offsets with its standard error, for a noise and a drift that are known."""

    value: float
    error: float


def levels(search: Search, like: Optional[str] = None) -> List[Level]:
    """The level of each round by the kind of its runs: the number of their hosts, and how many of them run at the same time."""
    sign = 1 if search.higher_is_better else -1
    found = []
    for one in search.rounds:
        by_size: Dict[int, List[float]] = {}
        for run in one.runs:
            if run.value is not None and like in (None, search.hardware.get(run.hosts[0], "")):
                by_size.setdefault(len(run.hosts), []).append(sign * math.log(run.value))
        # Pairs beside a half are pairs at the same time.
        found += [
            Level(one.number, (PAIRS if size == 2 and one.kind == HALVES else one.kind, size), median(logs), len(logs))
            for size, logs in by_size.items()
        ]
    return found


def drift(of_rounds: Sequence[Level], noise: Noise) -> Noise:
    """The drift of the fleet from one round to the next, from rounds of the same kind. Without them it is that of a run."""
    latest: Dict[Kind, Level] = {}
    squares = []
    for level in of_rounds:
        before = latest.get(level.kind)
        if before:
            # A step between two levels has the errors of both levels, too.
            errors = error(before, noise.scale) ** 2 + error(level, noise.scale) ** 2
            squares.append(((level.log - before.log) ** 2 - errors) / (level.round - before.round))
        latest[level.kind] = level
    freedom = PRIOR_FREEDOM + min(len(squares), len({level.round for level in of_rounds}) - 1)
    shown = (freedom - PRIOR_FREEDOM) * mean(squares) if squares else 0.0
    variance = max(LEAST_DRIFT * noise.scale**2, (PRIOR_FREEDOM * noise.scale**2 + shown) / freedom)
    return Noise(math.sqrt(variance), min(freedom, MOST_FREEDOM), outliers=OUTLIERS)


def estimate(of_rounds: Sequence[Level], weights: Mapping[Kind, float], noise: float, step: float) -> Optional[Sum]:
    """A sum of the offsets of kinds; None where one of them has no round."""
    kinds = sorted({level.kind for level in of_rounds}, key=str)
    if not set(weights) <= set(kinds):
        return None
    first = of_rounds[0].round
    covariance = [
        [
            step**2 * (min(one.round, other.round) - first) + (error(one, noise) ** 2 if one is other else 0.0)
            for other in of_rounds
        ]
        for one in of_rounds
    ]
    # The columns of the design, and the values: all solved with the covariance at once.
    columns = [[1.0 if level.kind == kind else 0.0 for level in of_rounds] for kind in kinds]
    logs = [level.log for level in of_rounds]
    solved = _solve(covariance, [*columns, logs])
    normal = [[_dot(column, other) for other in solved[:-1]] for column in columns]
    asked = [weights.get(kind, 0.0) for kind in kinds]
    offsets, spread = _solve(normal, [[_dot(column, solved[-1]) for column in columns], asked])
    return Sum(_dot(asked, offsets), math.sqrt(max(0.0, _dot(asked, spread))))


def error(level: Level, noise: float) -> float:
    """The standard error of the median of the runs of a level."""
    return noise * math.sqrt(1.0 if level.runs == 1 else math.pi / 2 / level.runs)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(one, other))


def _solve(matrix: Sequence[Sequence[float]], columns: Sequence[Sequence[float]]) -> List[List[float]]:
    """The solution for each column, of a matrix that is symmetric and positive definite: elimination needs no pivots."""
    rows = [[*row, *(column[place] for column in columns)] for place, row in enumerate(matrix)]
    size = len(rows)
    for place in range(size):
        pivot = rows[place][place]
        rows[place] = [value / pivot for value in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [value - factor * own for value, own in zip(rows[other], rows[place])]
    return [[row[size + column] for row in rows] for column in range(len(columns))]


def evidence(of_rounds: Sequence[Level], weights: Mapping[Kind, float], noise: Noise, effect: float) -> Evidence:
    """The evidence that a sum of offsets is at least an effect below 0; nothing where a kind of runs is missing."""
    spread = drift(of_rounds, noise)
    found = estimate(of_rounds, weights, noise.scale, spread.scale) if of_rounds else None
    if found is None:
        return Evidence()
    return combined([observation(found.value, spread, effect, found.error / spread.scale)])


def value(of_rounds: Sequence[Level], weights: Mapping[Kind, float], noise: Noise) -> float:
    """The sum of offsets; 0 where a kind of runs is missing."""
    found = estimate(of_rounds, weights, noise.scale, drift(of_rounds, noise).scale) if of_rounds else None
    return found.value if found else 0.0


def error_after(
    of_rounds: Sequence[Level], weights: Mapping[Kind, float], noise: Noise, runs: Mapping[Kind, int]
) -> float:
    """The standard error of the sum of offsets after one more round of so many runs of each kind."""
    number = of_rounds[-1].round + 1
    added = [Level(number, kind, 0.0, count) for kind, count in runs.items()]
    found = estimate([*of_rounds, *added], weights, noise.scale, drift(of_rounds, noise).scale)
    return found.error if found else math.inf


def confirmed(
    of_rounds: Sequence[Level], weights: Mapping[Kind, float], noise: Noise, effect: float, kind: Kind
) -> Evidence:
    """The evidence without the round of a kind that speaks most for it: one outlier is no finding."""
    rounds = [level for level in of_rounds if level.kind == kind]
    without = [evidence([level for level in of_rounds if level is not one], weights, noise, effect) for one in rounds]
    return min(without, key=lambda one: one.mixture, default=Evidence())

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether pairs that run at the same time slow each other down: one pair alone against rounds of all pairs. Values in, values out."""

import math
from statistics import median
from typing import List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    Observation,
    combined,
    decided,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis, hypotheses
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, SINGLE, Round, Search

# The least loss to find: a network that the pairs share costs much, and a fleet drifts from round to round.
EFFECT = 0.25
MOST_ROUNDS = 4


class Shared(NamedTuple):
    """How much slower pairs are at the same time than one pair alone; slower is None while it is not decided."""

    loss: float
    slower: Optional[bool]


def _logs(search: Search, one: Round) -> List[Tuple[str, float]]:
    """The hardware and the logarithm of the value of each run of a round; larger is faster."""
    sign = 1 if search.higher_is_better else -1
    return [
        (search.hardware.get(run.hosts[0], ""), sign * math.log(run.value)) for run in one.runs if run.value is not None
    ]


def _levels(search: Search, like: str) -> List[float]:
    """The median of hosts of like hardware in each round of pairs."""
    of_rounds = [[log for its, log in _logs(search, one) if its == like] for one in search.rounds if one.kind == PAIRS]
    return [median(logs) for logs in of_rounds if logs]


def next_round(search: Search) -> Optional[Round]:
    """A round of the middle pair of the last round of pairs, None where enough of them were run or nothing ran beside it."""
    singles = [one for one in search.rounds if one.kind == SINGLE]
    last = next((one for one in reversed(search.rounds) if one.kind == PAIRS), None)
    runs = [run for run in last.runs if run.value is not None] if last else []
    if len(singles) >= MOST_ROUNDS or len(runs) < 2:
        return None
    middle = sorted(runs, key=lambda run: run.value or 0.0)[len(runs) // 2]
    return Round(len(search.rounds) + 1, SINGLE, (middle._replace(value=None, reason=None, seconds=0.0, done=False),))


def shared(search: Search, state: Analysis) -> Optional[Shared]:
    """What the runs of one pair alone show; None without such a run."""
    singles = [found for one in search.rounds if one.kind == SINGLE for found in _logs(search, one)]
    runs: List[Observation] = []
    for like, value in singles:
        levels = _levels(search, like)
        runs.append(observation(levels[-1] - value, _noise(state, levels), EFFECT))
    if not runs:
        return None
    slower = decided(combined(runs), search.rates, hypotheses(search) + 1)
    return Shared(1 - math.exp(median(run.residual for run in runs)), slower)


def _noise(state: Analysis, levels: List[float]) -> Noise:
    """The noise of a single run against a round before it, in which the fleet may have drifted."""
    plain = state.noise.get(2, Noise())
    steps: List[Tuple[float, float]] = list(zip(levels, levels[1:]))
    drift = median(abs(after - before) for before, after in steps) * 1.4826 if len(steps) > 1 else 0.0
    return plain._replace(scale=math.hypot(plain.scale, max(drift, plain.scale)), inflation=1.0)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether runs over two hosts are slower than the expected value, all alike. Values in, values out.

The level of a fleet drifts from round to round, and all runs of a round have this drift in common, so a round counts once.
"""

import math
from statistics import mean, median
from typing import Dict, List, NamedTuple, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import MOST_FREEDOM, PRIOR_FREEDOM, Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import combined, observation
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import CONFIGURATION, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import run_values
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

# The least variance of the drift, in units of that of a run.
LEAST_DRIFT = 0.1
# A level is a median, which outliers of single runs hardly change.
OUTLIERS = 1e-9


class Level(NamedTuple):
    """The median of the runs over two hosts of a round, as a logarithm, and their number; larger is faster."""

    round: int
    log: float
    runs: int

    def error(self, noise: float) -> float:
        """The standard error of the median."""
        return noise * math.sqrt(1.0 if self.runs == 1 else math.pi / 2 / self.runs)


def levels(search: Search) -> List[Level]:
    """The level of each round of pairs."""
    rounds: Dict[int, List[float]] = {}
    for value in run_values(search):
        if len(value.hosts) == 2:
            rounds.setdefault(value.round, []).append(value.log)
    return [Level(number, median(logs), len(logs)) for number, logs in rounds.items()]


def drift(of_rounds: Sequence[Level], noise: Noise) -> Noise:
    """The drift of the fleet from one round to the next. Without two rounds it is that of a run."""
    # A step between two levels has the errors of both levels, too.
    squares = [
        ((level.log - before.log) ** 2 - before.error(noise.scale) ** 2 - level.error(noise.scale) ** 2)
        / (level.round - before.round)
        for before, level in zip(of_rounds, of_rounds[1:])
    ]
    shown = len(squares) * mean(squares) if squares else 0.0
    freedom = PRIOR_FREEDOM + len(squares)
    variance = max(LEAST_DRIFT * noise.scale**2, (PRIOR_FREEDOM * noise.scale**2 + shown) / freedom)
    return Noise(math.sqrt(variance), min(freedom, MOST_FREEDOM), outliers=OUTLIERS)


def below(search: Search, state: Analysis) -> bool:
    """Whether the rounds of pairs show it."""
    of_rounds = levels(search)
    if not search.expected or not of_rounds:
        return False
    expected = (1 if search.higher_is_better else -1) * math.log(search.expected)
    noise = state.noise.get(2, Noise())
    spread = drift(of_rounds, noise)
    seen = [
        observation(level.log - expected, spread, search.effect, math.hypot(1, level.error(noise.scale) / spread.scale))
        for level in of_rounds
    ]
    return combined(seen).mixture >= accept(search, CONFIGURATION)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether pairs that run at the same time slow each other down: one pair alone against rounds of all pairs. Values in, values out."""

import math
from typing import NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import clear_bound, decided
from ansible_collections.taco.train.plugins.plugin_utils.locate import drift
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import SHARED, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, SINGLE, Round, Search

# The least loss to find: a network that the pairs share costs much, and a fleet drifts from round to round.
EFFECT = 0.25
MOST_ROUNDS = 4
TOGETHER, BY_ITSELF = (PAIRS, 2), (SINGLE, 2)


class Shared(NamedTuple):
    """How much slower pairs are at the same time than one pair alone; slower is None while it is not decided."""

    loss: float
    slower: Optional[bool]


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
    alone = [run for one in search.rounds if one.kind == SINGLE for run in one.runs if run.value is not None]
    if not alone:
        return None
    like = search.hardware.get(alone[0].hosts[0], "")
    of_rounds = [level for level in drift.levels(search, like) if level.kind in (TOGETHER, BY_ITSELF)]
    weights, noise = {TOGETHER: 1.0, BY_ITSELF: -1.0}, state.noise.get(2, Noise())
    bounds = accept(search, SHARED), clear_bound(search.rates)
    slower = decided(drift.evidence(of_rounds, weights, noise, EFFECT), *bounds)
    if slower and not decided(drift.confirmed(of_rounds, weights, noise, EFFECT, BY_ITSELF), *bounds):
        slower = None
    return Shared(1 - math.exp(drift.value(of_rounds, weights, noise)), slower)

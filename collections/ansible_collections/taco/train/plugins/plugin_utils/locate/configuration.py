# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether runs over two hosts are slower than the expected value, all alike. Values in, values out."""

import math

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import combined, observation
from ansible_collections.taco.train.plugins.plugin_utils.locate import drift
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import CONFIGURATION, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, Search


def below(search: Search, state: Analysis) -> bool:
    """Whether the rounds of pairs show it. Their runs have the drift of their round in common, so a round counts once."""
    levels = [level for level in drift.levels(search) if level.kind == (PAIRS, 2)]
    if not search.expected or not levels:
        return False
    expected = (1 if search.higher_is_better else -1) * math.log(search.expected)
    noise = state.noise.get(2, Noise())
    spread = drift.drift(levels, noise)
    seen = [
        observation(
            level.log - expected, spread, search.effect, math.hypot(1, drift.error(level, noise.scale) / spread.scale)
        )
        for level in levels
    ]
    return combined(seen).mixture >= accept(search, CONFIGURATION)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why an accused host is slow: as slow alone as with partners, or only with them. Values in, values out.

A run of one host uses its GPUs, CPUs and memory, and no network between hosts. A single such run may be slow by chance, so what
it says is called probable until more runs agree.
"""

import math
from statistics import median
from typing import NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    Evidence,
    clear_bound,
    combined,
    decided,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import CAUSE, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis
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

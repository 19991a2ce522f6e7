# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Boundaries between hosts, such as racks: whether runs that cross one are slower. Values in, values out."""

import math
from typing import List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import (
    Evidence,
    Observation,
    clear_bound,
    combined,
    decided,
    observation,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.crossing import Value, decisive_hosts, differences
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import BOUNDARY, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import (
    SUSPECT,
    Analysis,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import run_values
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

# A boundary around so many accused hosts, and so large a share of its hosts, is the answer instead of them.
LEAST_HOSTS = 3
SHARE = 0.75


class Crossing(NamedTuple):
    """Runs that cross a boundary against those of the same rounds that don't."""

    name: str
    loss: float
    evidence: Evidence
    slower: Optional[bool]
    proved: bool


class Inside(NamedTuple):
    """A value of a boundary, such as one rack, whose hosts are slow."""

    name: str
    value: str
    hosts: Sequence[str]


def _observations(
    search: Search, state: Analysis, values: Sequence[Value], name: str, without: Sequence[str]
) -> List[Observation]:
    """The difference of each round for a boundary, as the observation of one run, whose noise is that of two medians."""
    noise = state.noise.get(2, Noise())
    seen = []
    for one in differences(values, name, frozenset((*state.accused, *without))):
        width = math.sqrt(math.pi / 2 * (1 / one.across + 1 / one.within))
        seen.append(observation(one.value, noise, search.effect, width))
    return seen


def crossings(search: Search, state: Analysis) -> List[Crossing]:
    """What the runs show about each boundary that some of them crossed."""
    found, values = [], run_values(search)
    for name in search.boundaries:
        runs = _observations(search, state, values, name, ())
        if not runs:
            continue
        evidence = combined(runs)
        slower = decided(evidence, accept(search, BOUNDARY), clear_bound(search.rates))
        # Without any one host they show it, too.
        if slower and any(
            combined(_observations(search, state, values, name, [host])).mixture < SUSPECT
            for host in decisive_hosts(values, name)
        ):
            slower = None
        # Rounds after the first that made it a suspect.
        first = next((place for place in range(len(runs)) if combined(runs[: place + 1]).mixture >= SUSPECT), None)
        again = combined(runs[first + 1 :]).mixture >= SUSPECT if first is not None else False
        loss = 1 - math.exp(sum(run.residual for run in runs) / len(runs))
        found.append(Crossing(name, loss, evidence, slower, bool(slower and again)))
    return found


def inside(search: Search, accused: Sequence[str]) -> Optional[Inside]:
    """The value of a boundary that holds all accused hosts and few others."""
    for name, values in search.boundaries.items():
        held = {values.get(host) for host in accused}
        if len(accused) < LEAST_HOSTS or len(held) != 1 or None in held:
            continue
        value = held.pop()
        members = [host for host in search.comparable if values.get(host) == value]
        if len(accused) >= SHARE * len(members) and len(members) < len(search.comparable):
            return Inside(name, str(value), members)
    return None


def undecided(found: Sequence[Crossing]) -> List[str]:
    """The boundaries about which more rounds are needed."""
    return [one.name for one in found if one.slower is None or (one.slower and not one.proved)]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts run together in the next round: disjoint pairs with partners that rotate. Values in, values out.

The same search always plans the same rounds. Hosts with the strongest evidence choose first, and take the partner with the least: a
pair of two suspects would tell nothing about either.
"""

import hashlib
from typing import Dict, FrozenSet, List, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import PAIRS, Search

# What a partner costs: one that is slow for sure, a partner of before, the wrong side of a boundary, a suspect.
ACCUSED, AGAIN, WRONG_SIDE = 1000.0, 10.0, 2.0
MOST_OF_A_SUSPECT = 8.0
# What a failed run adds to the evidence of a host: its next partner is one without.
FAILED = 4.0


def partners(search: Search) -> Dict[str, List[str]]:
    """The partners that each host had."""
    found: Dict[str, List[str]] = {host: [] for host in search.hosts}
    for one in search.rounds:
        for run in one.runs if one.kind == PAIRS else ():
            for host in run.hosts:
                found[host] += [other for other in run.hosts if other != host]
    return found


def _order(seed: int, host: str) -> str:
    """A place of a host that differs from round to round."""
    return hashlib.sha256(f"{seed} {host}".encode()).hexdigest()


def pairs(
    search: Search,
    hosts: Sequence[str],
    evidence: Mapping[str, float],
    accused: Sequence[str] = (),
    fixed: Sequence[FrozenSet[str]] = (),
) -> List[Tuple[str, ...]]:
    """Disjoint pairs over the hosts: fixed ones first, then each host with the partner that tells most about it."""
    seed = len(search.rounds)
    found: List[Tuple[str, ...]] = []
    free = set(hosts)
    for pair in fixed:
        if pair <= free:
            found.append(tuple(sorted(pair)))
            free -= pair
    before = partners(search)
    order = sorted(free, key=lambda host: (-evidence.get(host, 0.0), len(before[host]), _order(seed, host)))
    crossing = seed % 2 == 0
    for host in order:
        if host not in free:
            continue
        free.discard(host)
        like = search.hardware.get(host, "")
        others = [other for other in free if search.hardware.get(other, "") == like]
        if not others:
            continue

        def cost(other: str, host: str = host, crossing: bool = crossing) -> Tuple[float, str]:
            price = AGAIN * before[host].count(other) + (ACCUSED if other in accused else 0.0)
            price += min(MOST_OF_A_SUSPECT, max(-MOST_OF_A_SUSPECT, evidence.get(other, 0.0))) if search.rounds else 0.0
            if search.boundaries and bool(search.crossed((host, other))) != crossing:
                price += WRONG_SIDE
            return price, _order(seed, host + " " + other)

        partner = min(others, key=cost)
        free.discard(partner)
        found.append(tuple(sorted((host, partner))))
        crossing = not crossing
    return found

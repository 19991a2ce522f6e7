# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two groups of hosts that no boundary declares, between which runs are slow, such as those of two switches. Values in, values out.

All runs over two hosts are compared with two models: one level in each round, or one for runs inside the groups and another for runs
between them. There are 2^(n - 1) ways to divide n hosts into two groups, and the error rate is shared by all of them.
"""

import math
from statistics import mean, median
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import estimated, log_likelihood
from ansible_collections.taco.train.plugins.plugin_utils.locate import boundary
from ansible_collections.taco.train.plugins.plugin_utils.locate.crossing import Value, differences
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import GROUPS, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import (
    SUSPECT,
    Analysis,
    analysis,
)
from ansible_collections.taco.train.plugins.plugin_utils.locate.levels import run_values
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search

NAME = ""
"""The name of the boundary between the two groups: no variable of a host has it."""
LEAST_HOSTS = 2
# So large a share of the smaller group has a run inside it that is not slow: otherwise its hosts may be slow themselves.
SHARE = 0.75

Sides = Mapping[str, str]
Key = Tuple[int, str, FrozenSet[str]]


class Model(NamedTuple):
    """The distance of each run from its level, and how many numbers were estimated from the runs."""

    residuals: Sequence[float]
    estimates: int

    @property
    def log_likelihood(self) -> float:
        return log_likelihood(self.residuals, estimated(self.residuals, self.estimates))


def known(search: Search) -> Tuple[Search, Analysis]:
    """What all runs show, and the search with the boundary between two groups where they show one."""
    state = analysis(search)
    sides = found_in(search, state)
    if sides is None:
        return search, state
    search = search._replace(boundaries={**search.boundaries, NAME: sides})
    return search, analysis(search)


def crossings(search: Search, state: Analysis) -> List[boundary.Crossing]:
    """What the runs show about each boundary, also the one between the two groups: the rounds that showed it are not its proof."""
    return [
        one._replace(proved=one.proved and _confirmed(search)) if one.name == NAME else one
        for one in boundary.crossings(search, state)
    ]


def _confirmed(search: Search) -> bool:
    """Whether rounds after those that showed the two groups show them again."""
    sides, plain = search.boundaries[NAME], dict(search.boundaries)
    del plain[NAME]
    for count in range(2, len(search.rounds)):
        earlier = search._replace(rounds=search.rounds[:count], boundaries=plain)
        if _same(found_in(earlier, analysis(earlier)), sides):
            later = search._replace(rounds=search.rounds[count:])
            return any(
                one.name == NAME and one.evidence.mixture >= SUSPECT
                for one in boundary.crossings(later, analysis(later))
            )
    return False


def _same(one: Optional[Sides], other: Sides) -> bool:
    if one is None or set(one) != set(other):
        return False
    return len({one[host] == other[host] for host in other}) == 1


def smaller(search: Search) -> List[str]:
    """The hosts of the smaller group."""
    sides = search.boundaries[NAME]
    groups = [sorted(host for host, side in sides.items() if side == name) for name in ("a", "b")]
    return min(groups, key=len)


def found_in(search: Search, state: Analysis) -> Optional[Sides]:
    """The group of each host, None where one level of each round explains the runs as well."""
    values = [
        value for value in run_values(search) if len(value.hosts) == 2 and not set(value.hosts) & set(state.accused)
    ]
    by_key: Dict[Key, List[Value]] = {}
    for value in values:
        by_key.setdefault((value.round, value.like, value.crossed), []).append(value)
    values = [value for members in by_key.values() if len(members) > 1 for value in members]
    hosts = sorted({host for value in values for host in value.hosts})
    if len(hosts) < 2 * LEAST_HOSTS or len({value.round for value in values}) < 2:
        return None
    means = {key: mean(value.log for value in members) for key, members in by_key.items()}
    pulls = [(value.hosts[0], value.hosts[1], value.log - means[_key(value)]) for value in values]
    sides = _divided(hosts, pulls)
    return sides if sides and _sure(search, values, sides) else None


def _key(value: Value) -> Key:
    return value.round, value.like, value.crossed


def _divided(hosts: Sequence[str], pulls: Sequence[Tuple[str, str, float]]) -> Optional[Dict[str, str]]:
    """Two groups with the fast runs inside them and the slow ones between them: along the clearest runs first, then host by host.

    None where runs don't connect all hosts, so that nothing tells how some of them belong together.
    """
    parent = {host: host for host in hosts}
    members: Dict[str, List[str]] = {host: [host] for host in hosts}
    side = dict.fromkeys(hosts, 1)
    for one, other, pull in sorted(pulls, key=lambda entry: -abs(entry[2])):
        if parent[one] == parent[other]:
            continue
        moved = members.pop(parent[other])
        turn = (pull > 0) != (side[one] == side[other])
        for host in moved:
            parent[host] = parent[one]
            side[host] *= -1 if turn else 1
        members[parent[one]] += moved
    if len(members) > 1:
        return None
    for _pass in range(len(hosts)):
        gain = dict.fromkeys(hosts, 0.0)
        for one, other, pull in pulls:
            for host in (one, other):
                gain[host] -= pull * side[one] * side[other]
        best = max(hosts, key=lambda host: gain[host])
        if gain[best] <= 0:
            break
        side[best] *= -1
    return {host: "a" if side[host] == side[hosts[0]] else "b" for host in hosts}


def _sure(search: Search, values: Sequence[Value], sides: Sides) -> bool:
    """Whether the runs show these groups, over all ways to divide the hosts, and no slow hosts."""
    sizes = [list(sides.values()).count(name) for name in ("a", "b")]
    if min(sizes) < LEAST_HOSTS:
        return False
    plain, divided = _model(values, None), _model(values, sides)
    rounds = len({value.round for value in values})
    bound = accept(search, GROUPS) + (len(sides) - 1) * math.log(2) + rounds
    if divided.log_likelihood - plain.log_likelihood < bound:
        return False
    least = math.log(1 - search.effect) / 2
    moved = [value._replace(crossed=value.crossed | ({NAME} if _between(value, sides) else set())) for value in values]
    losses = [one.value for one in differences(moved, NAME, frozenset())]
    if not losses or median(losses) > least:
        return False
    name = "a" if sizes[0] <= sizes[1] else "b"
    normal = {
        host
        for value, log in zip(values, divided.residuals)
        if not _between(value, sides) and log > least
        for host in value.hosts
        if sides[host] == name
    }
    return len(normal) >= SHARE * min(sizes)


def _between(value: Value, sides: Sides) -> bool:
    return sides[value.hosts[0]] != sides[value.hosts[1]]


def _model(values: Sequence[Value], sides: Optional[Sides]) -> Model:
    """The runs around the median of their class; with groups, those between them are a class of their own."""
    keys = [(*_key(value), sides is not None and _between(value, sides)) for value in values]
    logs: Dict[object, List[float]] = {}
    for key, value in zip(keys, values):
        logs.setdefault(key, []).append(value.log)
    levels = {key: median(members) for key, members in logs.items()}
    return Model(
        [value.log - levels[key] for key, value in zip(keys, values)],
        len(levels) + (len(sides) - 1 if sides else 0),
    )

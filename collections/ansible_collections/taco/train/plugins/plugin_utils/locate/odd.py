# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts of hosts in which a few differ from most of them, named without a reference host. Values in, values out."""

from typing import Any, Dict, List, Mapping, NamedTuple, Sequence

# Facts that are different on every host by their nature.
OWN = {"hostname", "address", "mac", "uuid", "serial", "boot_id", "id", "observed_at"}
# Words in the name of a fact that changes all the time, such as engine_free_bytes.
CHANGING = {"free", "available", "used", "time", "uptime"}
MOST_SHARE = 0.34
LEAST_HOSTS = 4


class Odd(NamedTuple):
    """A fact, the value of most hosts, and the hosts with another one."""

    facet: str
    usual: str
    hosts: Mapping[str, str]


def flat(value: Any, path: str = "") -> Dict[str, str]:
    """The facts of a host by their path, without those that differ by nature. Lists of objects count by their names."""
    if isinstance(value, Mapping):
        found: Dict[str, str] = {}
        for name, part in value.items():
            if name not in OWN and not CHANGING & set(str(name).split("_")):
                found.update(flat(part, f"{path}.{name}".lstrip(".")))
        return found
    if isinstance(value, (list, tuple)):
        if all(isinstance(part, Mapping) for part in value):
            found = {f"{path}.count": str(len(value))}
            for place, part in enumerate(value):
                found.update(flat(part, f"{path}.{part.get('name') or part.get('index') or place}"))
            return found
        return {path: ", ".join(sorted(map(str, value)))}
    return {path: "absent" if value is None else str(value)}


def odd_ones(nodes: Mapping[str, Any]) -> List[Odd]:
    """The facts of which a minority has another value; nothing where there are too few hosts, or no majority."""
    facts = {host: flat(node) for host, node in nodes.items() if isinstance(node, Mapping) and node}
    if len(facts) < LEAST_HOSTS:
        return []
    found = []
    for facet in sorted({name for one in facts.values() for name in one}):
        values = {host: one.get(facet, "absent") for host, one in facts.items()}
        counts = _counts(list(values.values()))
        usual = max(counts, key=lambda value: (counts[value], value))
        others = {host: value for host, value in values.items() if value != usual}
        if others and len(others) <= MOST_SHARE * len(values):
            found.append(Odd(facet, usual, others))
    return sorted(found, key=lambda one: (len(one.hosts), one.facet))


def _counts(values: Sequence[str]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def odd_json(found: Sequence[Odd]) -> List[Dict[str, Any]]:
    """The odd facts as locate.json keeps them."""
    return [dict(one._asdict(), hosts=dict(one.hosts)) for one in found]

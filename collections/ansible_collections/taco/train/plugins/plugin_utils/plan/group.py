# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Group hosts by identical change. What differs only by host is replaced by a name and listed. Values in, values out."""

import re
from collections import Counter
from typing import Any, Iterable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Change, Part, canonical

FEWEST = 2


class Entry(NamedTuple):
    """One change and the hosts that have it."""

    change: Change
    hosts: tuple[str, ...]
    own: Mapping[str, Mapping[str, str]]
    """{host: {name: value}} of what differs only by host."""


def own_values(host: str, node: Mapping[str, Any]) -> dict[str, str]:
    """{value: name} of what belongs to one host alone, such as its name and its addresses. No two values have one name."""
    values = {host: "host"}
    values.setdefault(str(node.get("hostname") or host), "hostname")
    for index, nic in enumerate(node.get("nics") or []):
        for key in ("mac", "pci"):
            if nic.get(key):
                values.setdefault(str(nic[key]), f"{key}{index}")
        for position, address in enumerate(nic.get("addresses") or []):
            suffix = f"_{position}" if position else ""
            values.setdefault(str(address).partition("/")[0], f"address{index}{suffix}")
    for index, gpu in enumerate((node.get("gpus") or {}).get("devices") or []):
        if gpu.get("uuid"):
            values.setdefault(str(gpu["uuid"]), f"gpu{index}")
    return values


def _replaced(text: str, values: Mapping[str, str], used: dict[str, str]) -> str:
    if not values:
        return text
    names = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))

    def name(match: "re.Match[str]") -> str:
        used[values[match.group(0)]] = match.group(0)
        return f"<{values[match.group(0)]}>"

    return re.sub(rf"(?<![\w.:-])(?:{names})(?![\w:-]|\.\w)", name, text)


def _texts(change: Change) -> list[str]:
    return [change.reason, *(text for part in change.parts for text in part)]


def _kind(change: Change, common: "Counter[str]", values: Mapping[str, str]) -> tuple[Change, dict[str, str]]:
    """A change with the host's own values replaced in the texts that no other host has."""
    used: dict[str, str] = {}

    def text(value: str) -> str:
        return value if common[value] >= FEWEST else _replaced(value, values, used)

    parts = tuple(Part(*map(text, part)) for part in change.parts)
    return change._replace(reason=text(change.reason), parts=parts), used


def grouped(hosts: Mapping[str, Iterable[Change]], own: Mapping[str, Mapping[str, str]]) -> list[Entry]:
    """The entries of the plan, those of a role together, the entry with most hosts first.

    own are the values of each host, {host: {value: name}}, as own_values makes them.
    """
    changes = [(host, change) for host, found in hosts.items() for change in found]
    common = Counter(text for _host, change in changes for text in set(_texts(change)))
    kinds: dict[str, tuple[Change, dict[str, dict[str, str]]]] = {}
    for host, change in changes:
        kind, used = _kind(change, common, own.get(host) or {})
        kinds.setdefault(canonical(kind), (kind, {}))[1][host] = used
    order = list(dict.fromkeys(change.role for found in hosts.values() for change in found))
    entries = [
        Entry(kind, tuple(owners), {host: used for host, used in owners.items() if used})
        for kind, owners in kinds.values()
    ]
    return sorted(entries, key=lambda entry: (order.index(entry.change.role), -len(entry.hosts), entry.hosts))

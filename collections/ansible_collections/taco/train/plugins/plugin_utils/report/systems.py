# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say from which machines and images numbers came; of a comparison, hosts that are equal share one column."""

import json
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import UNKNOWN, Part, plain
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Table
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, some

GIB = 1 << 30
SYSTEM = {
    "os": "System",
    "kernel": "Kernel",
    "cpus": "CPUs",
    "memory_bytes": "Memory",
    "hugepages": "Hugepages",
    "gpus": "GPUs",
    "driver": "Driver",
    "engine": "Engine",
    "interfaces": "Interfaces",
}
# What tells hosts apart that are otherwise equal.
OF_ONE_HOST = {"hostname", "boot_id", "machine_id"}
# Shown together with the number of GPUs.
WITHIN = {"gpu_names"}

System = Optional[Mapping[str, Any]]
"""What a host was during a run, None where nobody looked."""
Hosts = dict[str, dict[str, list[Any]]]
"""The ids of the records of each host, by what the host was."""


def label(key: str) -> str:
    return SYSTEM.get(key) or key.replace("_", " ").capitalize()


def pages(size: Optional[int]) -> str:
    return f"{size // GIB} GiB" if size and size % GIB == 0 else f"{(size or 0) // (1 << 20)} MiB"


def value_text(key: str, system: System) -> str:
    """Return one property of a system in words."""
    value = (system or {}).get(key)
    if key == "memory_bytes" and value is not None:
        return f"{value / GIB:.1f} GiB"
    if key == "hugepages" and value:
        return ", ".join(f"{pool['total']} x {pages(pool['size_bytes'])}" for pool in value)
    if key == "gpus" and system and system.get("gpu_names"):
        return f"{plain(value)} ({plain(system['gpu_names'])})"
    return plain(value)


def same(system: System) -> str:
    """Return what is shown of a system, without what tells equal hosts apart."""
    return json.dumps({key: value_text(key, system) for key in system or {} if key not in OF_ONE_HOST}, sort_keys=True)


def groups(records: Iterable[Part]) -> list[tuple[str, System]]:
    """Return (title, system) for each system that is different from the others."""
    hosts: Hosts = {}
    systems: dict[str, System] = {}
    for record in records:
        for host, system in (record.get("system") or {}).items():
            key = same(system)
            systems.setdefault(key, system)
            hosts.setdefault(key, {}).setdefault(host, []).append(record.get("id"))
    changed = {host for host in _all(hosts) if sum(host in found for found in hosts.values()) > 1}
    return [
        (some([_title(host, found[host], changed) for host in found]), systems[key]) for key, found in hosts.items()
    ]


def _all(hosts: Hosts) -> set[str]:
    return {host for found in hosts.values() for host in found}


def _title(host: str, ids: Sequence[Any], changed: set[str]) -> str:
    """Return a host's name, and in how many runs it was so when it changed in between."""
    return f"{host} (in {counted(len(ids), 'run')})" if host in changed else host


def system_rows(records: Iterable[Part]) -> Table:
    """Return the head and the rows of a table with a column for each kind of host."""
    found = groups(records)
    if not found:
        return (), []
    keys = [key for key in SYSTEM if any(system for _title, system in found)]
    for _hosts, system in found:
        keys += [key for key in system or {} if key not in keys and key not in OF_ONE_HOST | WITHIN]
    head = ("Property", *(title for title, _system in found))
    rows = [(label(key), *(value_text(key, system) for _title, system in found)) for key in keys]
    return head, rows or [("Everything", *(UNKNOWN for _one in found))]

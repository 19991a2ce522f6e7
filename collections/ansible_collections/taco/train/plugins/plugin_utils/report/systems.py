# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say from which machines and images numbers came; of a comparison, hosts that are equal share one column."""

import json
from collections import Counter
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import UNKNOWN, Part, plain
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Grid
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
    """Return (title, system) for each system that is different from the others; the title names its hosts."""
    systems: dict[str, System] = {}
    runs: dict[str, Counter[str]] = {}
    for record in records:
        for host, system in (record.get("system") or {}).items():
            key = same(system)
            systems.setdefault(key, system)
            runs.setdefault(key, Counter())[host] += 1
    kinds = Counter(host for hosts in runs.values() for host in hosts)

    def title(host: str, count: int) -> str:
        """The name of a host, and in how many runs it was so if it changed in between."""
        return f"{host} (in {counted(count, 'run')})" if kinds[host] > 1 else host

    return [(some([title(*one) for one in runs[key].items()]), system) for key, system in systems.items()]


def hosts(records: Iterable[Part]) -> Grid:
    """Return a table with a column for each kind of host."""
    found = groups(records)
    keys = [key for key in SYSTEM if any(system for _title, system in found)]
    for _title, system in found:
        keys += [key for key in system or {} if key not in keys and key not in OF_ONE_HOST | WITHIN]
    rows = [(label(key), *(value_text(key, system) for _title, system in found)) for key in keys]
    unknown = [("Everything", *(UNKNOWN for _one in found))] if found else []
    return Grid(("Property", *(title for title, _system in found)), rows or unknown)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the variables of a search: its hosts, their boundaries and their hardware. Values in, values out."""

from typing import Any, Callable, Dict, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.record import host_named


def hosts_of(hosts: Sequence[Mapping[str, Any]], play: Sequence[str]) -> Tuple[str, ...]:
    """The names of the hosts of a search, each a host of the play: a run of a group starts on its first host."""
    names = tuple(host_named(str(host.get("name")), play) for host in hosts)
    strange = [name for name in names if name not in play]
    if strange:
        raise SearchError(
            f"{strange[0]} is no host of the play, and a search starts runs on each host: name the hosts in benchmark_hosts as in the "
            "inventory, and add them to taco_hosts."
        )
    return names


def boundaries_of(names: Any, hosts: Sequence[str], value_of: Callable[[str, str], Any]) -> Dict[str, Dict[str, str]]:
    """The value of each boundary by host. A boundary is the name of a variable that each host has, such as rack."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name for name in names):
        raise SearchError(
            f"locate_boundaries is {names!r}; it must be a list of names of host variables, such as [rack, zone]."
        )
    found: Dict[str, Dict[str, str]] = {}
    for name in names:
        values = {host: value_of(host, name) for host in hosts}
        without = [host for host, value in values.items() if value in (None, "")]
        if without:
            raise SearchError(
                f"locate_boundaries names {name}, and {without[0]} has no variable {name}: set it in the inventory for each host, or "
                "remove the boundary."
            )
        strange = [host for host, value in values.items() if isinstance(value, (list, dict, tuple))]
        if strange:
            raise SearchError(
                f"{name} of {strange[0]} is {values[strange[0]]!r}; a boundary must be a text or a number."
            )
        found[name] = {host: str(value) for host, value in values.items()}
    return found


def require_one_interface(interface: Any, hosts: Sequence[str], value_of: Callable[[str, str], Any]) -> None:
    """Refuse hosts that name another interface than that of the runs, which is that of the first host."""
    own = {host: value_of(host, "benchmark_interface") or value_of(host, "taco_interface") for host in hosts}
    others = [host for host, name in own.items() if name and name != interface]
    if interface and own[hosts[0]] == interface and others:
        raise SearchError(
            f"{others[0]} has the interface {own[others[0]]}, and {hosts[0]} has {interface}, which all runs of a search use: set "
            "benchmark_interface to an interface that each host has."
        )


def hardware_of(nodes: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]) -> Dict[str, str]:
    """What makes hosts comparable: GPUs, CPUs, instance type and ranks, as one text."""
    slots = {host_named(str(host.get("name")), nodes): host.get("slots") for host in hosts}
    found = {}
    for host, node in nodes.items():
        gpus = node.get("gpus") or {}
        models = sorted({gpu.get("name") or "" for gpu in gpus.get("devices") or []})
        parts = [
            f"{gpus.get('count') or 0} GPUs {' '.join(models)}".strip(),
            f"{(node.get('cpu') or {}).get('count') or '?'} CPUs",
            str((node.get("metadata") or {}).get("instance_type") or ""),
            f"{slots.get(host)} ranks",
        ]
        found[host] = ", ".join(part for part in parts if part)
    return found

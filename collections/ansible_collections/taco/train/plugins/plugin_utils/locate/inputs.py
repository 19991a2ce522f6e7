# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the variables of a search: its hosts, their boundaries and their hardware, and how hosts differ. Values in, values out."""

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.hosts import host_named

# Facts that are different on every host by their nature.
OWN = {"hostname", "identity", "address", "mac", "uuid", "serial", "boot_id", "id", "observed_at"}
# Words in the name of a fact that changes all the time, such as engine_free_bytes.
CHANGING = {"free", "available", "used", "time", "uptime"}
MOST_SHARE = 0.34
LEAST_HOSTS = 4
# Labels of nodes that say where a node is: those of Kubernetes before and since 1.17, and those of NVIDIA's topograph.
TOPOLOGY = ("topology.kubernetes.io", "failure-domain.beta.kubernetes.io", "network.topology.nvidia.com")
RACK = "rack"


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


def topology_boundaries(labels: Mapping[str, Mapping[str, Any]]) -> Dict[str, Dict[str, str]]:
    """The topology labels that divide hosts into groups, each with its value by host. labels are those of the node of each host.

    A label that a host lacks divides nothing, and neither does one by which each host is alone. Of labels that divide the hosts
    alike, runs can't tell one from another, so the first stands for all of them.
    """
    found: Dict[Tuple[int, ...], Tuple[str, Dict[str, str]]] = {}
    for name in sorted({name for of_host in labels.values() for name in of_host}, key=_topology_order):
        prefix, _slash, word = name.rpartition("/")
        values = {host: str(of_host[name]) for host, of_host in labels.items() if of_host.get(name)}
        groups = list(dict.fromkeys(values.values()))
        if (prefix in TOPOLOGY or word == RACK) and len(values) == len(labels) and 1 < len(groups) < len(values):
            found.setdefault(tuple(groups.index(value) for value in values.values()), (name, values))
    return dict(found.values())


def _topology_order(name: str) -> Tuple[int, str]:
    prefix = name.rpartition("/")[0]
    return TOPOLOGY.index(prefix) if prefix in TOPOLOGY else len(TOPOLOGY), name


def boundaries_of(names: Any, hosts: Sequence[str], value_of: Callable[[str, str], Any]) -> Dict[str, Dict[str, str]]:
    """The value of each boundary by host. A boundary is the name of a variable that each host has, such as rack.

    Without names, boundaries are the topology labels of the nodes of pods, as the role mpijob has noted them.
    """
    if names in (None, ""):
        return topology_boundaries(
            {host: (value_of(host, "taco_pod") or {}).get("node_labels") or {} for host in hosts}
        )
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

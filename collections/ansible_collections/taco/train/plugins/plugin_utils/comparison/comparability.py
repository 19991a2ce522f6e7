# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say in what the runs of a comparison differ beside their arms. Values in, sentences out."""

import json
from typing import Any, Container, Dict, Iterable, List, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import placement as comparison_placement
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import OPTIONS

GIB = 1 << 30
# Of a host's part in a record: what changes a number, by the words for it.
OF_A_HOST = {
    "image": "training image",
    "driver": "GPU driver",
    "gpus": "number of GPUs",
    "gpu_names": "GPU model",
    "instance_type": "instance type",
    "interfaces": "network interfaces",
    "hugepages": "hugepages",
    "kernel": "kernel",
    "kernel_line": "kernel line",
    "cpus": "number of CPUs",
    "memory_bytes": "memory",
    "engine": "container engine",
}
# What nodes may not differ in when the workers of one arm ran on other nodes than those of another.
OF_ALL_NODES = ("driver", "gpu_names", "instance_type", "cpus", "memory_bytes")
UNKNOWN = "not known"


def _text(value: Any) -> str:
    if value is None or value == "" or value == []:
        return UNKNOWN if value is None else "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def value_of(system: Dict[str, Any], name: str) -> str:
    """Return a fact of a host as it is compared. What the kernel leaves of the memory differs a little from boot to boot."""
    if name == "memory_bytes" and system.get(name):
        return f"{system[name] / GIB:.0f} GiB"
    return _text(system.get(name))


def settings_of(record: Dict[str, Any], besides: Container[str] = ()) -> Dict[str, str]:
    """Return every option of a run that changes its number, by the words for it; an option without a value is "not set".

    A script is its content, wherever it comes from. besides are options that arms set.
    """
    parameters = dict(record.get("parameters", {}))
    sha256 = (record.get("script") or {}).get("sha256")
    if sha256:
        parameters["script"] = f"SHA-256 {sha256}"
    return {
        words_of([name])[0]: "not set" if parameters[name] is None else _text(parameters[name])
        for name, option in OPTIONS.items()
        if name in parameters and option.affects_value and name not in besides
    }


def words_of(names: Iterable[str]) -> Tuple[str, ...]:
    """Return the words for options of a run; an option without words is its name."""
    return tuple(OPTIONS[name].words or name for name in names)


def _inventory_name(record: Dict[str, Any], host: str) -> str:
    """Return the name under which a host of mpirun was observed: a pod's own, of which mpirun can have the whole domain name."""
    pod = host.split(".")[0]
    return pod if pod in (record.get("placement") or {}) else host


def _machine(record: Dict[str, Any], host: str) -> str:
    """The machine that a host's facts describe: the node of a pod, otherwise the host itself."""
    placement = record.get("placement") or {}
    return comparison_placement.place_of(placement[host]).node if host in placement else host


def _facts(record: Dict[str, Any]) -> Iterable[Tuple[str, str, str]]:
    """Yield (where, what, value) of everything that must be the same in every run."""
    for words, value in settings_of(record).items():
        yield "", words, value
    placement = ", ".join(f"{host['name']}:{host['slots']}" for host in record.get("hosts", []))
    yield "", "placement", placement
    for host in [_inventory_name(record, host["name"]) for host in record.get("hosts", [])]:
        system = (record.get("system") or {}).get(host) or {}
        for name, words in OF_A_HOST.items():
            if name in system:
                yield _machine(record, host), words, value_of(system, name)
    systems = [(record.get("system") or {}).get(host) or {} for host in record.get("placement") or {}]
    for name in OF_ALL_NODES:
        values = {value_of(system, name) for system in systems if name in system}
        if values:
            yield "the nodes", OF_A_HOST[name], " and ".join(sorted(values))


def unlike(records: Sequence[Dict[str, Any]], where: str = "", excused: Container[str] = ()) -> List[str]:
    """Return a sentence for each fact in which the records of one case differ; none when the runs were alike.

    excused are the words for facts that were to differ.
    """
    seen: Dict[Tuple[str, str], Dict[str, List[str]]] = {}
    for record in records:
        for host, words, value in _facts(record):
            arms = seen.setdefault((host, words), {}).setdefault(value, [])
            if record["arm"] not in arms:
                arms.append(record["arm"])
    said = []
    for (host, words), values in seen.items():
        if len(values) > 1 and words not in excused:
            found = "; ".join(f"{value} in {', '.join(sorted(arms))}" for value, arms in values.items())
            place = f" of {host}" if host else ""
            said.append(f"{where + ': ' if where else ''}the {words}{place} was not the same in all runs: {found}.")
    begin = f"{where}: " if where else ""
    return said + [f"{begin}{one}" for one in comparison_placement.unlike(records)]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find in what runs differ beside their arms: the runs of a comparison, and those of a comparison and an earlier one.

A fact that is unknown in either of two comparisons counts as a difference: nothing shows that it was the same. Exceptions are the
container engine and the image where both comparisons ran in pods, or on hosts without an engine: there nothing can observe them.
"""

import json
from typing import Any, Container, Dict, Iterable, List, Mapping, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import placement
from ansible_collections.taco.train.plugins.plugin_utils.comparison.sentences import named
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import UNKNOWN
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import OPTIONS

GIB = 1 << 30
INTERFACES = "network interfaces"
# Facts of a host that change a number, by the words for them.
OF_A_HOST = {
    "image": "training image",
    "driver": "GPU driver",
    "gpus": "number of GPUs",
    "gpu_names": "GPU model",
    "instance_type": "instance type",
    "interfaces": INTERFACES,
    "hugepages": "hugepages",
    "kernel": "kernel",
    "kernel_line": "kernel line",
    "cpus": "number of CPUs",
    "memory_bytes": "memory",
    "engine": "container engine",
}
PACKAGES = {"packages": "packages of the training software"}
# What nodes may not differ in when the workers of one arm ran on other nodes than those of another.
OF_ALL_NODES = ("driver", "gpu_names", "instance_type", "cpus", "memory_bytes")
# Facts that a pod can't observe, and that a host without a container engine doesn't have.
OF_AN_ENGINE = ("engine", "image")
# The parts of an arm that change its number, with the value of one that is not in the file.
OF_AN_ARM = {
    "environment": ("environment", UNKNOWN),
    "plugin": ("NCCL plugin", UNKNOWN),
    "horovod": ("Horovod", UNKNOWN),
    "place": ("placement", "none"),
    "options": ("options", "none"),
    # Of earlier versions, whose arms had commands.
    "before": ("commands before a run", "none"),
    "after": ("commands after a run", "none"),
}
# The parts of a case beside the options of its runs.
OF_A_CASE = {"workload": "workload", "unit": "unit", "higher_is_better": "direction (higher is better)"}

Facts = Mapping[str, str]
"""Values by the words for them, such as "the GPU driver of gpu1"."""
Part = Mapping[str, Any]
"""A record, a comparison (comparison.json), or a part of either."""


def _text(value: Any) -> str:
    if value is None or value == "" or value == []:
        return UNKNOWN if value is None else "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _fact(system: Part, key: str) -> str:
    """Return a fact as it is compared. What the kernel leaves of the memory differs a little from boot to boot."""
    if key == "memory_bytes" and system.get(key):
        return f"{system[key] / GIB:.0f} GiB"
    return _text(system.get(key))


def settings_of(record: Part, besides: Container[str] = ()) -> Dict[str, str]:
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


def _facts_of_run(record: Part) -> Iterable[Tuple[str, str, str]]:
    """Yield (words, of what, value) of everything that must be the same in every run of a case."""
    for words, value in settings_of(record).items():
        yield words, "", value
    yield "placement", "", ", ".join(f"{host['name']}:{host['slots']}" for host in record.get("hosts", []))
    systems, placed = record.get("system") or {}, record.get("placement") or {}
    for host in [one["name"] for one in record.get("hosts", [])]:
        # A pod was observed under its own name, of which mpirun can have the whole domain name.
        pod = host.split(".")[0]
        name = pod if pod in placed else host
        # Facts are those of the machine: the node of a pod, otherwise the host itself.
        machine = placement.place_of(placed[name]).node if name in placed else name
        system = systems.get(name) or {}
        for key, words in OF_A_HOST.items():
            if key in system:
                yield words, f" of {machine}", _fact(system, key)
    nodes = [systems.get(pod) or {} for pod in placed]
    for key in OF_ALL_NODES:
        values = {_fact(system, key) for system in nodes if key in system}
        if values:
            yield OF_A_HOST[key], " of the nodes", " and ".join(sorted(values))


def of_runs(records: Sequence[Part], case: str, expected: Container[str] = ()) -> List[str]:
    """Return a sentence for each fact in which the good runs of a case differ, none when they were alike.

    expected are the words for facts that were to differ.
    """
    seen: Dict[str, Dict[str, List[str]]] = {}
    for record in records:
        for words, what, value in _facts_of_run(record):
            if words not in expected:
                arms = seen.setdefault(words + what, {}).setdefault(value, [])
                arms += [record["arm"]] if record["arm"] not in arms else []
    found = []
    for words, values in seen.items():
        if len(values) > 1:
            by_value = "; ".join(f"{value} in {', '.join(sorted(arms))}" for value, arms in values.items())
            found.append(f"the {words} was not the same in all runs: {by_value}.")
    return [f"{case}: {sentence}" for sentence in found + placement.differences(records)]


def _changed(now: Facts, then: Facts) -> List[str]:
    """Return a sentence for each fact that changed, or that is not known."""
    found = []
    for words in dict.fromkeys([*now, *then]):
        value, before = now.get(words, UNKNOWN), then.get(words, UNKNOWN)
        if value != before:
            found.append(f"the {words} is {value} now and was {before}.")
        elif value == UNKNOWN:
            found.append(f"the {words} is {UNKNOWN} now or then.")
    return found


def _host_facts(host: str, comparison: Part) -> Dict[str, str]:
    """Return the facts of a host. One without GPUs has no driver and no GPU model; that is known."""
    system = comparison["systems"][host]
    found = {key: _fact(system, key) for key in {**OF_A_HOST, **PACKAGES}}
    for key in ("driver", "gpu_names"):
        found[key] = "none" if system.get("gpus") == 0 else found[key] if system.get(key) else UNKNOWN
    # Outside the cloud no host has an instance type. CPUs, memory and GPUs, which are compared, describe the machine there.
    found["instance_type"] = found["instance_type"].replace(UNKNOWN, "none")
    return found


def _unseen(comparison: Part, host: str) -> bool:
    """Return whether a host is a pod or has no container engine."""
    in_pods = any(case.get("pods") for case in comparison.get("cases") or [])
    return in_pods or not comparison["systems"][host].get("engine")


def of_hosts(now: Part, then: Part) -> List[str]:
    """Return the differences between the hosts of two comparisons."""
    systems, before = now.get("systems") or {}, then.get("systems") or {}
    found = [f"{host} was not used then." for host in systems if host not in before]
    found += [f"{host} was used then and is not now." for host in before if host not in systems]
    for host in [host for host in systems if host in before]:
        facts = [_host_facts(host, one) for one in (now, then)]
        unseen = OF_AN_ENGINE if _unseen(now, host) and _unseen(then, host) else ()
        shown = [
            (key, f"{words} of {host}")
            for key, words in {**OF_A_HOST, **PACKAGES}.items()
            if key not in unseen or {one[key] for one in facts} != {UNKNOWN}
        ]
        found += _changed(*({words: one[key] for key, words in shown} for one in facts))
    if not systems and not before:
        found.append(f"the facts of the hosts are {UNKNOWN} now and then.")
    if bool(now.get("lab")) != bool(then.get("lab")):
        found.append("one of the two was measured in a lab.")
    return found


def of_arm(name: str, now: Part, then: Part) -> List[str]:
    """Return the differences between an arm and the arm of the same name in an earlier comparison."""
    arms: List[Part] = [next((arm for arm in one.get("arms") or [] if arm["name"] == name), {}) for one in (now, then)]
    facts = [
        {
            f"{words} of {named(name, now)}": _text(arm[key]) if key in arm else absent
            for key, (words, absent) in OF_AN_ARM.items()
        }
        for arm in arms
    ]
    return _changed(*facts)


def of_case(now: Part, then: Part) -> List[str]:
    """Return the differences between a case and the case of the same name: its options, its unit, its direction."""
    found = [f"{sentence} (earlier)" for sentence in then.get("unlike") or []] + list(now.get("unlike") or [])
    changed = _changed(*({words: _text(case.get(key)) for key, words in OF_A_CASE.items()} for case in (now, then)))
    if now.get("settings") and then.get("settings"):
        changed += _changed(now["settings"], then["settings"])
    else:
        changed.append(f"the options of the runs are {UNKNOWN} now or then.")
    return found + [f"{now['id']}: {sentence}" for sentence in changed]


def between(now: Part, then: Part) -> List[str]:
    """Return every difference of two comparisons once, those of arms first."""
    before: Dict[str, Part] = {case["id"]: case for case in then["cases"]}
    measured = {arm["name"] for arm in then.get("arms") or []}
    found = [sentence for arm in now["arms"] if arm["name"] in measured for sentence in of_arm(arm["name"], now, then)]
    for case in now["cases"]:
        found += of_case(case, before[case["id"]]) if case["id"] in before else []
    return list(dict.fromkeys(found + of_hosts(now, then)))

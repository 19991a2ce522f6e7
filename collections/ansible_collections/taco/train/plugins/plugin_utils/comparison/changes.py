# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""List the differences between a comparison and an earlier one, for each arm of each case. Values in, sentences out.

A fact that is unknown in either of the two counts as a difference: nothing shows that it was the same. Exceptions are the container
engine and the image where both comparisons ran in pods, or on hosts without an engine: there nothing can observe them.
"""

from typing import Any, Dict, List, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparability import OF_A_HOST, UNKNOWN, value_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison.lead_sentence import named

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
HOST_FACTS = dict(OF_A_HOST, packages="packages of the training software")
# Facts that a pod can't observe, and that a host without a container engine doesn't have.
OF_AN_ENGINE = ("engine", "image")


def _difference(what: str, now: str, then: str) -> List[str]:
    if UNKNOWN in (now, then):
        return [f"{what} is {now} now and was {then}."] if now != then else [f"{what} is {UNKNOWN} now or then."]
    return [f"{what} is {now} now and was {then}."] if now != then else []


def _known(system: Mapping[str, Any], key: str) -> str:
    """Return a fact of a host as it is compared. A host without GPUs has no driver and no GPU model; that is known."""
    value = value_of(dict(system), key)
    without_gpus = system.get("gpus") == 0
    if key in ("driver", "gpu_names"):
        return "none" if without_gpus else UNKNOWN if not system.get(key) else value
    # Outside the cloud no host has an instance type. CPUs, memory and GPUs, which are compared, describe the machine there.
    return "none" if key == "instance_type" and value == UNKNOWN else value


def _without_engine(comparison: Mapping[str, Any], system: Mapping[str, Any]) -> bool:
    """Return whether a host is a pod or has no container engine."""
    return not system.get("engine") or any(case.get("pods") for case in comparison.get("cases") or [])


def _of_a_host(host: str, now: Mapping[str, Any], then: Mapping[str, Any]) -> List[str]:
    system, before = now["systems"][host], then["systems"][host]
    unseen = OF_AN_ENGINE if _without_engine(now, system) and _without_engine(then, before) else ()
    found = []
    for key, words in HOST_FACTS.items():
        values = _known(system, key), _known(before, key)
        if key not in unseen or values != (UNKNOWN, UNKNOWN):
            found += _difference(f"the {words} of {host}", *values)
    return found


def hosts(now: Mapping[str, Any], then: Mapping[str, Any]) -> List[str]:
    """Return the differences between the hosts of two comparisons."""
    systems, before = now.get("systems") or {}, then.get("systems") or {}
    found = [f"{host} was not used then." for host in systems if host not in before]
    found += [f"{host} was used then and is not now." for host in before if host not in systems]
    for host in systems:
        found += _of_a_host(host, now, then) if host in before else []
    if not systems and not before:
        found.append(f"the facts of the hosts are {UNKNOWN} now and then.")
    if bool(now.get("lab")) != bool(then.get("lab")):
        found.append("one of the two was measured in a lab.")
    return found


def arm(name: str, now: Mapping[str, Any], then: Mapping[str, Any]) -> List[str]:
    """Return the differences between an arm and the arm of the same name in an earlier comparison."""
    own, before = (
        next((dict(one) for one in comparison.get("arms") or [] if one["name"] == name), {})
        for comparison in (now, then)
    )
    found = []
    for key, (words, absent) in OF_AN_ARM.items():
        values = [value_of(one, key) if key in one else absent for one in (own, before)]
        found += _difference(f"the {words} of {named(name, dict(now))}", *values)
    return found


def of_case(now: Mapping[str, Any], then: Mapping[str, Any]) -> List[str]:
    """Return the differences between a case and the case of the same name: its options, its unit, its direction."""
    name = now["id"]
    found = [f"{one} (earlier)" for one in then.get("unlike") or []] + list(now.get("unlike") or [])
    for key, words in OF_A_CASE.items():
        found += _difference(f"{name}: the {words}", value_of(dict(now), key), value_of(dict(then), key))
    settings, before = now.get("settings") or {}, then.get("settings") or {}
    if not settings or not before:
        return [*found, f"{name}: the options of the runs are {UNKNOWN} now or then."]
    for words in dict.fromkeys([*settings, *before]):
        found += _difference(f"{name}: the {words}", settings.get(words, UNKNOWN), before.get(words, UNKNOWN))
    return found


def differences(now: Dict[str, Any], then: Dict[str, Any]) -> List[str]:
    """Return every difference once, those of arms first."""
    before = {case["id"]: case for case in then["cases"]}
    measured = {one["name"] for one in then.get("arms") or []}
    found = [said for one in now["arms"] if one["name"] in measured for said in arm(one["name"], now, then)]
    found += [said for case in now["cases"] if case["id"] in before for said in of_case(case, before[case["id"]])]
    return list(dict.fromkeys(found + hosts(now, then)))

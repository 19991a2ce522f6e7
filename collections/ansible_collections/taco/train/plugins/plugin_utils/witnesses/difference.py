# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happened on a host between two snapshots of its counters. Values in, values out.

The snapshots come from a host, so any part of them may be absent or of a wrong type; such a part gives no difference.
"""

from typing import Any, Dict, List, Mapping, Optional

NIC = {
    "sent": ("tx_bytes",),
    "received": ("rx_bytes",),
    "drops": ("rx_dropped", "tx_dropped"),
    "errors": ("rx_errors", "tx_errors"),
}
PEER = ("connections", "sent", "received", "retransmits")
PEER_SECONDS = ("seconds", "busy", "rwnd_limited", "sndbuf_limited", "busiest")
GPU = ("clock", "clock_max", "temperature")
ERRORS = ("uncorrected", "corrected")

Part = Mapping[str, Any]


def part(value: Any, name: str) -> Part:
    """A part of an object, empty when it isn't an object."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def count(value: Any) -> Optional[int]:
    """A counter, None when it isn't one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def seconds(value: Any) -> Optional[float]:
    """A time, None when it isn't one."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number and 0 <= value < 1e12 else None


def grown(before: Part, after: Part, *names: str) -> Optional[int]:
    """How much the sum of counters has grown; None where one of them is absent or was reset."""
    total = 0
    for name in names:
        first, last = count(before.get(name)), count(after.get(name))
        if first is None or last is None or last < first:
            return None
        total += last - first
    return total


def _share(part_of: Optional[int], whole: Optional[int]) -> Optional[float]:
    return round(part_of / whole, 6) if part_of is not None and whole and part_of <= whole else None


def _nics(before: Part, after: Part) -> Dict[str, Dict[str, Optional[int]]]:
    """The growth of each interface of either snapshot, with None for what is not known."""
    names = sorted({str(name) for name in (*before, *after)})
    return {
        name: {key: grown(part(before, name), part(after, name), *columns) for key, columns in NIC.items()}
        for name in names
    }


def _peers(samples: Any) -> List[Dict[str, Any]]:
    listed = samples.get("peers") if isinstance(samples, Mapping) else None
    found = []
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, Mapping) and isinstance(entry.get("peer"), str):
            known: Dict[str, Any] = {name: count(entry.get(name)) for name in PEER}
            known.update((name, seconds(entry.get(name))) for name in PEER_SECONDS)
            found.append({"peer": entry["peer"], **{name: value for name, value in known.items() if value is not None}})
    return found


def _gpus(before: Any, after: Any, samples: Any) -> Optional[Dict[str, Dict[str, Any]]]:
    """The state of each GPU under load, with the memory errors that are new; None where nvidia-smi gave no answer at the end.

    Errors are new only where they were counted before as well: after an unanswered question before the run nobody knows.
    """
    if not isinstance(after.get("gpus"), Mapping):
        return None
    found = {}
    for uuid in after["gpus"]:
        load = part(part(samples, "gpus"), uuid)
        values: Dict[str, Any] = {name: count(load.get(name)) for name in GPU}
        for name in ERRORS:
            values[name] = grown(part(part(before, "gpus"), uuid), part(after["gpus"], uuid), name)
        reasons = load.get("reasons")
        values["reasons"] = sorted(str(one) for one in reasons) if isinstance(reasons, list) else []
        found[str(uuid)] = {name: value for name, value in values.items() if value is not None}
    return found


def _xids(before: Part, after: Part) -> Optional[List[str]]:
    """The errors of GPUs that the kernel reported after the first snapshot; None where that isn't known."""
    listed, start = after.get("xids"), seconds(before.get("uptime"))
    if not isinstance(listed, list) or start is None:
        return None
    entries = [one for one in listed if isinstance(one, Mapping)]
    return [str(one.get("text")) for one in entries if (seconds(one.get("uptime")) or 0) > start]


def difference(before: Any, after: Any, samples: Any = None) -> Optional[Dict[str, Any]]:
    """What happened on a host, as the record keeps it. None without two snapshots of the same boot, pod and network namespace."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return None
    if any(not before.get(name) or before.get(name) != after.get(name) for name in ("boot_id", "namespace")):
        return None
    if before.get("init_started") != after.get("init_started"):
        return None
    cpu = {name: grown(part(before, "cpu"), part(after, "cpu"), name) for name in ("total", "idle", "steal")}
    throttled = grown(part(before, "throttling"), part(after, "throttling"), "microseconds")
    start, end = seconds(before.get("uptime")), seconds(after.get("uptime"))
    took = round(end - start, 3) if start is not None and end is not None and end > start else None
    return {
        "seconds": took,
        "nics": _nics(part(before, "nics"), part(after, "nics")),
        "segments": grown(part(before, "tcp"), part(after, "tcp"), "OutSegs"),
        "retransmits": grown(part(before, "tcp"), part(after, "tcp"), "RetransSegs"),
        "steal": _share(cpu["steal"], cpu["total"]),
        "idle": _share(cpu["idle"], cpu["total"]),
        "throttled_seconds": None if throttled is None else throttled / 1e6,
        "peers": _peers(samples),
        "gpus": _gpus(before, after, samples),
        "xids": _xids(before, after),
    }


def differences(counters: Any) -> Dict[str, Optional[Dict[str, Any]]]:
    """The difference of each host; counters has for each host the results of the module counters before and after the run."""
    found: Dict[str, Optional[Dict[str, Any]]] = {}
    for host, pair in counters.items() if isinstance(counters, Mapping) else ():
        before, after = part(pair, "before"), part(pair, "after")
        found[str(host)] = difference(before.get("counters"), after.get("counters"), after.get("samples"))
    return found


def same_network(counters: Any) -> List[List[str]]:
    """The hosts that share a network namespace of one node: what they exchange crosses no interface."""
    groups: Dict[str, List[str]] = {}
    for host, pair in counters.items() if isinstance(counters, Mapping) else ():
        found = part(part(pair, "before"), "counters")
        if found.get("boot_id") and found.get("namespace"):
            groups.setdefault(f"{found['boot_id']} {found['namespace']}", []).append(str(host))
    return [hosts for hosts in groups.values() if len(hosts) > 1]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The growth of the counters of a host between two snapshots. Values in, values out.

A counter that couldn't be read is absent from its snapshot, and its growth is not known.
"""

from typing import Any, Dict, List, Mapping, Optional

NIC = {
    "sent": ("tx_bytes",),
    "received": ("rx_bytes",),
    "drops": ("rx_dropped", "tx_dropped"),
    "errors": ("rx_errors", "tx_errors"),
}
GPU = ("clock", "clock_max", "temperature")
ERRORS = ("uncorrected", "corrected")
SAME = ("boot_id", "namespace")

Part = Mapping[str, Any]


def grown(before: Part, after: Part, *names: str) -> Optional[int]:
    """Return the growth of the sum of counters, None where one of them is absent or was reset."""
    total = 0
    for name in names:
        first, last = before.get(name), after.get(name)
        if first is None or last is None or last < first:
            return None
        total += last - first
    return total


def _share(part: Optional[int], whole: Optional[int]) -> Optional[float]:
    return round(part / whole, 6) if part is not None and whole and part <= whole else None


def _nics(before: Part, after: Part) -> Dict[str, Dict[str, Optional[int]]]:
    """Return the growth of each interface of either snapshot, with None for what is not known."""
    return {
        name: {key: grown(before.get(name, {}), after.get(name, {}), *columns) for key, columns in NIC.items()}
        for name in sorted({*before, *after})
    }


def _gpus(before: Part, after: Part, loads: Part) -> Optional[Dict[str, Dict[str, Any]]]:
    """Return the state of each GPU under load, with its new memory errors; None where nvidia-smi gave no answer at the end.

    Errors are new only where they were counted before as well: after an unanswered question before the run nobody knows.
    """
    if after.get("gpus") is None:
        return None
    found = {}
    for uuid, state in after["gpus"].items():
        load, earlier = loads.get(uuid, {}), (before.get("gpus") or {}).get(uuid, {})
        values: Dict[str, Any] = {name: load.get(name) for name in GPU}
        values.update((name, grown(earlier, state, name)) for name in ERRORS)
        values["reasons"] = load.get("reasons", [])
        found[uuid] = {name: value for name, value in values.items() if value is not None}
    return found


def _xids(before: Part, after: Part) -> Optional[List[str]]:
    """Return the errors of GPUs that the kernel reported after the first snapshot, None where that isn't known."""
    if after.get("xids") is None or before.get("uptime") is None:
        return None
    return [one["text"] for one in after["xids"] if one["uptime"] > before["uptime"]]


def difference(
    before: Optional[Part], after: Optional[Part], samples: Optional[Part] = None
) -> Optional[Dict[str, Any]]:
    """Return the difference of a host, as the record keeps it. None without two snapshots of the same boot, pod and network namespace."""
    if not before or not after or any(not before.get(name) or before[name] != after.get(name) for name in SAME):
        return None
    if before.get("init_started") != after.get("init_started"):
        return None
    sampled = samples or {}
    cpu = {name: grown(before["cpu"], after["cpu"], name) for name in ("total", "idle", "steal")}
    throttled = grown(before["throttling"], after["throttling"], "microseconds")
    start, end = before.get("uptime"), after.get("uptime")
    return {
        "seconds": round(end - start, 3) if start is not None and end is not None and end > start else None,
        "nics": _nics(before["nics"], after["nics"]),
        "segments": grown(before["tcp"], after["tcp"], "OutSegs"),
        "retransmits": grown(before["tcp"], after["tcp"], "RetransSegs"),
        "steal": _share(cpu["steal"], cpu["total"]),
        "idle": _share(cpu["idle"], cpu["total"]),
        "throttled_seconds": None if throttled is None else throttled / 1e6,
        "peers": sampled.get("peers", []),
        "gpus": _gpus(before, after, sampled.get("gpus", {})),
        "xids": _xids(before, after),
    }


def differences(counters: Mapping[str, Part]) -> Dict[str, Optional[Dict[str, Any]]]:
    """Return the difference of each host; counters has the results of the module counters before and after the run, by host."""
    found = {}
    for host, pair in counters.items():
        before, after = pair["before"] or {}, pair["after"] or {}
        found[host] = difference(before.get("counters"), after.get("counters"), after.get("samples"))
    return found


def same_network(counters: Mapping[str, Part]) -> List[List[str]]:
    """Return the hosts that share a network namespace of one node: what they exchange crosses no interface."""
    groups: Dict[str, List[str]] = {}
    for host, pair in counters.items():
        found = (pair["before"] or {}).get("counters") or {}
        if all(found.get(name) for name in SAME):
            groups.setdefault(f"{found['boot_id']} {found['namespace']}", []).append(host)
    return [hosts for hosts in groups.values() if len(hosts) > 1]

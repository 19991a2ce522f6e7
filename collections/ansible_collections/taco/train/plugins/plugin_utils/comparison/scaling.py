# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Set what many devices did against what few did, and what the network carried against what it can."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import host_noun
from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_sizes
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import efficiency

NCCL_TESTS = "nccl_tests"


def _series(cases: Sequence[Dict[str, Any]]) -> Dict[Tuple[Any, ...], List[Dict[str, Any]]]:
    """Return the cases that differ in nothing but their hosts."""
    found: Dict[Tuple[Any, ...], List[Dict[str, Any]]] = {}
    for case in cases:
        if case["higher_is_better"] and case["workload"] != NCCL_TESTS:
            label = case["id"].split("/")[0]
            found.setdefault((label, case["model"], case["batch_size"], case["unit"]), []).append(case)
    return found


def _measured(case: Dict[str, Any], arm: str) -> Optional[Dict[str, Any]]:
    found = next(one for one in case["arms"] if one["arm"] == arm)
    return found if found["median"] else None


def _line(cases: Sequence[Dict[str, Any]], arm: str, base: Dict[str, Any], basis: str) -> Optional[Dict[str, Any]]:
    first = _measured(base, arm)
    if first is None:
        return None
    single = first["median"] / base["ranks"]
    points = []
    for case in sorted(cases, key=lambda one: one["ranks"]):
        found = _measured(case, arm)
        if found and case["ranks"] >= base["ranks"]:
            shares = [
                efficiency(found[key], case["ranks"], single) if found[key] else None
                for key in ("median", "low", "high")
            ]
            place = {"nodes": case["nodes"], "ranks": case["ranks"], "value": found["median"]}
            points.append(dict(place, efficiency=shares[0], low=shares[1], high=shares[2]))
    shown = {"arm": arm, "workload": base["workload"], "model": base["model"], "batch_size": base["batch_size"]}
    shown.update((key, base[key]) for key in ("name", "subject") if base.get(key))
    shown.update(unit=base["unit"], pods=base.get("pods", False), basis=basis, points=points)
    return shown if len(points) > 1 else None


def scaling(cases: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Return for each arm its efficiency against one device and against one host or worker, where those were measured.

    Efficiency is value / (devices x value of one device): 1 where all devices do together what each does alone. The interval is
    that of the value alone; what the base may be off by is not in it.
    """
    found = []
    for alike in _series(cases).values():
        bases = [("1 device", case) for case in alike if case["ranks"] == 1]
        bases += [(f"1 {host_noun(case)}", case) for case in alike if case["nodes"] == 1 and case["ranks"] > 1]
        for basis, base in bases:
            lines = [_line(alike, arm["arm"], base, basis) for arm in base["arms"]]
            found += [line for line in lines if line]
    return found


def bus_bandwidth(
    cases: Sequence[Dict[str, Any]], line_rate_gbps: Optional[float], records: Sequence[Dict[str, Any]] = ()
) -> List[Dict[str, Any]]:
    """Return the bus bandwidth of each arm at the largest message size in Gbit/s, its share of a host's line rate, and all sizes.

    Within one host no traffic passes its network, so there a share would mean nothing.
    """
    rows = {record["id"]: record["result"]["details"].get("rows") or [] for record in records if record.get("result")}
    found = []
    for case in cases:
        if case["workload"] != NCCL_TESTS:
            continue
        line_rate = line_rate_gbps if case["nodes"] > 1 else None
        for arm in case["arms"]:
            if arm["median"]:
                gbps = arm["median"] * 8
                counted = [rows.get(run["record"], []) for run in arm["runs"] if not run["warmup"]]
                found.append(
                    {
                        "arm": arm["arm"],
                        "case": case["id"],
                        "value_gbps": gbps,
                        "line_rate_gbps": line_rate,
                        "share": gbps / line_rate if line_rate else None,
                        "sizes": nccl_sizes.over_runs(counted),
                    }
                )
    return found

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The value of a run in words, and what must stand beside it: how it is made, its spread, its stalls, its step times.

Every workload declares these in WORKLOADS; nothing here names a workload, a unit or a direction.
"""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.run.spread import STALL
from ansible_collections.taco.train.plugins.plugin_utils.text import number
from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_sizes
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

SIZE_NUMBERS = ("Message size", "Out of place", "In place")

Record = Mapping[str, Any]


def kind_of(record: Record) -> WorkloadKind:
    return WORKLOADS[record["workload"]]


def subject(record: Record) -> str:
    """The subject of a run, such as a model and its batch size."""
    return kind_of(record).subject(record["parameters"])


def direction(higher_is_better: bool) -> str:
    return "higher is better" if higher_is_better else "lower is better"


def beside(record: Record) -> list[str]:
    """Return the sentences that belong to the value of a good record."""
    result, kind = record["result"], kind_of(record)
    made = (kind.total if record["parameters"].get("total_pattern") else None) or kind.value
    said = [f"Value: {made}; {direction(result['higher_is_better'])}."]
    if result["unit"].startswith("images/") and record["ranks"] > 1:
        said.append(f"Per device: {number(result['value'] / record['ranks'])} {result['unit']}.")
    spread = result.get("spread")
    if spread:
        said += of_spread(spread, kind.iteration or "iteration", result["unit"])
    elif kind.running_mean:
        said.append(
            f"The number of each {kind.iteration} is a mean over all steps so far, so the spread of single steps is not known."
        )
    if result.get("total"):
        printed = result["total"]
        interval = f"{number(printed['mean'])} ± {number(printed['ci'])} {result['unit']}"
        said.append(f"The script's own summary, for comparison: {interval} (mean ± 1.96 standard deviations).")
    average = result["details"].get("average")
    if average is not None:
        said.append(f"Average over all message sizes, for comparison: {number(average)} {result['unit']}.")
    if record.get("network_line"):
        said.append(f"Network of NCCL: {record['network']}. Log line: {record['network_line']}")
    return said


def of_spread(spread: Mapping[str, Any], noun: str, unit: str) -> list[str]:
    """Return the sentences on how much the iterations of a run differ."""
    low, high, p5, p50, p95 = (number(spread[key]) for key in ("low", "high", "p5", "p50", "p95"))
    said = [
        f"{spread['count']} {noun}s from {low} to {high} {unit}; percentiles: 5th {p5}, 50th {p50}, 95th {p95}.",
        f"Stalls ({noun}s that took at least {STALL:g} times the median time): {spread['stalls']}.",
    ]
    times = spread.get("step_time")
    if times:
        p50, p95, most = (f"{number(times[key])} s" for key in ("p50", "p95", "max"))
        said.append(f"Time of a step, as the mean of each {noun}: median {p50}, 95th percentile {p95}, longest {most}.")
    return said


def sizes(record: Record) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (head, rows) of the bus bandwidth by message size, without rows where the workload has none."""
    result = record["result"] or {}
    rows = [
        (
            nccl_sizes.text_of(row["size"]),
            *(number((row.get(place) or {}).get("busbw")) for place in ("out_of_place", "in_place")),
            result["unit"],
        )
        for row in (result.get("details") or {}).get("rows") or []
    ]
    return (*SIZE_NUMBERS, "Unit of bus bandwidth"), rows

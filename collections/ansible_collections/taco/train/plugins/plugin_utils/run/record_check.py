# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validate records and comparisons before they are written: their JSON schema, and the relations that no schema can express."""

from typing import Any, Iterator, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema

RECORD, COMPARISON = "record-1", "comparison-1"
ORDER = ("low", "p5", "p50", "p95", "high")

Part = Mapping[str, Any]


def record_problems(record: Any) -> list[str]:
    """Return a sentence for each reason not to keep a record."""
    return json_schema.problems(record, json_schema.load(RECORD)) or list(_of_record(record))


def comparison_problems(comparison: Any) -> list[str]:
    """Return a sentence for each reason not to keep a comparison."""
    return json_schema.problems(comparison, json_schema.load(COMPARISON)) or list(_of_comparison(comparison))


def _of_record(record: Part) -> Iterator[str]:
    slots = sum(host["slots"] for host in record["hosts"])
    by_mpirun = record["measures"]["mpi"]
    expected = slots if by_mpirun else 1
    if record["ranks"] != expected:
        yield f"ranks is {record['ranks']}, expected {expected}" + (", the sum of the slots" if by_mpirun else "")
    spread = (record["result"] or {}).get("spread")
    if spread:
        yield from _ordered([spread[name] for name in ORDER], "result.spread")


def _of_comparison(comparison: Part) -> Iterator[str]:
    started, ended = comparison["started"], comparison["ended"]
    if started and ended and started > ended:
        yield f"started is {started}, after ended, {ended}"
    for case in comparison["cases"]:
        for arm in case["arms"]:
            yield from _interval(arm, f"{case['id']}, arm {arm['arm']}")
        for one in case["comparisons"]:
            yield from _judged(one, f"{case['id']}, arm {one['arm']} and {one['baseline']}")
    for one in (comparison["regression"] or {}).get("comparisons") or []:
        yield from _judged(one, f"regression of arm {one.get('arm')}")
    for one in comparison["scaling"]:
        for point in one["points"]:
            yield from _interval(point, f"scaling of arm {one['arm']}")


def _judged(one: Part, where: str) -> Iterator[str]:
    yield from _interval(one, where)
    ratio = one.get("ratio")
    if ratio is not None and {"better": ratio <= 1, "worse": ratio >= 1}.get(one.get("verdict", ""), False):
        yield f"{where}: the verdict is {one['verdict']} and the ratio {ratio}"


def _interval(one: Part, where: str) -> Iterator[str]:
    yield from _ordered([one.get("low"), one.get("high")], where)


def _ordered(numbers: list[Any], where: str) -> Iterator[str]:
    known = [number for number in numbers if number is not None]
    if known != sorted(known):
        yield f"{where}: {', '.join(f'{number:.6g}' for number in known)} are not in ascending order"

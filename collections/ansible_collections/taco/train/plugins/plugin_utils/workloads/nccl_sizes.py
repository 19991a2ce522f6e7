# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bus bandwidth of nccl-tests by message size.

The average that the program prints includes sizes of a few bytes, at which latency and not bandwidth decides, so a perfect network
reaches only about a third of its line rate in it. The value of a run is therefore the bus bandwidth at the largest size.
"""

from statistics import median
from typing import Any, Mapping, Sequence

Row = Mapping[str, Any]
"""A row of nccl_table: size, out_of_place and in_place."""
# The bus bandwidth is size / time times this share of all n ranks (nccl-tests, doc/PERFORMANCE.md).
ALL_BUT_ONE = ("all_gather_perf", "reduce_scatter_perf", "alltoall_perf", "gather_perf", "scatter_perf")
# What two decimals show as 0.00.
ROUNDED_AWAY = 0.005
ONCE = ("broadcast_perf", "reduce_perf", "sendrecv_perf", "hypercube_perf")


def share(binary: str, ranks: int) -> float:
    """Return the factor of a test, 0 for one that is not known."""
    of_others = (ranks - 1) / ranks
    return (
        2 * of_others if binary == "all_reduce_perf" else of_others if binary in ALL_BUT_ONE else float(binary in ONCE)
    )


def with_small_rates(rows: Sequence[Row], binary: str, ranks: int | None) -> list[Row]:
    """Return the rows with the bus bandwidth of messages of some bytes, which the table rounds to 0.00, from size and time."""
    factor = share(binary, ranks) if ranks else 0

    def exact(size: int, group: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if not group or group.get("busbw") != 0 or not group.get("time_us") or not factor:
            return group
        # Bytes in a microsecond are megabytes in a second.
        rate = size / group["time_us"] / 1000 * factor
        return {**group, "busbw": float(f"{rate:.3g}")} if rate < ROUNDED_AWAY else group

    return [
        {**row, **{place: exact(row["size"], row.get(place)) for place in ("out_of_place", "in_place")}} for row in rows
    ]


def bus_bandwidth(row: Row) -> float | None:
    """Return the bus bandwidth of a row in GB/s: out of place, or in place for a test that has no other."""
    group = row.get("out_of_place") or row.get("in_place") or {}
    number: float | None = group.get("busbw")
    return number


def by_size(rows: Sequence[Row]) -> list[tuple[int, float]]:
    """Return (bytes, GB/s) by size; the median where a size has several rows, such as one for each data type."""
    found: dict[int, list[float]] = {}
    for row in rows:
        number = bus_bandwidth(row)
        if number is not None:
            found.setdefault(row["size"], []).append(number)
    return [(size, median(found[size])) for size in sorted(found)]


def at_largest(rows: Sequence[Row]) -> float | None:
    """Return the bus bandwidth at the largest size in GB/s, or None where no row has one above zero."""
    found = by_size(rows)
    return found[-1][1] if found and found[-1][1] > 0 else None


def are_small(rows: Sequence[Row]) -> bool:
    """Return whether the average of the rows is one that the program rounds to 0."""
    return bool(rows) and 0 < max((rate for _size, rate in by_size(rows)), default=0) < ROUNDED_AWAY


def over_runs(runs: Sequence[Sequence[Row]]) -> list[dict[str, float]]:
    """Return {size, gb_per_s} with the median of several runs at each size that all of them have."""
    tables = [dict(by_size(rows)) for rows in runs if rows]
    shared = set.intersection(*(set(table) for table in tables)) if tables else set()
    return [{"size": size, "gb_per_s": median(table[size] for table in tables)} for size in sorted(shared)]


def text_of(size: int) -> str:
    """Return a number of bytes in the words of nccl-tests, such as 8 B, 64 KiB or 128 MiB."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return (
                f"{size / (1 << power):g} {unit}" if size % (1 << power) == 0 else f"{size / (1 << power):.1f} {unit}"
            )
    return f"{size} B"

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

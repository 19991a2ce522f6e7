# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show a verdict as a table of text. Values in, text out."""

import textwrap
from typing import Any, Dict, List, Mapping, Sequence, Tuple

WIDTH = 120
HEADINGS = ("HOST", "CHECK", "EXPECTED", "FOUND", "FIX")
GAP = "  "
# The parts of the width for what is expected, found and to be done.
SHARES = (3, 4, 4)
MOST_FOR_HOSTS = 26
EVERY_HOST = "all hosts"
# Beyond that nobody reads a list of all hosts.
MOST_NAMES = 8


def _together(names: List[str], every: int) -> str:
    return f"all {every} hosts" if len(names) == every > MOST_NAMES else ", ".join(names)


def _rows(verdict: Mapping[str, Any], status: str) -> List[Tuple[str, ...]]:
    """Return a row for each outcome of that status; hosts with the very same outcome share one."""
    hosts: Dict[Tuple[str, ...], List[str]] = {}
    for name, host in verdict["hosts"].items():
        for check in host["checks"]:
            if check["status"] == status:
                hosts.setdefault((check["id"], check["expected"], check["found"], check["fix"]), []).append(name)
    every = len(verdict["hosts"])
    rows = [(_together(names, every),) + row for row, names in hosts.items()]
    for check in verdict["fleet"]:
        if check["status"] == status:
            rows.append((EVERY_HOST, check["id"], check["expected"], check["found"], check["fix"]))
    return rows


def _widths(rows: Sequence[Sequence[str]]) -> List[int]:
    names = [name for row in rows for name in row[0].split(", ")]
    first = min(max(map(len, names + [HEADINGS[0]])) + 1, MOST_FOR_HOSTS)
    second = max(len(row[1]) for row in list(rows) + [HEADINGS])
    rest = max(WIDTH - first - second - len(GAP) * (len(HEADINGS) - 1), 3 * 12)
    parts = [rest * share // sum(SHARES) for share in SHARES]
    return [first, second] + parts


def row_lines(row: Sequence[str], widths: Sequence[int]) -> List[str]:
    """Return a row as lines. A word is cut only when it doesn't fit a column, as names of variables are words."""
    cells = [
        textwrap.wrap(" ".join(cell.split()), width, break_on_hyphens=False) or [""] for cell, width in zip(row, widths)
    ]
    height = max(map(len, cells))
    padded = [cell + [""] * (height - len(cell)) for cell in cells]
    return [GAP.join(part.ljust(width) for part, width in zip(line, widths)).rstrip() for line in zip(*padded)]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def table(verdict: Mapping[str, Any]) -> str:
    """Return all failures and warnings of all hosts as a table 120 columns wide, and a line that sums it up."""
    summary = verdict["summary"]
    counts = f"{_plural(summary['fail'], 'failure')} and {_plural(summary['warn'], 'warning')}"
    total = f"Preflight: {counts} on {_plural(summary['hosts'], 'host')}; {_plural(summary['pass'], 'check')} passed."
    lines = [total]
    groups = [(title, _rows(verdict, status)) for title, status in (("FAILED", "fail"), ("WARNING", "warn"))]
    widths = _widths([row for _title, rows in groups for row in rows])
    for title, rows in groups:
        if rows:
            lines += ["", title] + row_lines(HEADINGS, widths) + [GAP.join("-" * width for width in widths)]
            for row in rows:
                lines += row_lines(row, widths)
    return "\n".join(lines)

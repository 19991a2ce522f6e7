# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show the outcome of a playbook on its hosts as a table that fits a terminal. Values in, lines out."""

from typing import Dict, List, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.summary.tally import Outcome
from ansible_collections.taco.train.plugins.plugin_utils.text import GAP, cells, counted, row_lines, ruled, wrapped

NARROWEST_COLUMN = 3
NARROWEST = 20
# Beyond that nobody reads a line for each: hosts of which the same is said share one.
MOST_ROWS = 30
# As many hosts with the same failure are named.
MOST_NAMES = 3
# Failures are wrapped below the name of their host.
INDENT = "  "
# The longest failure, in lines. The cause stands at its beginning and the fix at its end.
FIRST_LINES, LAST_LINES = 8, 4


class Line(NamedTuple):
    """A line of text, and what it says for people who see colours: plain, good, changed or bad."""

    text: str
    kind: str = "plain"


def _kind(outcome: Outcome) -> str:
    if outcome.failure or outcome.verdict.startswith("fail"):
        return "bad"
    return "changed" if outcome.changed or outcome.pending or outcome.verdict.startswith("warn") else "good"


def _named(hosts: Sequence[str], most: int = 1) -> str:
    return ", ".join(hosts) if len(hosts) <= most else f"{hosts[0]} and {len(hosts) - 1} more"


def _failures(outcomes: Sequence[Outcome], width: int) -> List[Line]:
    """The failures, wrapped; hosts with the same failure share it."""
    hosts: Dict[str, List[str]] = {}
    for outcome in outcomes:
        if outcome.failure:
            hosts.setdefault(outcome.failure, []).append(outcome.host)
    lines: List[Line] = []
    for failure, names in hosts.items():
        first, *rest = wrapped(f"{_named(names, MOST_NAMES)}: {failure}", width - len(INDENT))
        shown = [first] + [INDENT + line for line in rest]
        if len(shown) > FIRST_LINES + LAST_LINES + 1:
            shown = shown[:FIRST_LINES] + [INDENT + "..."] + shown[-LAST_LINES:]
        lines += [Line(line, "bad") for line in shown]
    return lines


def _together(said: Sequence[Tuple[str, Tuple[str, ...], str]]) -> List[Tuple[str, Tuple[str, ...], str]]:
    """Return (names of hosts, cells, kind); hosts with the same cells share a row when there are many."""
    if len(said) <= MOST_ROWS:
        return list(said)
    hosts: Dict[Tuple[Tuple[str, ...], str], List[str]] = {}
    for host, row, kind in said:
        hosts.setdefault((row, kind), []).append(host)
    return [(_named(names), row, kind) for (row, kind), names in hosts.items()]


def _widths(rows: Sequence[Sequence[str]], width: int) -> List[int]:
    """Return the widths of the columns: what they need, and where that is too much the widest gives way."""
    widths = [max(NARROWEST_COLUMN, *(cells(row[place]) for row in rows)) for place in range(len(rows[0]))]
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _sentence(outcomes: Sequence[Outcome], check: bool) -> str:
    numbers = (
        (sum(bool(outcome.failure) for outcome in outcomes), "failed"),
        (sum(bool(outcome.changed) for outcome in outcomes), "would change" if check else "changed"),
        (sum(bool(outcome.pending) for outcome in outcomes), "with something pending"),
    )
    said = [f"{number} {what}" for number, what in numbers if number]
    return f"Summary of {counted(len(outcomes), 'host')}: {', '.join(said) or 'nothing to do, nothing failed'}."


def render(outcomes: Sequence[Outcome], width: int, check: bool = False, reports: Sequence[str] = ()) -> List[Line]:
    """The lines of the summary. None but a path is wider than the terminal, unless that is narrower than 20 columns."""
    if not outcomes:
        return []
    width = max(width, NARROWEST)
    said = [
        (
            outcome.host,
            (", ".join(outcome.changed) or "nothing", ", ".join(outcome.pending) or "-", outcome.verdict or "-"),
            _kind(outcome),
        )
        for outcome in outcomes
    ]
    heads = ("HOST", "WOULD CHANGE" if check else "CHANGED", "PENDING", "VERDICT")
    rows = [((host, *row), kind) for host, row, kind in _together(said)]
    widths = _widths([heads] + [row for row, _kind_ in rows], width)
    lines = [Line(text) for text in wrapped(_sentence(outcomes, check), width)]
    lines += [Line("")] + [Line(text) for text in ruled(heads, widths)]
    lines += [Line(text, kind) for row, kind in rows for text in row_lines(row, widths)]
    failed = _failures(outcomes, width)
    if failed:
        lines += [Line(""), Line("FAILED"), *failed]
    # Never wrapped: a path is copied, or clicked on.
    lines += [Line("")] if reports else []
    return lines + [Line(f"Report: {path}") for path in reports]

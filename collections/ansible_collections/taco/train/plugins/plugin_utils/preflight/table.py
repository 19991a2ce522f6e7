# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show a verdict as a table of text. Values in, text out."""

import textwrap
from collections import Counter
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.text import GAP, counted, row_lines, ruled, some

WIDTH = 120
HEADINGS = ("HOST", "CHECK", "EXPECTED", "FOUND", "FIX")
# The parts of the width for what is expected, found and to be done.
SHARES = (3, 4, 4)
MOST_FOR_HOSTS = 26
EVERY_HOST = "all hosts"
# A fault that each host has in another way gets as many rows.
MOST_ROWS = 5
Row = Tuple[str, ...]


def _together(names: Sequence[str], every: int) -> str:
    return f"all {every} hosts" if len(names) == every > MOST_ROWS else some(names)


def _rows(verdict: Mapping[str, Any], status: str) -> List[Row]:
    """Return a row for each outcome of that status; hosts with the very same outcome share one, in the order of the checks."""
    faults: Dict[Row, Dict[Row, List[str]]] = {}
    for name, host in verdict["hosts"].items():
        for check in host["checks"]:
            if check["status"] == status:
                outcome = (check["id"], check["expected"], check["found"], check["fix"])
                faults.setdefault(outcome[:2], {}).setdefault(outcome, []).append(name)
    every = len(verdict["hosts"])
    rows = []
    for (identity, expected), outcomes in faults.items():
        names = [name for hosts in outcomes.values() for name in hosts]
        # Several outcomes on one host are several faults.
        most = MOST_ROWS if len(set(names)) == len(names) else len(outcomes)
        shown = list(outcomes.items())[:most]
        rows += [(_together(hosts, every),) + outcome for outcome, hosts in shown]
        rest = len(names) - sum(len(hosts) for _outcome, hosts in shown)
        if rest:
            rows.append((f"{counted(rest, 'more host')}", identity, expected, "the same with other values", "as above"))
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


def _all_checks(verdict: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    return [check for host in verdict["hosts"].values() for check in host["checks"]] + list(verdict["fleet"])


def _skipped(verdict: Mapping[str, Any]) -> List[str]:
    """Return how many checks were skipped, and for which failed checks they wait."""
    waiting = Counter(check["expected"] for check in _all_checks(verdict) if check["status"] == "skip")
    causes = [(identity, count) for identity, count in waiting.most_common() if identity]
    if not verdict["summary"]["skip"]:
        return []
    reasons = [f"{count} {'waits' if count == 1 else 'wait'} for {identity}" for identity, count in causes]
    if waiting[""]:
        reasons.append(f"{waiting['']} {'does' if waiting[''] == 1 else 'do'} not apply")
    text = f"{counted(verdict['summary']['skip'], 'check')} skipped: {', '.join(reasons)}."
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def table(verdict: Mapping[str, Any], path: Optional[str] = None) -> str:
    """Return all failures and warnings of all hosts as a table 120 columns wide, with its sums and the file of the verdict."""
    lines = [f"{summary(verdict)}; {counted(verdict['summary']['pass'], 'check')} passed.", *_skipped(verdict)]
    groups = [(title, _rows(verdict, status)) for title, status in (("FAILED", "fail"), ("WARNING", "warn"))]
    widths = _widths([row for _title, rows in groups for row in rows])
    for title, rows in groups:
        if rows:
            lines += ["", title] + ruled(HEADINGS, widths)
            for row in rows:
                lines += row_lines(row, widths)
    # Never wrapped: a path is copied.
    return "\n".join(lines + (["", f"All checks: {path}"] if path else []))


def summary(verdict: Mapping[str, Any]) -> str:
    """Return the numbers of failures and warnings."""
    sums = verdict["summary"]
    problems = f"{counted(sums['fail'], 'failure')} and {counted(sums['warn'], 'warning')}"
    return f"Preflight: {problems} on {counted(sums['hosts'], 'host')}"

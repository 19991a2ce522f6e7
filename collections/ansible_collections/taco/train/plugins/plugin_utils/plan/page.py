# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a fleet as one page that needs nothing beside it."""

from html import escape
from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import Entry
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import element, page, section, table
from ansible_collections.taco.train.plugins.plugin_utils.report.style import STYLE

COLOURS = """
.added { color: var(--good); } .removed { color: var(--bad); }
"""
HEAD = ("Change", "Hosts", "Reason", "Interrupts", "Known after apply")


def top(plan: Plan, entries: Sequence[Entry]) -> str:
    """The title, the number of changes and the forecast of reboots."""
    title = element("h1", f"Plan of {plan.of}")
    lead = element("p", wording.headline(plan, entries), "lead")
    return f"<header>{title}{lead}{''.join(element('p', line) for line in wording.reboot_lines(plan.reboots))}</header>"


def overview(entries: Sequence[Entry]) -> str:
    """A table with a row for each entry."""
    rows = [
        (
            f"{entry.change.role}: {entry.change.what}",
            wording.hosts_text(entry.hosts),
            entry.change.reason,
            ", ".join(entry.change.interrupts) or "nothing",
            "; ".join(f"{later.what}, because {later.reason}" for later in entry.change.later) or "nothing",
        )
        for entry in entries
    ]
    return section("Changes", table(HEAD, rows)) if rows else ""


def diff(entry: Entry) -> str:
    """The diff of an entry, added and removed lines in colour, and what differs only by host."""
    lines = [line for part in entry.change.parts for line in wording.diff_lines(part)]
    drawn = "\n".join(_line(line) for line in lines)
    own = "".join(element("li", line) for line in wording.own_lines(entry))
    title = f"{entry.change.role}: {entry.change.what}"
    return section(title, f"<pre>{drawn}</pre>" if drawn else "", f"<ul>{own}</ul>" if own else "")


def _line(line: str) -> str:
    css = {"+": "added", "-": "removed"}.get(line[:1])
    return element("span", line, css) if css else escape(line)


def hosts(entries: Sequence[Entry]) -> str:
    """All hosts of every entry."""
    rows = [(f"{entry.change.role}: {entry.change.what}", ", ".join(entry.hosts)) for entry in entries]
    return section("Hosts", table(("Change", "Hosts"), rows)) if rows else ""


def render(plan: Plan, entries: Sequence[Entry]) -> str:
    """The page."""
    footer = f"Created {plan.time} by taco.train {plan.collection}. Everything here is in plan.json beside this page."
    parts = [top(plan, entries), overview(entries), *map(diff, entries), hosts(entries), element("footer", footer)]
    return page(f"Plan of {plan.of}", parts, STYLE + COLOURS)

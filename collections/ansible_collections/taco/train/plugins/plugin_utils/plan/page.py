# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a fleet as a document."""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import Entry
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan
from ansible_collections.taco.train.plugins.plugin_utils.report.document import (
    Bullets,
    Code,
    Document,
    Section,
    Text,
    section,
    table,
)


def title(entry: Entry) -> str:
    return f"{entry.change.role}: {entry.change.reason}"


def overview(entry: Entry) -> dict[str, str]:
    """Return the row of an entry."""
    change = entry.change
    return {
        "Change": title(entry),
        "Hosts": wording.hosts_text(entry.hosts),
        "Interrupts": ", ".join(change.interrupts) or "nothing",
        "Known after apply": "; ".join(f"{one.what}, because {one.reason}" for one in change.later) or "nothing",
    }


def diff(entry: Entry) -> Section:
    """Return the diff of an entry, and what differs only by host."""
    lines = [line for part in entry.change.parts for line in wording.diff_lines(part)]
    return section(title(entry), Code("\n".join(lines), diff=True), Bullets(wording.own_lines(entry)))


def document(plan: Plan, entries: Sequence[Entry]) -> Document:
    """Return the document of a plan: its changes, the diff of each, all hosts of each."""
    hosts = ({"Change": title(entry), "Hosts": ", ".join(entry.hosts)} for entry in entries)
    return Document(
        f"Plan of {plan.of}, {plan.time}",
        [],
        [Text(wording.headline(plan, entries), "lead"), *map(Text, wording.reboot_lines(plan.reboots))],
        [section("Changes", table(map(overview, entries))), *map(diff, entries), section("Hosts", table(hosts))],
        f"Created {plan.time} by taco.train {plan.collection}. Everything here is in plan.json beside this page.",
    )

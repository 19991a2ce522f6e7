# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a fleet as a document."""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import Entry
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan
from ansible_collections.taco.train.plugins.plugin_utils.report.document import (
    Block,
    Bullets,
    Code,
    Document,
    Section,
    Text,
    tables,
)

HEAD = ("Change", "Hosts", "Interrupts", "Known after apply")


def title(entry: Entry) -> str:
    return f"{entry.change.role}: {entry.change.reason}"


def overview(entry: Entry) -> Sequence[str]:
    """Return the row of an entry."""
    change = entry.change
    later = "; ".join(f"{one.what}, because {one.reason}" for one in change.later)
    interrupts = ", ".join(change.interrupts)
    return title(entry), wording.hosts_text(entry.hosts), interrupts or "nothing", later or "nothing"


def diff(entry: Entry) -> Section:
    """Return the diff of an entry, and what differs only by host."""
    lines = [line for part in entry.change.parts for line in wording.diff_lines(part)]
    blocks: list[Block] = [Code("\n".join(lines), diff=True)] if lines else []
    own = wording.own_lines(entry)
    return Section(title(entry), [*blocks, *([Bullets(own)] if own else [])])


def document(plan: Plan, entries: Sequence[Entry]) -> Document:
    """Return the document of a plan: its changes, the diff of each, all hosts of each."""
    hosts = [(title(entry), ", ".join(entry.hosts)) for entry in entries]
    return Document(
        f"Plan of {plan.of}, {plan.time}",
        [],
        [Text(wording.headline(plan, entries), "lead"), *map(Text, wording.reboot_lines(plan.reboots))],
        [
            tables("Changes", (HEAD, [overview(entry) for entry in entries])),
            *map(diff, entries),
            tables("Hosts", (("Change", "Hosts"), hosts)),
        ],
        f"Created {plan.time} by taco.train {plan.collection}. Everything here is in plan.json beside this page.",
    )

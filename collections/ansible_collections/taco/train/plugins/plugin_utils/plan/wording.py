# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a fleet as text for a terminal, and the messages about a host that differs from it. Values in, values out.

The reasons come from the modules of the roles; that of a reboot is in reboot/planned_change.
"""

import difflib
import os
from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Change, Difference, Part, shown
from ansible_collections.taco.train.plugins.plugin_utils.plan.forecast import duration
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import Entry
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan, count
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, some

MOST_HOSTS = 8
MOST_VALUES = 6
MOST_LINES = 40
MOST_DIFFERENCES = 5
# Of a value in a message, and of those how many from before the first difference.
MOST_LETTERS = 120
EQUAL_LETTERS = 20
ALLOW = "Set reboot_allowed: true, or reboot_required_now: false to let the playbook go on without the reboot"
PARTIAL = "set plan_partial: true to apply it to the other hosts"


def headline(plan: Plan, entries: Sequence[Entry]) -> str:
    """The number of changes, of hosts that change and of all hosts."""
    number, hosts = count(plan), [host for host, changes in plan.hosts.items() if changes]
    if not number and plan.reboots["not_allowed"]:
        return f"No change on {counted(len(plan.hosts), 'host')}."
    if not number:
        return f"No change: {counted(len(plan.hosts), 'host')} as required."
    kinds = counted(len(entries), "entry", "entries")
    return f"{counted(number, 'change')} on {len(hosts)} of {counted(len(plan.hosts), 'host')}, in {kinds}."


def hosts_text(hosts: Sequence[str]) -> str:
    """The hosts of an entry, the first ones by name."""
    return f"{counted(len(hosts), 'host')}: {some(hosts, MOST_HOSTS)}"


def diff_lines(part: Part) -> list[str]:
    """The diff of one file or object."""
    before, after = part.before.splitlines(), part.after.splitlines()
    return list(difflib.unified_diff(before, after, part.name, part.name, lineterm="", n=1))


def _first(value: tuple[str, str]) -> tuple[bool, str]:
    """The name of the host before all others."""
    return value[0] != "host", value[0]


def own_lines(entry: Entry) -> list[str]:
    """What differs only by host, a line for each of the first hosts."""
    return [
        f"{host}: {', '.join(f'{name} {value}' for name, value in sorted(values.items(), key=_first)[:MOST_VALUES])}"
        for host, values in list(entry.own.items())[:MOST_HOSTS]
    ]


def entry_lines(entry: Entry) -> list[str]:
    """An entry as lines."""
    change = entry.change
    lines = [f"{change.role}: {change.reason}", f"  {hosts_text(entry.hosts)}"]
    lines += [f"  interrupts: {', '.join(change.interrupts)}"] if change.interrupts else []
    lines += [f"  known after apply: {later.what}, because {later.reason}" for later in change.later]
    lines += [f"  differs by host: {line}" for line in own_lines(entry)]
    found = [line for part in change.parts for line in diff_lines(part)]
    lines += [f"  | {line}" for line in found[:MOST_LINES]]
    lines += [f"  | {len(found) - MOST_LINES} more lines in plan.json"] if len(found) > MOST_LINES else []
    return lines


def reboot_lines(reboots: Mapping[str, Any]) -> list[str]:
    """The batches of the rolling reboot and its forecast, and the hosts whose reboot is required and not allowed."""
    batches, waiting = reboots["batches"], reboots["not_allowed"]
    lines = []
    if batches:
        total = sum(map(len, batches))
        head = f"reboots: {counted(total, 'host')} in {counted(len(batches), 'batch', 'batches')}, about {duration(reboots['seconds'])}"
        lines.append(f"{head} ({reboots['basis']})")
    for reason in dict.fromkeys(waiting.values()):
        hosts = [host for host, other in waiting.items() if other == reason]
        lines.append(f"reboot required and not allowed: {hosts_text(hosts)}. Reason: {reason}. {ALLOW}")
    return lines


def render(plan: Plan, entries: Sequence[Entry]) -> str:
    """The plan as text."""
    blocks = [[headline(plan, entries)], *(entry_lines(entry) for entry in entries), reboot_lines(plan.reboots)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _around_difference(then: str, now: str) -> list[str]:
    """Two values as a message shows them, long ones from their first difference on."""
    equal = len(os.path.commonprefix([then, now]))
    start = max(0, equal - EQUAL_LETTERS) if max(len(then), len(now)) > MOST_LETTERS else 0
    end = start + MOST_LETTERS
    return [("..." if start else "") + value[start:end] + ("..." if value[end:] else "") for value in (then, now)]


def _difference_lines(differences: Sequence[Difference], text: str) -> list[str]:
    """A line for each of the first differences, and how many more there are. text has the name and both values."""
    lines = [
        text.format(found.name, *_around_difference(shown(found.then), shown(found.now)))
        for found in differences[:MOST_DIFFERENCES]
    ]
    more = differences[MOST_DIFFERENCES:]
    return [*lines, f"and {len(more)} more, such as {more[0].name}"] if more else lines


def refusal(host: str, path: str, differences: Sequence[Difference]) -> str:
    """The message for a host that differs from the plan."""
    lines = [f"{host} differs from the plan {path}; nothing was changed on it."]
    lines += _difference_lines(differences, "{}: in the plan {}, now {}")
    lines.append(f"Create the plan again with the playbook taco.train.plan, or {PARTIAL}.")
    return "\n".join(lines)


def unplanned(host: str, path: str) -> str:
    """The message for a host of the play that the plan does not have."""
    return (
        f"{host} is not in the plan {path}: exclude it with --limit, {PARTIAL}, or create the plan again with the playbook "
        "taco.train.plan"
    )


def not_applied(path: str) -> str:
    """The message of a playbook that applies no plan."""
    return (
        f"taco_plan is {path}, and this playbook does not apply plans. No host was changed. Apply the plan with the playbook "
        "taco.train.site, or that of a rollback with taco.train.rollback, or do not set taco_plan"
    )


def replaced(path: str) -> str:
    """The message for the file of a plan that has another content than when the playbook locked the hosts."""
    return (
        f"{path} was replaced by another plan while this playbook applied it. While a plan is applied, save other plans with another "
        "plan_file. To see what is left, run the playbook taco.train.plan"
    )


def locked(host: str, owner: Mapping[str, Any], path: str) -> str:
    """The message for a host to which another playbook applies a plan. path is the file of the lock on the host."""
    process, user, controller, since = (owner.get(name) for name in ("pid", "user", "controller", "since"))
    return (
        f"{host}: the process {process} of the user {user} on {controller} applies a plan to this host since {since}; nothing was "
        "changed on it. Wait until it has ended. If it has ended and this message stays, remove its lock: "
        f"ansible {host} -i INVENTORY -b -m ansible.builtin.file -a 'path={path} state=absent'"
    )


def not_compared(path: str, lost: Sequence[str], outside: Sequence[str]) -> str:
    """The message for hosts that were not compared with the plan: lost ones of the play, and those that the play does not have."""
    texts = [f"Not compared with the plan {path}: {hosts_text(lost)}, failed or unreachable."] if lost else []
    texts += (
        [f"In the plan {path} and not in this play (taco_hosts, --limit): {hosts_text(outside)}."] if outside else []
    )
    return " ".join([*texts, f"Correct this and run the playbook again, or {PARTIAL}."])


def mismatch(host: str, path: str, differences: Sequence[Difference]) -> str:
    """The message for a host on which something else was applied than planned."""
    lines = [f"{host}: the applied changes differ from the plan {path}."]
    lines += _difference_lines(differences, "{}: planned {}; applied {}")
    lines.append("Run the playbook taco.train.plan to see what is left.")
    return "\n".join(lines)


def changes_text(changes: Sequence[Change]) -> str:
    """The changes of one host on a line."""
    return "; ".join(f"{change.role}: {change.reason}" for change in changes) or "no change"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The changes of a host, from the results of the roles' modules. Values in, values out.

The modules decide, in check mode for a plan and without it when the plan is applied. Nothing is decided here.
"""

import difflib
import json
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import (
    ABSENT,
    Change,
    Difference,
    Part,
    Values,
    changed_facts,
    content_checksum,
    file_facts,
    observed_facts,
    variable_facts,
)
from ansible_collections.taco.train.plugins.plugin_utils.plan.roles import ROLES

# The environment of a container may hold passwords.
SECRET = ("env", "expected_env")
CONTAINER = "container"
RUNNING = "running"
FILE = "file "
MOST_LINES = 3


def parts_of(diff: Any, role: str = "") -> tuple[Part, ...]:
    """The files and objects of a module's diff, in Ansible's form."""
    entries: Sequence[Any] = diff if isinstance(diff, list) else [diff] if diff else []
    return tuple(_part(entry, role) for entry in entries if isinstance(entry, Mapping) and not _is_equal(entry))


def _is_equal(entry: Mapping[str, Any]) -> bool:
    return "prepared" not in entry and entry.get("before") == entry.get("after")


def _part(entry: Mapping[str, Any], role: str) -> Part:
    if "prepared" in entry:
        return Part(str(entry.get("before_header") or role), "", str(entry["prepared"]))
    name = (
        entry.get("before_header") or entry.get("after_header") or (CONTAINER if role == "training_container" else role)
    )
    return Part(str(name).partition(" (")[0], *(_text(_without_start(entry.get(side))) for side in ("before", "after")))


def _without_start(value: Any) -> Any:
    """The state of a container without the start that belongs to its creation: docker_container predicts none."""
    if not isinstance(value, Mapping) or not set(value) - {RUNNING}:
        return value
    return {key: inner for key, inner in value.items() if key != RUNNING}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        kept = {key: "not shown" if key in SECRET else inner for key, inner in value.items()}
        return json.dumps(kept, indent=1, sort_keys=True, default=str) + "\n"
    return "" if value is None else str(value)


def facts_of(role: str, node: Values, variables: Values, parts: Sequence[Part] = ()) -> dict[str, Any]:
    """The facts that a change of a role rests on, with their values now."""
    rule = ROLES[role]
    return {
        **observed_facts(node, rule.facts),
        **variable_facts(variables, rule.variables),
        **file_facts(parts),
    }


def change_of(role: str, result: Values, node: Values, variables: Values) -> Change:
    """The change that a result with ``changed`` stands for."""
    rule, parts = ROLES[role], parts_of(result.get("diff"), role)
    return Change(
        role,
        rule.module,
        rule.what(result, node, variables),
        rule.reason(result, node, variables),
        parts,
        tuple(rule.interrupts(result, node, variables)),
        tuple(rule.later(result, node)),
        facts_of(role, node, variables, parts),
    )


def changes_of(results: Mapping[str, Any], node: Values, variables: Values) -> list[Change]:
    """The changes of a host in the order of the roles. results are {role: the result of its module}, empty where it did not run."""
    return [
        change_of(role, results[role], node, variables)
        for role in ROLES
        if isinstance(results.get(role), Mapping) and results[role].get("changed")
    ]


def needs_variables(results: Mapping[str, Any]) -> bool:
    """Whether results have a change, or a reboot that is not allowed. Without one, the variables of the roles decide nothing."""
    found = [result for result in results.values() if isinstance(result, Mapping)]
    return any(result.get("changed") or result.get("required") for result in found)


def reboot_not_allowed(results: Mapping[str, Any], node: Values, variables: Values) -> str:
    """The reason of a reboot that is required and not allowed, empty where there is none."""
    reboot = results.get("reboot") or {}
    waits = reboot.get("required") and not reboot.get("changed")
    return ROLES["reboot"].reason(reboot, node, variables) if waits else ""


def differences(
    planned: Iterable[Change], decided: Iterable[Change], node: Values, variables: Values
) -> list[Difference]:
    """What a planned host differs in from the plan: a fact that a planned change rests on, else the change itself."""
    before = {change.role: change for change in planned}
    now = {change.role: change for change in decided}
    facts = [
        difference for role, change in before.items() for difference in _changed(change, now.get(role), node, variables)
    ]
    if facts:
        return _unique(facts)
    return [found for role in ROLES for found in _changes_differ(role, before.get(role), now.get(role))]


def _changed(then: Change, now: "Change | None", node: Values, variables: Values) -> list[Difference]:
    """The facts of one change that differ. Without a change now, nothing is known of the files."""
    current = facts_of(then.role, node, variables, now.parts if now else ())
    known = {name: value for name, value in then.facts.items() if now or not name.startswith(FILE)}
    return changed_facts(known, current)


def _unique(facts: Iterable[Difference]) -> list[Difference]:
    return list({fact.name: fact for fact in facts}.values())


def _changes_differ(role: str, then: "Change | None", now: "Change | None") -> list[Difference]:
    """How two changes of a role differ: in their kind, or in the content of a file or an object."""
    if then is None or now is None:
        return [] if then is now else [Difference(f"change of the role {role}", _what(then), _what(now))]
    before, after = map(_contents, (then, now))
    found = [
        Difference(f"new content of {name}", *_lines(before.get(name, ABSENT), after.get(name, ABSENT)))
        for name in sorted({**before, **after})
        if before.get(name) != after.get(name)
    ]
    if not found and then.what != now.what:
        return [Difference(f"change of the role {role}", then.what, now.what)]
    return found


def _contents(change: Change) -> dict[str, str]:
    """The new content by the name of the file or object. An object can have several parts."""
    names = dict.fromkeys(part.name for part in change.parts)
    return {name: "".join(part.after for part in change.parts if part.name == name) for name in names}


def _what(change: "Change | None") -> str:
    return change.what if change else "none"


def _lines(then: str, now: str) -> tuple[str, str]:
    """The first lines in which two texts differ, their checksums where the texts differ in the ends of lines only."""
    if then.splitlines() == now.splitlines():
        return content_checksum(then), content_checksum(now)
    lines = list(difflib.unified_diff(then.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
    sides = ([line[1:].strip() for line in lines if line.startswith(sign)] for sign in "-+")
    old, new = ("; ".join(side[:MOST_LINES]) or "no such line" for side in sides)
    return old, new


def applied_differences(planned: Iterable[Change], applied: Iterable[Change]) -> list[Difference]:
    """What was applied and not planned, planned and not applied, or applied in another way."""
    before = {change.role: change for change in planned}
    now = {change.role: change for change in applied}
    return [
        found
        for role in ROLES
        if not (role in before and role in now and before[role].later)
        for found in _changes_differ(role, before.get(role), now.get(role))
    ]

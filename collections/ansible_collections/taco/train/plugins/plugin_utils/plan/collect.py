# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The changes of a host, from the results of the roles' modules, and how they differ from a plan. Values in, values out.

The modules decide, in check mode for a plan and without it when the plan is applied. Nothing is decided here.
"""

import difflib
import json
import re
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import (
    Change,
    Difference,
    Later,
    Part,
    Values,
    canonical,
    short_checksum,
)

KNOWN_AFTER_APPLY = {
    "harp": Later("the configuration files of HARP", "HARP's setup script writes them when it runs"),
    "container_engine": Later("the versions of the packages", "the package repository is read when they are installed"),
    "training_container": Later("the options of the container that differ", "no Docker Engine runs yet"),
    "ssh_trust": Later(
        "the public keys, and the files with the keys of all hosts", "keys are created when the plan is applied"
    ),
}
"""What check mode can't know, by role: where a module predicts a change and no content, or describes an action."""
FOLLOWS = {"ssh_trust": "training_container"}
"""Roles whose change is not known while another one is to be applied: the SSH server runs in the container."""
ABSENT = "absent"
SECRET = ("env", "expected_env")
# A password can have an @.
CREDENTIALS = re.compile(r"://([^/\s]+)@")
RUNNING = "running"
MOST_LINES = 3


def parts_of(result: Values, role: str) -> tuple[Part, ...]:
    """The files and objects of a module's result: of its diff in Ansible's form, or of what it removes."""
    diff = result.get("diff")
    entries: Sequence[Any] = diff if isinstance(diff, list) else [diff] if diff else []
    parts = [_part(entry, role) for entry in entries if isinstance(entry, Mapping) and not _is_equal(entry)]
    removed = [] if parts else result.get("removed") or []
    return (*parts, *(Part(str(path), "present\n", "") for path in removed))


def _is_equal(entry: Mapping[str, Any]) -> bool:
    return "prepared" not in entry and entry.get("before") == entry.get("after")


def _part(entry: Mapping[str, Any], role: str) -> Part:
    before = entry.get("before")
    path = before.get("path") if isinstance(before, Mapping) else None
    name = str(entry.get("before_header") or entry.get("after_header") or path or role).partition(" (")[0]
    if "prepared" in entry:
        return Part(name, "", _text(entry["prepared"]))
    return Part(name, *(_text(_without_start(entry.get(side))) for side in ("before", "after")))


def _without_start(value: Any) -> Any:
    """The state of a container without the start that belongs to its creation: docker_container predicts none."""
    if not isinstance(value, Mapping) or not set(value) - {RUNNING}:
        return value
    return {key: inner for key, inner in value.items() if key != RUNNING}


def _text(value: Any) -> str:
    """A side of a diff as text. What can be a password is its checksum."""
    if isinstance(value, Mapping):
        kept = {key: short_checksum(canonical(inner)) if key in SECRET else inner for key, inner in value.items()}
        value = json.dumps(kept, indent=1, sort_keys=True, default=str) + "\n"
    text = "" if value is None else str(value)
    return CREDENTIALS.sub(lambda match: f"://{short_checksum(match.group(1))}@", text)


def results_of(found: Any) -> list[Values]:
    """The results of a role's modules with a change, those of a loop one by one."""
    results = found if isinstance(found, list) else [found]
    each = [item for result in results if isinstance(result, Mapping) for item in result.get("results") or [result]]
    return [_described(result) for result in each if isinstance(result, Mapping) and result.get("changed")]


def _described(result: Values) -> Values:
    """A result with the change that a task describes by its message."""
    message = result.get("msg")
    if isinstance(message, Mapping):
        return {**result, **message}
    return {"reason": message, **result} if isinstance(message, str) else result


def change_of(role: str, results: Sequence[Values]) -> Change:
    """The change that the results with ``changed`` of a role stand for."""
    parts = tuple(part for result in results for part in parts_of(result, role))
    reasons = dict.fromkeys(str(result["reason"]) for result in results if result.get("reason"))
    interrupts = dict.fromkeys(text for result in results for text in result.get("interrupts") or [])
    known = all(parts_of(result, role) and not _has_prepared(result) for result in results)
    later = () if known or role not in KNOWN_AFTER_APPLY else (KNOWN_AFTER_APPLY[role],)
    reason = _text("; ".join(reasons)) or "found: " + (", ".join(part.name for part in parts) or role)
    return Change(role, reason, parts, tuple(interrupts), later)


def _has_prepared(result: Values) -> bool:
    diff = result.get("diff")
    return any("prepared" in entry for entry in (diff if isinstance(diff, list) else [diff or {}]))


def changes_of(results: Mapping[str, Any]) -> tuple[Change, ...]:
    """The changes of a host in the order of the roles. results are {role: the results of its modules}, empty where none ran."""
    changed = {role: results_of(found) for role, found in results.items()}
    return tuple(change_of(role, found) for role, found in changed.items() if found)


def reboot_not_allowed(results: Mapping[str, Any]) -> str:
    """The reason of a reboot that is required and not allowed, empty where there is none."""
    reboot = results.get("reboot") or {}
    return str(reboot.get("reason")) if reboot.get("required") and not reboot.get("changed") else ""


def identity_differences(then: Values, now: Values) -> list[Difference]:
    """How the identity of a host differs from the plan, as after another machine took its address."""
    return [
        Difference(name, value, now.get(name))
        for name, value in then.items()
        if canonical(value) != canonical(now.get(name))
    ]


def differences(planned: Iterable[Change], decided: Iterable[Change]) -> list[Difference]:
    """How the changes that a host requires now differ from the planned ones."""
    found: list[Difference] = []
    for role, then, now in _pairs(planned, decided):
        if then and now:
            found += [*_found_differ(then, now), *_contents_differ(then, now)] or _reports_differ(role, then, now)
        else:
            found.append(_only_one(role, then, now))
    return found


def applied_differences(planned: Iterable[Change], applied: Iterable[Change]) -> list[Difference]:
    """What was applied and not planned, planned and not applied, or applied in another way."""
    found: list[Difference] = []
    planned = tuple(planned)
    changing = {change.role for change in planned}
    for role, then, now in _pairs(planned, applied):
        if now and FOLLOWS.get(role) in changing:
            continue
        if not (then and now):
            found.append(_only_one(role, then, now))
        elif not then.later:
            found += _contents_differ(then, now)
    return found


def _pairs(
    planned: Iterable[Change], now: Iterable[Change]
) -> Iterator[tuple[str, Optional[Change], Optional[Change]]]:
    """The two changes of each role, None where there is none."""
    before, after = ({change.role: change for change in changes} for changes in (planned, now))
    return ((role, before.get(role), after.get(role)) for role in {**before, **after})


def _only_one(role: str, then: Optional[Change], now: Optional[Change]) -> Difference:
    """The difference of a change that only one side has."""
    return Difference(f"change of the role {role}", *(change.reason if change else "none" for change in (then, now)))


def _found_differ(then: Change, now: Change) -> list[Difference]:
    """The files and objects that have another content now than the planned change begins from."""
    before, after = _contents(then, "before"), _contents(now, "before")
    return [
        Difference(f"file {name}" if name.startswith("/") else name, _checksum(before[name]), _checksum(after[name]))
        for name in sorted({*before} & {*after})
        if before[name] != after[name]
    ]


def _checksum(text: str) -> str:
    return short_checksum(text) if text else ABSENT


def _contents_differ(then: Change, now: Change) -> list[Difference]:
    """The files and objects that get another content than planned."""
    before, after = _contents(then, "after"), _contents(now, "after")
    return [
        Difference(f"new content of {name}", *_lines(before.get(name, ABSENT), after.get(name, ABSENT)))
        for name in sorted({**before, **after})
        if before.get(name) != after.get(name)
    ]


def _reports_differ(role: str, then: Change, now: Change) -> list[Difference]:
    """How the reports of two changes with the same content differ."""
    titles = {"reason": "reason", "interrupts": "interruptions", "later": "unknown values"}
    return [
        Difference(f"{title} of the role {role}", getattr(then, name), getattr(now, name))
        for name, title in titles.items()
        if getattr(then, name) != getattr(now, name)
    ]


def _contents(change: Change, side: str) -> dict[str, str]:
    """The content by the name of the file or object, before or after the change. An object can have several parts."""
    names = dict.fromkeys(part.name for part in change.parts)
    return {name: "".join(getattr(part, side) for part in change.parts if part.name == name) for name in names}


def _lines(then: str, now: str) -> tuple[str, str]:
    """The first lines in which two texts differ, their checksums where the texts differ in the ends of lines only."""
    if then.splitlines() == now.splitlines():
        return short_checksum(then), short_checksum(now)
    lines = list(difflib.unified_diff(then.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
    sides = ([line[1:].strip() for line in lines if line.startswith(sign)] for sign in "-+")
    old, new = ("; ".join(side[:MOST_LINES]) or "no such line" for side in sides)
    return old, new

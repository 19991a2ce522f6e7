# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A planned change of a host, and the facts and variables that it rests on. Values in, values out."""

import hashlib
import json
from typing import Any, Mapping, NamedTuple, Optional, Sequence

Values = Mapping[str, Any]
ABSENT = "absent"
SHORT = 16
# Values that may hold passwords are compared by their checksum.
HIDDEN = ("harp_environment", "training_container_environment")


class Part(NamedTuple):
    """One file or object in the diff of a change."""

    name: str
    before: str
    after: str


class Later(NamedTuple):
    """A value that is known after another change is applied."""

    what: str
    reason: str


class Change(NamedTuple):
    """A change that a role would make on one host."""

    role: str
    module: str
    what: str
    reason: str
    parts: tuple[Part, ...]
    interrupts: tuple[str, ...]
    later: tuple[Later, ...]
    facts: dict[str, Any]
    """The observed facts, variables and files that the decision rests on, by name."""


class Difference(NamedTuple):
    """A fact, a variable, a file or a change that differs from the plan."""

    name: str
    then: Any
    now: Any


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def checksum(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shown(value: Any) -> str:
    """A value as a message shows it."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def lookup(node: Values, path: str) -> Any:
    """The value at a dotted path, None where a part of the path is missing. ``*`` in a path stands for each item of a list."""
    value: Any = node
    names = path.split(".")
    for index, name in enumerate(names):
        if name == "*":
            rest = ".".join(names[index + 1 :])
            return [lookup(item, rest) for item in value] if isinstance(value, list) else None
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def observed_facts(node: Values, paths: Sequence[str]) -> dict[str, Any]:
    """{name: value} of facts of the observation."""
    return {f"taco_node.{path}": lookup(node, path) for path in paths}


def variable_facts(variables: Values, names: Sequence[str]) -> dict[str, Any]:
    """{name: value} of variables. A value that may hold a password is its checksum."""
    return {name: _hidden(variables.get(name)) if name in HIDDEN else variables.get(name) for name in names}


def _hidden(value: Any) -> Optional[str]:
    return f"sha256 {checksum(canonical(value))[:SHORT]}" if value else None


def file_facts(parts: Sequence[Part]) -> dict[str, str]:
    """{name: checksum} of the files that a diff begins from."""
    return {f"file {part.name}": _content(part.before) for part in parts if part.name.startswith("/")}


def _content(text: str) -> str:
    return f"sha256 {checksum(text)[:SHORT]}" if text else ABSENT


def changed_facts(then: Values, now: Values) -> list[Difference]:
    """The facts of a planned change that have another value now, or none."""
    return [
        Difference(name, value, now.get(name, ABSENT))
        for name, value in sorted(then.items())
        if canonical(value) != canonical(now.get(name, ABSENT))
    ]

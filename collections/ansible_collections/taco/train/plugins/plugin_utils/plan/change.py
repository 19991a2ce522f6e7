# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A planned change of a host, and the facts and variables that it rests on. Values in, values out."""

import hashlib
import json
import re
from typing import Any, Mapping, NamedTuple, Sequence

Values = Mapping[str, Any]
ABSENT = "absent"
SHORT = 16
# Values that may hold passwords are compared by their checksum.
HIDDEN = ("harp_environment", "reboot_commands_after", "reboot_commands_before", "training_container_environment")
CREDENTIALS = re.compile(r"://[^/@\s]+@")


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
    """The one JSON text of a value, the same before the value is written to a file and after it is read."""
    # Without ASCII, two halves of a surrogate pair would differ from the character that is read.
    return json.dumps(as_read(value), sort_keys=True, separators=(",", ":"))


def as_read(value: Any) -> Any:
    """A value as it is read from a JSON file: keys are texts, dates too."""
    return json.loads(json.dumps(value, default=str))


def checksum(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_checksum(content: bytes | str) -> str:
    """The checksum of a file's content, as a message shows it."""
    content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return f"sha256 {hashlib.sha256(content).hexdigest()[:SHORT]}"


def shown(value: Any) -> str:
    """A value as a message shows it."""
    return value if isinstance(value, str) else json.dumps(as_read(value), sort_keys=True, ensure_ascii=False)


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
    return {name: _without_passwords(name, variables.get(name)) for name in names}


def _without_passwords(name: str, value: Any) -> Any:
    if not value or not (name in HIDDEN or CREDENTIALS.search(canonical(value))):
        return value
    return content_checksum(canonical(value))


def file_facts(parts: Sequence[Part]) -> dict[str, str]:
    """{name: checksum} of the files that a diff begins from."""
    return {f"file {part.name}": _content(part.before) for part in parts if part.name.startswith("/")}


def _content(text: str) -> str:
    return content_checksum(text) if text else ABSENT


def changed_facts(then: Values, now: Values) -> list[Difference]:
    """The facts of a planned change that have another value now, or none."""
    return [
        Difference(name, value, now.get(name, ABSENT))
        for name, value in sorted(then.items())
        if canonical(value) != canonical(now.get(name, ABSENT))
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of a host as a role's modules report it, and the identity of the host. Values in, values out."""

import hashlib
import json
from typing import Any, Mapping, NamedTuple

Values = Mapping[str, Any]
SHORT = 16


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
    reason: str
    """What was found on the host, and what is required."""
    parts: tuple[Part, ...]
    interrupts: tuple[str, ...]
    later: tuple[Later, ...]


class Difference(NamedTuple):
    """What differs from the plan."""

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


def short_checksum(text: str) -> str:
    """The checksum of a text, as a message shows it."""
    return f"sha256 {checksum(text)[:SHORT]}"


def shown(value: Any) -> str:
    """A value as a message shows it."""
    return value if isinstance(value, str) else json.dumps(as_read(value), sort_keys=True, ensure_ascii=False)


def identity_of(node: Values) -> dict[str, Any]:
    """The identity of a host, from its observation. Only ports of the machine count: a container engine adds interfaces of its own."""
    known = node.get("identity") or {}
    macs = [nic["mac"] for nic in node.get("nics") or [] if nic.get("kind") == "physical" and nic.get("mac")]
    return {
        "machine_id": known.get("machine_id"),
        "board_serial": known.get("board_serial"),
        "mac_addresses": sorted(macs),
    }

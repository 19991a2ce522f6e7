# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file of a plan: refused when it is edited, truncated or of another fleet. Its schema is docs/schemas/plan-2.json."""

import json
from typing import Any, Iterable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import (
    Change,
    Later,
    Part,
    as_read,
    canonical,
    checksum,
)
from ansible_collections.taco.train.plugins.plugin_utils.run import json_schema
from ansible_collections.taco.train.plugins.plugin_utils.text import some

SCHEMA = 2
SCHEMA_NAME = "plan-2"
MOST_NAMES = 5
AGAIN = "create the plan again with the playbook taco.train.plan"
SET_FILE = "Set taco_plan to the plan.json that the playbook taco.train.plan wrote"


class PlanError(Exception):
    """The plan can't be used; the message says why and what to do."""


class Plan(NamedTuple):
    """A plan of a fleet."""

    of: str
    """site or rollback."""
    collection: str
    """Version of the collection."""
    time: str
    hosts: Mapping[str, tuple[Change, ...]]
    """The changes of every host, in the order in which they are applied; none for a host that is as it should be."""
    addresses: Mapping[str, str]
    """Where the inventory reaches each host."""
    identities: Mapping[str, Mapping[str, Any]]
    """What tells each host from all others: machine ID, serial number of the board, MAC addresses."""
    reboots: Mapping[str, Any]
    """The batches of the rolling reboot, their duration in seconds, the source of that number, and the reboots that are not allowed."""


def count(plan: Plan) -> int:
    """The number of changes on all hosts."""
    return sum(len(changes) for changes in plan.hosts.values())


def document(plan: Plan) -> dict[str, Any]:
    """The JSON document of a plan. Each text of a diff is in it once, however many hosts have it."""
    texts: dict[str, str] = {}
    hosts = {
        host: {
            "address": plan.addresses[host],
            "identity": dict(plan.identities[host]),
            "changes": [_stored(change, texts) for change in changes],
        }
        for host, changes in plan.hosts.items()
    }
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "of": plan.of,
        "collection": plan.collection,
        "time": plan.time,
        "changes": count(plan),
        "reboots": dict(plan.reboots),
        "texts": texts,
        "hosts": hosts,
    }
    return {**as_read(body), "digest": checksum(canonical(body))}


def whole_change(change: Change) -> dict[str, Any]:
    """A change as a document of its own, with its texts."""
    parts, later = ([entry._asdict() for entry in entries] for entries in (change.parts, change.later))
    return {**change._asdict(), "parts": parts, "interrupts": list(change.interrupts), "later": later}


def change_of_document(found: Mapping[str, Any]) -> Change:
    """The change of a document that whole_change made."""
    parts, later = (tuple(Part(**part) for part in found["parts"]), tuple(Later(**entry) for entry in found["later"]))
    return Change(**{**found, "parts": parts, "interrupts": tuple(found["interrupts"]), "later": later})


def _stored(change: Change, texts: dict[str, str]) -> dict[str, Any]:
    def text_id(text: str) -> str:
        key = checksum(text)
        texts[key] = text
        return key

    return {
        **change._asdict(),
        "parts": [
            {"name": part.name, "before": text_id(part.before), "after": text_id(part.after)} for part in change.parts
        ],
        "interrupts": list(change.interrupts),
        "later": [later._asdict() for later in change.later],
    }


def render(plan: Plan) -> str:
    """The text of the file."""
    return json.dumps(document(plan), indent=1, sort_keys=True) + "\n"


def read(text: str, path: str) -> Plan:
    """The plan in a file's text. Raises PlanError for an empty, truncated or edited file and for another schema."""
    try:
        return _read(text, path)
    except RecursionError as error:
        raise PlanError(f"{path} is not a plan of taco.train: its JSON is nested too deeply. {SET_FILE}") from error


def _read(text: str, path: str) -> Plan:
    if not text.strip():
        raise PlanError(f"{path} is empty, expected a plan: {AGAIN}")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise PlanError(f"{path} is truncated or is no JSON ({error}): {AGAIN}") from error
    if not isinstance(found, dict) or "schema" not in found or "digest" not in found:
        raise PlanError(f"{path} is not a plan of taco.train. {SET_FILE}")
    if found["schema"] != SCHEMA:
        raise PlanError(f"{path} has schema {found['schema']!r}, expected {SCHEMA}: {AGAIN}")
    body = {name: value for name, value in found.items() if name != "digest"}
    digest = checksum(canonical(body))
    if digest != found["digest"]:
        raise PlanError(
            f"{path} was edited after it was written: its digest is {str(found['digest'])[:16]}, expected {digest[:16]} for this "
            f"content. Restore the file, or {AGAIN}"
        )
    problems = json_schema.problems(found, json_schema.load(SCHEMA_NAME))
    problems += _unknown_texts(body) if not problems else []
    if problems:
        raise PlanError(f"{path} is not a valid plan: {problems[0]}; {AGAIN}")
    return _plan(body)


def _unknown_texts(body: Mapping[str, Any]) -> list[str]:
    used = {
        part[side]
        for host in body["hosts"].values()
        for change in host["changes"]
        for part in change["parts"]
        for side in ("before", "after")
    }
    return [f"the text {key} is missing" for key in sorted(used - set(body["texts"]))]


def _plan(body: Mapping[str, Any]) -> Plan:
    texts = body["texts"]
    return Plan(
        body["of"],
        body["collection"],
        body["time"],
        {host: tuple(_change(change, texts) for change in found["changes"]) for host, found in body["hosts"].items()},
        {host: found["address"] for host, found in body["hosts"].items()},
        {host: found["identity"] for host, found in body["hosts"].items()},
        body["reboots"],
    )


def _change(stored: Mapping[str, Any], texts: Mapping[str, str]) -> Change:
    parts = tuple(Part(part["name"], texts[part["before"]], texts[part["after"]]) for part in stored["parts"])
    later = tuple(Later(entry["what"], entry["reason"]) for entry in stored["later"])
    return Change(**{**stored, "parts": parts, "interrupts": tuple(stored["interrupts"]), "later": later})


def require_same_fleet(
    plan: Plan, path: str, of: str, collection: str, inventory: Iterable[str], addresses: Mapping[str, str]
) -> None:
    """Raise PlanError where a plan is of another playbook, collection or inventory.

    inventory are all hosts of the inventory, addresses those of the hosts of the play.
    """
    if plan.of != of:
        raise PlanError(f"{path} is a plan of the playbook {plan.of}, expected {of}: run {plan.of} with it, or {AGAIN}")
    if plan.collection != collection:
        raise PlanError(f"{path} was created by taco.train {plan.collection}, this is taco.train {collection}: {AGAIN}")
    gone = sorted(set(plan.hosts) - set(inventory))
    if gone:
        raise PlanError(
            f"{path} is of another inventory, which has {some(gone, MOST_NAMES)}: use the inventory of the plan (-i), or {AGAIN}"
        )
    for host in sorted(set(plan.hosts) & set(addresses)):
        if plan.addresses[host] != addresses[host]:
            raise PlanError(
                f"{path} is of another inventory: {host} has the address {addresses[host]}, in the plan "
                f"{plan.addresses[host]}: use the inventory of the plan (-i), or {AGAIN}"
            )

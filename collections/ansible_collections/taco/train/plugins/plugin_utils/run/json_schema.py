# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validate a document with one of the collection's JSON schemas, without a library on the controller.

It knows the keywords that docs/schemas use and refuses a schema with any other, so that no keyword is ignored silently. It is
stricter than the standard in one point: a number must be finite, because JSON has no other.
"""

import json
import math
import os
import re
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

SCHEMAS = str(Path(__file__).resolve().parents[3] / "docs/schemas")
WORDS = frozenset({"$schema", "$comment", "$defs", "title", "description"})
MOST_SHOWN = 60

Schema = Mapping[str, Any]
Problems = Iterator[str]


@lru_cache(maxsize=None)
def load(name: str) -> Schema:
    """Return one of the collection's schemas, such as record-1."""
    with open(os.path.join(SCHEMAS, f"{name}.json"), encoding="utf-8") as stream:
        schema: Schema = json.load(stream)
    return schema


def problems(document: Any, schema: Schema) -> list[str]:
    """Return a sentence for each part of the document that the schema refuses."""
    return list(_check(document, schema, schema, ""))


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
}


def is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(re.sub(r"Z$", "+00:00", value)).tzinfo is not None
    except ValueError:
        return False


def _check(value: Any, schema: Schema, root: Schema, path: str) -> Problems:
    if "$ref" in schema:
        yield from _check(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, path)
    types = schema.get("type")
    if types is not None:
        names = [types] if isinstance(types, str) else types
        if not any(TYPES[name](value) for name in names):
            yield f"{path or 'the document'} is {shown(value)}, expected {' or '.join(names)}"
            return
    for keyword, wanted in schema.items():
        if keyword in ("type", "$ref", "then", "else") or keyword in WORDS:
            continue
        if keyword in SIMPLE:
            applies, good, words = SIMPLE[keyword]
            if applies(value) and not good(value, wanted):
                yield f"{path or 'the document'} is {shown(value)}, expected {words.format(wanted)}"
        else:
            yield from PARTS[keyword](value, wanted, schema, root, path)


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def _always(_value: Any) -> bool:
    return True


_number, _text, _list, _object = TYPES["number"], TYPES["string"], TYPES["array"], TYPES["object"]
# Keyword -> (what it applies to, whether a value is good, the words for what is expected).
SIMPLE: Mapping[str, tuple[Callable[[Any], bool], Callable[[Any, Any], bool], str]] = {
    "const": (
        _always,
        lambda value, wanted: value == wanted and isinstance(value, bool) == isinstance(wanted, bool),
        "{!r}",
    ),
    "enum": (_always, lambda value, wanted: value in wanted, "one of {}"),
    "minimum": (_number, lambda value, wanted: value >= wanted, "{} or more"),
    "maximum": (_number, lambda value, wanted: value <= wanted, "{} or less"),
    "exclusiveMinimum": (_number, lambda value, wanted: value > wanted, "more than {}"),
    "exclusiveMaximum": (_number, lambda value, wanted: value < wanted, "less than {}"),
    "minLength": (_text, lambda value, wanted: len(value) >= wanted, "{} characters or more"),
    "pattern": (_text, lambda value, wanted: re.search(wanted, value) is not None, "a text like {}"),
    "format": (_text, lambda value, wanted: wanted == "date-time" and is_time(value), "a {}"),
    "minItems": (_list, lambda value, wanted: len(value) >= wanted, "{} items or more"),
    "maxItems": (_list, lambda value, wanted: len(value) <= wanted, "{} items or fewer"),
    "minProperties": (_object, lambda value, wanted: len(value) >= wanted, "{} keys or more"),
}


def _required(value: Any, names: Any, _schema: Schema, _root: Schema, path: str) -> Problems:
    if isinstance(value, dict):
        yield from (f"{path or 'the document'} has no {name}" for name in names if name not in value)


def _properties(value: Any, parts: Any, _schema: Schema, root: Schema, path: str) -> Problems:
    if isinstance(value, dict):
        for name, part in parts.items():
            if name in value:
                yield from _check(value[name], part, root, f"{path}.{name}".lstrip("."))


def _additional(value: Any, part: Any, schema: Schema, root: Schema, path: str) -> Problems:
    for name in [name for name in value if name not in schema.get("properties", {})] if isinstance(value, dict) else []:
        if part is False:
            yield f"{path or 'the document'} has the unknown key {name}"
        elif part is not True:
            yield from _check(value[name], part, root, f"{path}.{name}".lstrip("."))


def _items(value: Any, part: Any, _schema: Schema, root: Schema, path: str) -> Problems:
    for place, one in enumerate(value if isinstance(value, list) else []):
        yield from _check(one, part, root, f"{path}[{place}]")


def _one_of(value: Any, parts: Any, _schema: Schema, root: Schema, path: str) -> Problems:
    tried = [list(_check(value, part, root, path)) for part in parts]
    fitting = sum(not found for found in tried)
    if not fitting:
        # The one that is least wrong is the one that was meant: of "null or an object" an object is never meant to be null.
        yield from next((found for part, found in zip(parts, tried) if part.get("type") != "null"), tried[0])
    elif fitting > 1:
        yield f"{path or 'the document'} is {shown(value)}, which fits {fitting} descriptions where one is expected"


def _not(value: Any, part: Any, _schema: Schema, root: Schema, path: str) -> Problems:
    if not list(_check(value, part, root, path)):
        yield f"{path or 'the document'} is {shown(value)}, which is not allowed"


def _if(value: Any, part: Any, schema: Schema, root: Schema, path: str) -> Problems:
    branch = "else" if list(_check(value, part, root, path)) else "then"
    yield from _check(value, schema.get(branch, {}), root, path)


PARTS: Mapping[str, Callable[[Any, Any, Schema, Schema, str], Problems]] = {
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}

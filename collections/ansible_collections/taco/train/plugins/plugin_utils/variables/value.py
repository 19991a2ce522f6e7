# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One value of a variable: does it have the type that the role's argument_specs give it, and how is it shown."""

from typing import Any, Mapping, Optional

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "path": "a path",
    "list": "a list",
    "dict": "a mapping",
}
MOST_LETTERS = 120
# Of a number; also infinity is more, and what is no number is not less.
LARGEST = 2**63
# What these hold can be a secret: it is never shown.
HIDDEN = ("_access", "_env", "_environment")


def plain(value: Any) -> Any:
    """A value without what Ansible adds to it, as JSON and JMESPath know it."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


class Typed:
    """A value as the role gets it, or the expectation that it doesn't meet."""

    def __init__(self, value: Any = None, expected: Optional[str] = None, fix: Optional[str] = None):
        self.value = value
        self.expected = expected
        self.fix = fix
        """How to correct the value, where the rule says more than that it is wrong."""


def described(spec: Mapping[str, Any]) -> str:
    """The type of a variable in words."""
    if spec.get("choices"):
        return "one of " + ", ".join(map(str, spec["choices"]))
    elements = spec.get("elements")
    words = {"str": "texts", "int": "whole numbers", "dict": "mappings", "list": "lists"}
    return KINDS.get(spec["type"], "a value") + (f" of {words[elements]}" if elements in words else "")


def _is_text(value: Any) -> bool:
    return not isinstance(value, (Mapping, list, tuple))


def typed(spec: Mapping[str, Any], value: Any) -> Typed:
    """Convert a value as Ansible does where a role begins.

    Ansible takes the text of a mapping or of a list for a text; that is an error here.
    """
    kind, elements = spec["type"], spec.get("elements", "raw")
    expected = described(spec)
    if value is None:
        # Where the default is null, null means that the variable is not set.
        return Typed(None, None if spec.get("default") is None and not spec.get("required") else expected)
    if kind in ("str", "path") and not _is_text(value):
        return Typed(expected=expected)
    items = value if isinstance(value, (list, tuple)) else []
    if kind == "list" and elements == "str" and not all(_is_text(item) and item is not None for item in items):
        return Typed(expected=expected)
    if kind == "list" and elements == "list" and not all(isinstance(item, (list, tuple)) for item in items):
        return Typed(expected=expected)
    if kind in ("int", "float") and isinstance(value, bool):
        return Typed(expected=expected)
    rules = {key: spec[key] for key in ("type", "elements", "choices", "options") if key in spec}
    try:
        found = ArgumentSpecValidator({"value": rules}).validate({"value": value})
    except (ArithmeticError, ValueError):
        # It fails at infinity where a whole number is expected, and at a number that is too large for a float.
        return Typed(expected=expected)
    converted = found.validated_parameters["value"]
    numbers = converted if isinstance(converted, list) else [converted]
    if found.error_messages or any(
        isinstance(number, (int, float)) and not abs(number) < LARGEST for number in numbers
    ):
        return Typed(expected=expected)
    return Typed(converted)


def as_declared(spec: Mapping[str, Any], value: Any) -> Any:
    """A value in the type that a role gets, such as a boolean from the text of an extra variable. One of no such type stays as it is.

    So does a path, as the home folder of whoever runs the playbook is part of none.
    """
    if value is None or spec.get("type", "path") == "path":
        return value
    found = typed(spec, value)
    return value if found.expected else found.value


def shown(name: str, spec: Mapping[str, Any], value: Any) -> str:
    """A value for people to read; of one that can be secret only its type."""
    if spec.get("no_log") or name.endswith(HIDDEN):
        kind = next((kind for kind in (bool, int, float, list, dict) if isinstance(value, kind)), str)
        return KINDS[kind.__name__] + ", not shown"
    text = (
        "null"
        if value is None
        else repr(value)
        if isinstance(value, str) and value.strip() != value or value == ""
        else str(value)
    )
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 3] + "..."

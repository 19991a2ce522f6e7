# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label and field selectors, as list requests give them."""

import re

from kubelab import status

_PART = re.compile(
    r"\s*(?:(?P<set>[^\s!=,()]+)\s+(?P<how>in|notin)\s*\((?P<values>[^)]*)\)|(?P<other>[^,()]+))\s*(?:,|$)"
)


def _requirements(text):
    position, found = 0, []
    while position < len(text):
        match = _PART.match(text, position)
        if not match:
            raise status.bad_request(f"unable to parse requirement: {text[position:]!r}")
        position = match.end()
        found.append(match)
    return found


def _one(match):
    """Return (key, kind, values) of a requirement."""
    if match["set"]:
        return match["set"], match["how"], {value.strip() for value in match["values"].split(",")}
    text = match["other"].strip()
    for sign, kind in (("!=", "notin"), ("==", "in"), ("=", "in")):
        if sign in text:
            key, value = text.split(sign, 1)
            return key.strip(), kind, {value.strip()}
    return (text[1:].strip(), "absent", set()) if text.startswith("!") else (text, "present", set())


def _holds(kind, values, found):
    if kind == "present":
        return found is not None
    if kind == "absent":
        return found is None
    return (found in values) == (kind == "in")


def labels_match(text, labels):
    return all(
        _holds(kind, values, (labels or {}).get(key)) for key, kind, values in map(_one, _requirements(text or ""))
    )


def selector_matches(selector, labels):
    """Return whether a LabelSelector, which is an object, takes these labels."""
    labels = labels or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    kinds = {"In": "in", "NotIn": "notin", "Exists": "present", "DoesNotExist": "absent"}
    return all(
        _holds(kinds[part["operator"]], set(part.get("values") or []), labels.get(part["key"]))
        for part in selector.get("matchExpressions") or []
    )


def field(thing, path):
    """Return an object's field by its path as text; what is left out is empty."""
    for step in path.split("."):
        thing = (thing or {}).get(step)
    if isinstance(thing, bool):
        return str(thing).lower()
    return "" if thing is None else str(thing)


def fields_match(text, thing):
    for part in filter(None, (text or "").split(",")):
        sign = "!=" if "!=" in part else "==" if "==" in part else "="
        path, value = (side.strip() for side in part.split(sign, 1)) if sign in part else (part, None)
        if value is None:
            raise status.bad_request(f"invalid field selector: {text!r}")
        if (field(thing, path) == value) != (sign != "!="):
            return False
    return True

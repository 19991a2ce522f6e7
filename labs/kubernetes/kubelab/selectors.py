# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label and field selectors of requests. The collection selects labels by a value, or by their absence."""

import re

from kubelab import status

_LABEL = re.compile(r"^(?:!([^\s!=,()]+)|([^\s!=,()]+)==?([^\s!=,()]*))$")


def labels_match(text, labels):
    for part in filter(None, (text or "").split(",")):
        found = _LABEL.match(part)
        if not found:
            raise status.bad_request(f"unable to parse requirement: {part!r}")
        if (labels or {}).get(found[1] or found[2]) != found[3]:
            return False
    return True


def selector_matches(selector, labels):
    """Return whether a LabelSelector, which is an object, takes these labels."""
    return (selector.get("matchLabels") or {}).items() <= (labels or {}).items()


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

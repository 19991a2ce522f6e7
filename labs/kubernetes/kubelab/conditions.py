# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions of a status."""

from kubelab.times import now


def set_condition(thing, kind, value, reason="", message=""):
    """Set a condition in an object's status."""
    conditions = thing.setdefault("status", {}).setdefault("conditions", [])
    found = next((condition for condition in conditions if condition["type"] == kind), None)
    new = {
        "type": kind,
        "status": value,
        **({"reason": reason} if reason else {}),
        **({"message": message} if message else {}),
    }
    if found is None:
        conditions.append({**new, "lastTransitionTime": now()})
    elif {key: found.get(key) for key in ("status", "reason", "message")} != {
        key: new.get(key) for key in ("status", "reason", "message")
    }:
        found.clear()
        found.update(new, lastTransitionTime=now())


def condition(thing, kind):
    conditions = (thing.get("status") or {}).get("conditions") or []
    return next((found for found in conditions if found["type"] == kind), {})


def has_ended(pod):
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_true(thing, kind):
    return condition(thing, kind).get("status") == "True"

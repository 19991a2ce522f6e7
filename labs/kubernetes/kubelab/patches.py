# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways in which a request may change an object."""

import copy

from kubelab import status

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
# By which key the items of a list are one and the same, in the objects that the stand-in has.
MERGE_KEYS = {
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "taints": "key",
    "tolerations": "key",
    "volumeMounts": "mountPath",
    "volumes": "name",
}


def merged(target, patch):
    """Return a JSON merge patch applied."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _merged_list(target, patch, key):
    result = [copy.deepcopy(item) for item in target]
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            return copy.deepcopy(patch)
        place = next((index for index, old in enumerate(result) if old.get(key) == item[key]), None)
        if place is None:
            result.append(copy.deepcopy(item))
        else:
            result[place] = strategic(result[place], item)
    return result


def strategic(target, patch):
    """Return a strategic merge patch applied: as a merge patch, and lists with a merge key are merged by it."""
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = strategic(result.get(key), value)
        elif isinstance(value, list) and key in MERGE_KEYS and isinstance(result.get(key), list):
            result[key] = _merged_list(result[key], value, MERGE_KEYS[key])
        else:
            result[key] = copy.deepcopy(value)
    return result


def patched(thing, patch, media_type, custom):
    """Return an object with a patch applied; custom resources know no strategic ones."""
    media_type = media_type.split(";")[0].strip()
    known = {MERGE: merged}
    if not custom:
        known[STRATEGIC] = strategic
    if media_type not in known:
        raise status.unsupported_patch(media_type, sorted(known))
    return known[media_type](copy.deepcopy(thing), patch)

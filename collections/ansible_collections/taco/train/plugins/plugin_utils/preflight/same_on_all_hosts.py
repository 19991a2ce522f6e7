# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the variables that have to be the same on all hosts: the number of GPUs and the training image."""

from typing import Any, Dict, List, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, NotComputedError, is_set
from ansible_collections.taco.train.plugins.plugin_utils.text import some
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import image_of


def _same_everywhere(identity: str, variable: str, values: Mapping[str, Any], what: str) -> Check:
    """Check that a variable has one value on all hosts."""
    by_value: Dict[str, List[str]] = {}
    for host, value in sorted(values.items()):
        by_value.setdefault(str(value) if is_set(value) else "not set", []).append(host)
    if len(by_value) <= 1:
        return Check(identity, "pass", found=next(iter(by_value), "no host"))
    found = some([f"{value} on {some(hosts)}" for value, hosts in by_value.items()], separator="; ")
    fix = f"set {variable} for the whole group and not for single hosts"
    return Check(identity, "fail", f"the same {what} on every host", found, fix)


def checks(variables: Mapping[str, Mapping[str, Any]]) -> List[Check]:
    """Return the checks of the variables that must not differ: a ring is as fast as its slowest member, or breaks."""
    gpus, images, names = {}, {}, set()
    for host, values in variables.items():
        try:
            gpus[host] = values.get("taco_gpus_per_node")
            name, images[host] = image_of(values)
            names.add(name)
        except NotComputedError:
            # A finding of variables.known.
            continue
    variable = " and ".join(sorted(names)) or "taco_image"
    return [
        _same_everywhere("cluster.same_gpus", "taco_gpus_per_node", gpus, "GPU count"),
        _same_everywhere("cluster.same_image", variable, images, "training image"),
    ]

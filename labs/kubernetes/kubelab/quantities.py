# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods ask for, in numbers."""

from collections import Counter

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import amount, binary_quantity


def requests_of(pod):
    """The requests of a pod. A limit without a request is one, and an init container only counts if it is larger."""
    total, spec = Counter(), pod.get("spec") or {}
    for container in spec.get("containers") or []:
        total.update(_of_container(container))
    for container in spec.get("initContainers") or []:
        for name, value in _of_container(container).items():
            total[name] = max(total[name], value)
    return dict(total)


def _of_container(container):
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: amount(value, name) for name, value in asked.items()}


def written(name, value):
    """Return an amount as Kubernetes writes it in a message."""
    if value.denominator != 1:
        return f"{int(value * 1000)}m"
    if name.startswith("hugepages-") or "memory" in name or "storage" in name:
        return binary_quantity(int(value)) if value else "0"
    return str(int(value))

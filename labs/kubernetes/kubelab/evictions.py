# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a pod may be evicted, by the PodDisruptionBudgets that take it in."""

import math

from kubelab import selectors, status
from kubelab.resources import BUDGET, POD


def is_ready(pod):
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions)


def _share(value, of):
    return math.ceil(int(value[:-1]) * of / 100) if isinstance(value, str) and value.endswith("%") else int(value)


def _needed(budget, count):
    spec = budget.get("spec") or {}
    if "minAvailable" in spec:
        return _share(spec["minAvailable"], count)
    return count - _share(spec.get("maxUnavailable", 0), count)


def check(storage, pod):
    """Refuse to evict a pod that a budget needs."""
    metadata = pod["metadata"]
    if not is_ready(pod):
        return
    for budget in storage.list(BUDGET, metadata["namespace"]):
        selector = (budget.get("spec") or {}).get("selector") or {}
        if not selectors.selector_matches(selector, metadata.get("labels")):
            continue
        pods = [
            other
            for other in storage.list(POD, metadata["namespace"])
            if selectors.selector_matches(selector, other["metadata"].get("labels"))
        ]
        healthy = [other for other in pods if is_ready(other) and not other["metadata"].get("deletionTimestamp")]
        needed = _needed(budget, len(pods))
        if len(healthy) - 1 < needed:
            raise status.cannot_evict(budget["metadata"]["name"], needed, len(healthy))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find what a vendor published for the same workload and model, to stand beside what was measured."""

from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PUBLISHED


def figures(workload: str, model: Optional[str]) -> List[Dict[str, Any]]:
    """Return the published figures, each with its source. They are of other machines, so they are shown and never judged."""
    if not model:
        return []
    found = []
    for one in PUBLISHED:
        if one.workload == workload and one.model.lower() == model.lower():
            place = f"{one.instances}, batch size {one.batch_size}"
            alone = {"1 GPU": (one.single, 1), "1 host": (one.host, 8)}
            totals = {label: (value, ranks) for label, (value, ranks) in alone.items() if value is not None}
            totals.update((label, (value, one.ranks)) for label, value in one.totals.items())
            found += [
                {
                    "label": f"{label} ({place})",
                    "value": float(value),
                    "unit": "images/s",
                    "ranks": ranks,
                    "source": one.source,
                }
                for label, (value, ranks) in totals.items()
            ]
    return found

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The control of a comparison: an arm equal to the baseline, measured in each round beside it (an A/A test). Values in, values out.

Its interval shows how much equal arms differ on these machines. A control that is better or worse than its baseline contradicts the
method: then no difference in that case can be assigned to an arm.
"""

from typing import Any, List, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm

NAME = "control"


def control_of(baseline: Arm) -> Arm:
    return baseline._replace(name=NAME, label=f"{baseline.name} again, as the control")


def contradiction(case: Mapping[str, Any], control: Optional[str]) -> List[str]:
    """The reason to refuse the verdicts of a case: its control differs from the baseline. Empty when it does not."""
    return [
        f"{case['id']}: the control, {comparison['baseline']} again, is {comparison['verdict']} than "
        f"{comparison['baseline']} by a ratio of {comparison['ratio']:.3f}."
        for comparison in case["comparisons"]
        if comparison["arm"] == control and comparison["verdict"] in ("better", "worse")
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that the modules of a comparison share."""


class ModuleDocFragment:
    # How verdicts are computed.
    VERDICTS = r"""
options:
  run_dir:
    description: The folder of the comparison, on the controller.
    type: str
    required: true
  min_effect:
    description: The smallest relevant difference, as a fraction.
    type: float
    default: 0.03
  confidence:
    description: The confidence of the intervals. One minus it is the error rate of all verdicts of a report together.
    type: float
    default: 0.95
  allow_unlike:
    description: Whether to compute verdicts for runs that differ in more than their arm.
    type: bool
    default: false
"""

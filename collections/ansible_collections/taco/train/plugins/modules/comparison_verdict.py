#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: comparison_verdict
short_description: Compute the verdicts of a comparison
version_added: 1.0.0
description:
  - Reads the records of a comparison and writes C(comparison.json) to the same folder.
  - The value of a run depends on its workload, see P(taco.train.benchmark#role). In a round each arm runs once. Arms are compared by the
    ratio of their values in each round, by Student's t on the logarithms. V(better) and V(worse) need a ratio beyond O(min_effect),
    V(equivalent) one within it, with a p below 1 - O(confidence) after the corrections for the number of comparisons (Holm) and of
    verdicts on the same runs. Anything else is V(inconclusive). An arm with more than one failed attempt in five is neither V(better) nor
    V(equivalent). Runs that differ in more than their arm get no verdict.
  - Works on the controller only, and needs SciPy 1.15 or newer there.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
  - taco.train.comparison.verdicts
attributes:
  check_mode:
    support: full
    details: Writes nothing.
  diff_mode:
    support: none
options:
  line_rate_gbps:
    description: The line rate of a host in Gbit/s, with which the bus bandwidth at the largest message size is compared.
    type: float
  against:
    description:
      - Earlier comparisons, each its folder or its C(comparison.json). The task fails if an arm is slower than in one of them and the runs
        are comparable.
    type: list
    elements: str
    default: []
  day_spread:
    description:
      - The assumed spread between days if O(against) has comparisons of fewer than three days. With three or more days it is estimated
        from them.
    type: float
    default: 0.1
"""

EXAMPLES = r"""
- name: Compute the verdicts again, with another smallest relevant difference
  taco.train.comparison_verdict:
    run_dir: results/latest
    min_effect: 0.05
  delegate_to: localhost
  run_once: true

- name: Fail if training became slower
  taco.train.comparison_verdict:
    run_dir: results/latest
    against: baselines/comparison.json
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
comparison:
  description: The content of C(comparison.json).
  returned: always
  type: dict
problems:
  description: A sentence for each line of C(records.jsonl) that is no record.
  returned: always
  type: list
  elements: str
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: comparison_rounds
short_description: Plan further rounds for the undecided cases of a comparison
version_added: 1.0.0
description:
  - Computes the verdicts of a comparison with C(repeats=auto) and plans further rounds for each case with an undecided verdict, until
    every verdict is decided or the time limit is reached. Writes the verdicts to C(comparison.json), and
    prints the decision for each case.
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
  records:
    description: The number of records before the first run of this play. An arm that failed twice in a row since then gets no more rounds.
    type: int
    default: 0
  witnesses:
    description: Whether the counters of the hosts are read around the first run of each arm. Such a run is a segment of its own.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Plan the next rounds
  taco.train.comparison_rounds:
    run_dir: "{{ planned.run_dir }}"
    records: "{{ planned.records }}"
  delegate_to: localhost
  run_once: true
  register: planned
"""

RETURN = r"""
run_dir:
  description: The folder of the comparison.
  returned: always
  type: str
runs:
  description: The remaining runs, in their order, for O(taco.train.benchmark#module:runs).
  returned: always
  type: list
  elements: dict
segments:
  description:
    - These runs in groups that need the same state of the hosts, so that each host is visited once for a group.
    - The runs of a group are those from C(first) up to the one before C(end). C(settings) are its arms, each with its case.
    - The arm of the first run has the state that the hosts need.
  returned: always
  type: list
  elements: dict
auto:
  description: Whether rounds are added until every verdict is decided.
  returned: always
  type: bool
"""

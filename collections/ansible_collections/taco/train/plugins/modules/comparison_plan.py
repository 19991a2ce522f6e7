#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: comparison_plan
short_description: Plan the runs of a comparison
version_added: 1.0.0
description:
  - Plans the runs of a matrix of arms, workloads, numbers of hosts and batch sizes, in an order in which a slow change of the machines
    affects all arms equally.
  - Continues an interrupted comparison with the same options in its folder. Prints the number of runs that are planned.
  - Works on the controller only, and needs SciPy 1.15 or newer there.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Writes nothing.
  diff_mode:
    support: none
options:
  name:
    description: The last part of the name of the results folder.
    type: str
    default: comparison
  preset:
    description:
      - A predefined comparison, V(taco_vs_horovod), V(embedding), V(mixed_precision) or V(xla). It sets O(arms), O(baseline) and
        O(workloads) where they are empty or the default of the role P(taco.train.compare#role).
    type: str
  results_dir:
    description: The folder for all results, on the controller.
    type: str
    required: true
  arms:
    description: The arms, each the name of a built-in arm or a mapping; see P(taco.train.benchmark_arm#filter).
    type: list
    elements: raw
    default: []
  baseline:
    description: The arm that the others are compared with. Not set means the first.
    type: str
  workloads:
    description: The workloads of every arm, each a mapping of options of M(taco.train.benchmark) with precedence over O(defaults), and
      optionally C(name).
    type: list
    elements: dict
    default: []
  node_counts:
    description: Numbers of hosts to run on. Empty means all hosts.
    type: list
    elements: int
    default: []
  batch_sizes:
    description: Batch sizes to run. Empty means the batch size of the workload.
    type: list
    elements: int
    default: []
  single_device:
    description: Whether to run also on a single device.
    type: bool
    default: false
  repeats:
    description:
      - Measured runs of each arm, 4 or more. If you raise it later, only the missing runs are added.
      - With V(auto) a case has 4 at first, and M(taco.train.comparison_rounds) adds more until its verdicts are decided.
    type: raw
    default: 6
  budget_minutes:
    description: With O(repeats=auto), the approximate time limit of all runs together in minutes. The first 4 rounds of each case are
      always run.
    type: float
  warmup_runs:
    description: Warm-up runs of each arm, which are not compared.
    type: int
    default: 1
  control:
    description: Whether to measure the baseline a second time in each round, as an arm named C(control) (an A/A test).
    type: bool
    default: false
  hosts:
    description: The hosts of the ranks, each a mapping of C(name) and C(slots).
    type: list
    elements: dict
    default: []
  defaults:
    description: The options of a run that O(workloads) doesn't set.
    type: dict
    default: {}
  fresh:
    description: Whether to start a new comparison instead of continuing an interrupted one.
    type: bool
    default: false
  verdict:
    description: The verdict of preflight, on the controller, to keep with the results.
    type: str
  places:
    description: Whether the caller places the workers before each run. Otherwise an arm with a C(place) is refused.
    type: bool
    default: false
  witnesses:
    description: Whether the counters of the hosts are read around the first run of each arm. Such a run is a segment of its own.
    type: bool
    default: true
  place_changes:
    description: A text that describes what else changes with the placement. The report shows it with the placement.
    type: list
    elements: str
    default: []
  min_effect:
    description: The smallest relevant difference, as a fraction.
    type: float
    default: 0.03
  confidence:
    description: The confidence of the intervals. One minus it is the error rate of all verdicts of a report together.
    type: float
    default: 0.95
  against:
    description: Earlier comparisons for M(taco.train.comparison_verdict). The task fails if one of them can't be used.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Plan a comparison of HARP with kernel TCP on two hosts
  taco.train.comparison_plan:
    results_dir: results
    arms: [tcp, harp]
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    defaults: {workload: horovod_synthetic, model: VGG16}
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
records:
  description: The number of records that the comparison had before the first of the planned runs.
  returned: always
  type: int
auto:
  description: Whether rounds are added until every verdict is decided.
  returned: always
  type: bool
planned:
  description: The number of runs of the comparison.
  returned: always
  type: int
done:
  description: The number of completed runs.
  returned: always
  type: int
against:
  description: The absolute paths of O(against).
  returned: always
  type: list
  elements: str
"""

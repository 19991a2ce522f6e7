#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: comparison
short_description: Plan the runs of a comparison, and compute its verdicts
version_added: 1.1.0
description:
  - With O(state=planned) it plans the runs of a matrix of arms, workloads, numbers of hosts and batch sizes, in an order in which a slow
    change of the machines affects all arms equally. It continues an interrupted comparison with the same options in its folder, and prints
    the number of runs that are planned.
  - With O(state=continued) it computes the verdicts of a comparison with O(repeats=auto) and plans further rounds for each case with an
    undecided verdict, until every verdict is decided or the time limit is reached. It writes the verdicts to C(comparison.json), and prints
    the decision for each case.
  - With O(state=decided) it reads the records of a comparison and writes C(comparison.json) to the same folder.
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
attributes:
  check_mode:
    support: full
    details: Writes nothing.
  diff_mode:
    support: none
options:
  state:
    description: Whether to plan a comparison, to plan further rounds of it, or to compute its verdicts.
    type: str
    choices: [planned, continued, decided]
    required: true
  run_dir:
    description: The folder of the comparison, on the controller. Required with O(state=continued) and O(state=decided).
    type: str
  min_effect:
    description: The smallest relevant difference, as a fraction.
    type: float
    default: 0.03
  confidence:
    description: The confidence of the intervals. One minus it is the error rate of all verdicts of a report together.
    type: float
    default: 0.95
  allow_unlike:
    description: Whether to compute verdicts for runs that differ in more than their arm. With O(state=continued) and O(state=decided).
    type: bool
    default: false
  against:
    description:
      - Earlier comparisons, each its folder or its C(comparison.json). With O(state=planned) the task fails if one of them can't be used.
        With O(state=decided) it fails if an arm is slower than in one of them and the runs are comparable.
    type: list
    elements: str
    default: []
  witnesses:
    description:
      - Whether the counters of the hosts are read around the first run of each arm. Such a run is a segment of its own.
        With O(state=planned) and O(state=continued).
    type: bool
    default: true
  results_dir:
    description: The folder for all results, on the controller. Required with O(state=planned).
    type: str
  name:
    description: The last part of the name of the results folder.
    type: str
    default: comparison
  preset:
    description:
      - A predefined comparison, V(taco_vs_horovod), V(embedding), V(mixed_precision) or V(xla). It sets O(arms), O(baseline) and
        O(workloads) where they are empty or the default of the role P(taco.train.compare#role).
    type: str
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
      - With V(auto) a case has 4 at first, and O(state=continued) adds more until its verdicts are decided.
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
  place_changes:
    description: A text that describes what else changes with the placement. The report shows it with the placement.
    type: list
    elements: str
    default: []
  records:
    description: The number of records before the first run of this play. An arm that failed twice in a row since then gets no more rounds.
    type: int
    default: 0
  line_rate_gbps:
    description: The line rate of a host in Gbit/s, with which the bus bandwidth at the largest message size is compared.
    type: float
  day_spread:
    description:
      - The assumed spread between days if O(against) has comparisons of fewer than three days. With three or more days it is estimated
        from them.
    type: float
    default: 0.1
"""

EXAMPLES = r"""
- name: Plan a comparison of HARP with kernel TCP on two hosts
  taco.train.comparison:
    state: planned
    results_dir: results
    arms: [tcp, harp]
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    defaults: {workload: horovod_synthetic, model: VGG16}
  delegate_to: localhost
  run_once: true
  register: planned

- name: Plan the next rounds
  taco.train.comparison:
    state: continued
    run_dir: "{{ planned.run_dir }}"
    records: "{{ planned.records }}"
  delegate_to: localhost
  run_once: true

- name: Compute the verdicts again, with another smallest relevant difference
  taco.train.comparison:
    state: decided
    run_dir: results/latest
    min_effect: 0.05
  delegate_to: localhost
  run_once: true

- name: Fail if training became slower
  taco.train.comparison:
    state: decided
    run_dir: results/latest
    against: baselines/comparison.json
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
run_dir:
  description: The folder of the comparison.
  returned: with O(state=planned) or O(state=continued)
  type: str
runs:
  description: The remaining runs, in their order, for O(taco.train.benchmark#module:runs).
  returned: with O(state=planned) or O(state=continued)
  type: list
  elements: dict
segments:
  description:
    - These runs in groups of the same C(place). No host is visited between the runs of a group.
    - The runs of a group are those from C(first) up to the one before C(end). C(settings) are its arms, each with its case. The counters
      are read around a group that is C(counted).
  returned: with O(state=planned) or O(state=continued)
  type: list
  elements: dict
records:
  description: The number of records that the comparison had before the first of the planned runs.
  returned: with O(state=planned)
  type: int
auto:
  description: Whether rounds are added until every verdict is decided.
  returned: with O(state=planned) or O(state=continued)
  type: bool
planned:
  description: The number of runs of the comparison.
  returned: with O(state=planned)
  type: int
done:
  description: The number of completed runs.
  returned: with O(state=planned)
  type: int
against:
  description: The absolute paths of O(against).
  returned: with O(state=planned)
  type: list
  elements: str
comparison:
  description: The content of C(comparison.json).
  returned: with O(state=decided)
  type: dict
problems:
  description: A sentence for each line of C(records.jsonl) that is no record.
  returned: with O(state=decided)
  type: list
  elements: str
"""

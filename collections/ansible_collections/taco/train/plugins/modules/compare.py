#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: compare
short_description: Plan the runs of a comparison, and compute its verdicts
version_added: 1.0.0
description:
  - With O(state=planned) it plans the runs of a matrix of arms, workloads, numbers of hosts and batch sizes, in an order in which a slow
    change of the machines affects all arms equally, and finds the folder of an interrupted comparison with the same options.
  - With O(state=judged) it reads the records of a comparison and writes C(comparison.json) beside them.
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
    description:
      - Whether to plan runs or to compute verdicts.
      - V(continued) is for O(repeats=auto). It computes verdicts, and plans further rounds of undecided cases.
    type: str
    choices: [planned, continued, judged]
    required: true
  name:
    description: The last part of the name of the results folder.
    type: str
    default: comparison
  preset:
    description:
      - A predefined comparison, V(taco_vs_horovod), V(embedding), V(mixed_precision) or V(xla). It sets O(arms), O(baseline) and
        O(workloads) where they are empty or the default of the role P(taco.train.compare#role).
    type: str
    version_added: 1.0.0
  results_dir:
    description: The folder for all results, on the controller. Required with O(state=planned).
    type: str
  run_dir:
    description: The folder of the comparison, on the controller. Required with O(state=continued) and O(state=judged).
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
    version_added: 1.0.0
  warmup_runs:
    description: Warm-up runs of each arm, which are not compared.
    type: int
    default: 1
  control:
    description: Whether to measure the baseline a second time in each round, as an arm named C(control) (an A/A test).
    type: bool
    default: false
    version_added: 1.0.0
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
    version_added: 1.0.0
  place_changes:
    description: A text that describes what else changes with the placement. The report shows it with the placement.
    type: list
    elements: str
    default: []
    version_added: 1.0.0
  records:
    description: How many records the comparison had when it was planned. An arm that failed twice in a row since then gets no more rounds.
    type: int
    default: 0
    version_added: 1.0.0
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
    version_added: 1.0.0
"""

EXAMPLES = r"""
- name: Judge a comparison again, with another smallest difference that counts
  taco.train.compare:
    state: judged
    run_dir: results/latest
    min_effect: 0.05
  delegate_to: localhost
  run_once: true

- name: Fail when training has become slower than it was
  taco.train.compare:
    state: judged
    run_dir: results/latest
    against: baselines/comparison.json
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
run_dir:
  description: The folder of the comparison.
  returned: with O(state=planned) and O(state=continued)
  type: str
runs:
  description: The runs that are left, in their order, as O(taco.train.benchmark#module:runs) takes them.
  returned: with O(state=planned) and O(state=continued)
  type: list
  elements: dict
segments:
  description:
    - Those runs in groups that need the same state of the hosts, so that hosts are visited once for a group.
    - The runs of a group are those from C(first) up to the one before C(end). C(settings) are its arms, each with its case.
  returned: with O(state=planned) and O(state=continued)
  type: list
  elements: dict
records:
  description: How many records the comparison has before the first of these runs.
  returned: with O(state=planned) and O(state=continued)
  type: int
against:
  description: The earlier comparisons that were given, each with its whole path.
  returned: with O(state=planned) and O(state=continued)
  type: list
  elements: str
auto:
  description: Whether rounds are added until every verdict is decided.
  returned: with O(state=planned) and O(state=continued)
  type: bool
planned:
  description: How many runs the comparison has.
  returned: with O(state=planned)
  type: int
done:
  description: The number of completed runs.
  returned: with O(state=planned)
  type: int
comparison:
  description: The content of C(comparison.json).
  returned: with O(state=judged)
  type: dict
problems:
  description: A sentence for each line of C(records.jsonl) that is no record.
  returned: with O(state=judged)
  type: list
  elements: str
"""

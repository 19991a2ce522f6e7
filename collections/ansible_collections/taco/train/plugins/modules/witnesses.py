#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: witnesses
short_description: Add the counters of the hosts to the records of runs
version_added: 1.0.0
description:
  - Compares the counters of M(taco.train.counters) before and after runs of one arm, and adds the differences to the records of the runs.
  - Compares the bytes that the model must send with those that crossed the interfaces. A run that used another network than that of its arm
    is recorded as failed, with the reason.
  - Names the hosts whose counters differ from those of the others. With fewer than 5 hosts it names none.
  - Works on the controller only.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
options:
  run_dir:
    description: The folder of the run, on the controller.
    type: str
    required: true
  records:
    description: The ids of the records of the runs between the two reads of the counters.
    type: list
    elements: str
    required: true
  before:
    description: For each host the result of M(taco.train.counters) before the first run.
    type: dict
    required: true
  after:
    description: For each host the result of M(taco.train.counters) after the last run.
    type: dict
    required: true
  fail_on_bad_run:
    description: Whether the task fails when the runs used another network than that of their arm.
    type: bool
    default: true
seealso:
  - module: taco.train.counters
"""

EXAMPLES = r"""
- name: Read the counters before the run
  taco.train.counters:
    state: started
  register: started

- name: Run the benchmark
  taco.train.benchmark:
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    run_dir: results/latest
  run_once: true
  register: benchmark

- name: Read the counters after the run
  taco.train.counters:
    state: ended
  register: ended

- name: Add the counters to the record
  taco.train.witnesses:
    run_dir: results/latest
    records: ["{{ benchmark.record.id }}"]
    before: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'started'))) }}"
    after: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'ended'))) }}"
  run_once: true
"""

RETURN = r"""
path:
  description: Whether the path of the arm is V(proved), V(contradicted) or V(unknown). V(null) without a record.
  returned: always
  type: str
  sample: proved
arms:
  description: The arms whose runs have witnesses now.
  returned: always
  type: list
  elements: str
  sample: [tcp]
run_dir:
  description: The folder of the run.
  returned: with a record
  type: str
msg:
  description: Why the runs failed.
  returned: when the path is contradicted
  type: str
"""

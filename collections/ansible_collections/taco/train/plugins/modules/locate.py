#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: locate
short_description: Plan the rounds of a search for slow hosts, and evaluate them
version_added: 1.0.0
description:
  - With O(state=planned) it begins a search, or finds the folder of the same search that has rounds left, and returns the next round.
  - With O(state=continued) it reads the records of the round that was run, and returns the next round or the answer.
  - A round is one run on each host, or disjoint pairs of hosts, all at the same time. Partners rotate from round to round.
  - A host is reported as slow by a sequential test. At most 1 percent of the searches report a healthy host or link,
    and a host that is slower by O(effect) is missed in at most 5 percent.
    A slow host is proved by a swap of its partners, otherwise it is a suspicion.
  - Writes C(locate.json) and C(locate_inventory.yml) into the folder of the search. Works on the controller only.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Nothing is written.
  diff_mode:
    support: none
options:
  state:
    description: Whether to begin a search, or to decide after a round.
    type: str
    choices: [planned, continued]
    required: true
  results_dir:
    description: The folder for all results, on the controller. Required with O(state=planned).
    type: str
  run_dir:
    description: The folder of the search, on the controller. Required with O(state=continued).
    type: str
  hosts:
    description:
      - The hosts to compare, each with C(name) and C(slots). Each must be a host of the play.
      - With O(state=continued) those from which the C(groups) of the next round are taken.
    type: list
    elements: dict
    default: []
  options:
    description: The options of the benchmark. A search with other options is another search.
    type: dict
    default: {}
  boundaries:
    description:
      - A list of names of host variables, such as V([rack]). Runs that cross a boundary are compared with runs that do not.
      - Not set means the topology labels of the Kubernetes nodes that divide the hosts into groups, where the hosts are pods of
        M(taco.train.mpijob).
    type: raw
  effect:
    description: The smallest loss to find, as a fraction. 0.1 is 10 percent.
    type: float
    default: 0.1
  budget_minutes:
    description: The time limit of all rounds together in minutes. Not set means that only O(max_rounds) limits the search.
    type: float
  max_rounds:
    description: The maximum number of rounds.
    type: int
    default: 12
  alone:
    description: Whether each host runs alone in the first round.
    type: bool
    default: true
  expected:
    description: The value that a run over two hosts should have. If all hosts are equally fast and slower than this, the answer is
      V(configuration).
    type: float
  fresh:
    description: Whether to begin a new search instead of continuing an interrupted one.
    type: bool
    default: false
  lab:
    description: Whether the numbers are from a lab.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Decide again from the records of the last search
  taco.train.locate:
    state: continued
    run_dir: results/latest
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
run_dir:
  description: The folder of the search.
  returned: success
  type: str
round:
  description: The number of the next round, null with an answer.
  returned: success
  type: int
groups:
  description: The C(names) of the hosts of each run of the round and the same C(hosts) for C(mpirun), by the host that it starts on.
  returned: success
  type: dict
answer:
  description: The answer, as in C(locate.json), null while rounds are left.
  returned: success
  type: dict
culprits:
  description: The hosts that C(locate_inventory.yml) omits.
  returned: with an answer
  type: list
  elements: str
odd:
  description: The observed facts for which few hosts have another value than most.
  returned: success
  type: list
  elements: dict
"""

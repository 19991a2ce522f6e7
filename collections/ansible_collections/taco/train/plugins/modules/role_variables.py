#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: role_variables
short_description: Check the variables of the current role and the strategy of the play
version_added: 1.0.0
description:
  - Fails where a variable of the role, or a shared one that it reads, has a wrong value or a required one has none. The message names
    the variable, its value, what is expected and how to correct it. It does not show the value of a variable that can hold a secret.
  - Makes the checks of M(taco.train.preflight) for one role. Skips the checks in C(preflight_skip).
  - Checks variables only in the roles of this collection.
  - Fails unless the strategy of the play is P(ansible.builtin.linear#strategy) or derives from it, such as
    P(ansible.builtin.debug#strategy). The roles of this collection reboot hosts in batches and run some tasks once for all hosts. With
    P(ansible.builtin.free#strategy) all hosts would reboot at the same time. The strategy of a play takes precedence over that in
    C(ansible.cfg) and in C(ANSIBLE_STRATEGY). The playbooks of this collection set it.
  - A variable that cannot be evaluated yet is not checked.
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
  hosts:
    description: Hosts to check in one task with C(run_once). Without them, the task checks its own host.
    type: list
    elements: str
    default: []
  variables:
    description: With V(false), checks only the strategy of the play.
    type: bool
    default: true
  runs:
    description:
      - Whether to check the runs that the variables of O(hosts) describe too, with their options, arms and scripts, as the roles
        P(taco.train.benchmark#role), P(taco.train.compare#role) and P(taco.train.locate#role) do where they begin.
      - What is wrong with them does not fail. It is returned as RV(findings) for O(taco.train.preflight#module:findings).
    type: bool
    default: false
    version_added: 1.1.0
seealso:
  - module: taco.train.preflight
"""

EXAMPLES = r"""
- name: Check the variables of this role
  taco.train.role_variables:

- name: Check the variables of this role for all hosts in one task
  taco.train.role_variables:
    hosts: "{{ ansible_play_hosts }}"
  run_once: true

- name: Check the strategy of the play
  taco.train.role_variables:
    variables: false
  run_once: true

- name: Check the runs that the variables of all hosts describe
  taco.train.role_variables:
    hosts: "{{ ansible_play_hosts_all }}"
    runs: true
  run_once: true
  register: checked

- name: Run the checks of all hosts
  taco.train.preflight:
    findings: "{{ checked.findings }}"
  run_once: true
"""

RETURN = r"""
findings:
  description: What is wrong with the runs, each with the C(hosts) of which it is wrong, C(expected), C(found) and C(fix).
  returned: if O(runs=true)
  type: list
  elements: dict
  sample:
    - hosts: [gpu1, gpu2]
      expected: values that go together
      found: "compare_baseline is taco2, which is not one of compare_arms: tcp, taco."
      fix: correct compare_baseline, compare_arms
msg:
  description: The wrong values, one line each, or the strategy that is refused.
  returned: failure
  type: str
  sample: |-
    gpu1: the role taco.train.container_engine can't run with these values of its variables.
    container_engine_deb_url: x; expected a URL that begins with https://, http:// or file://; correct container_engine_deb_url, or leave
    it out
"""

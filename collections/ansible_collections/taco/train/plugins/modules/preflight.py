#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: preflight
short_description: Check hosts by their observed facts
version_added: 1.0.0
description:
  - Checks all hosts at once, with the fact C(taco_node), the result of M(taco.train.node_info), and with their variables.
  - Collects every failure of every host before it fails, as a table with the host, the check, the expected value, the actual value and the
    fix.
  - Runs on the controller only. Run it with C(run_once).
  - In check mode it returns the failures but does not fail, and writes no file.
  - The guide R(Troubleshooting,ansible_collections.taco.train.docsite.troubleshooting) explains each check.
  - Nodes of a Kubernetes cluster also have checks of the result of M(taco.train.kubernetes_info), and C(engine.present) is skipped for
    them.
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
    description: The names of the hosts in the inventory. Default is all hosts of the play, including failed ones.
    type: list
    elements: str
  checks_extra:
    description:
      - Your own checks of the same facts.
      - They need the Python package C(jmespath) on the controller.
    type: list
    elements: dict
    default: []
    suboptions:
      id:
        description: Name of the check in the table.
        type: str
        required: true
      query:
        description: A JMESPath expression over what M(taco.train.node_info) returns as C(node).
        type: str
        required: true
      expected:
        description: The expected result of the expression. When not set, any result except V(null), V(false), V(0) and empty values passes.
        type: raw
      message:
        description: What is expected, in words.
        type: str
      fix:
        description: What to do when the check fails.
        type: str
  findings:
    description:
      - Wrong values that another task has found, each a failure of the check C(variables.valid) of its hosts.
      - M(taco.train.role_variables) with O(taco.train.role_variables#module:runs=true) returns those of the runs that the variables
        C(benchmark_*), C(compare_*) and C(locate_*) describe. This module itself does not build these runs.
    type: list
    elements: dict
    default: []
    version_added: 1.1.0
    suboptions:
      hosts:
        description: The hosts with the wrong value.
        type: list
        elements: str
        required: true
      expected:
        description: What is expected.
        type: str
        required: true
      found:
        description: The variable and its value.
        type: str
        required: true
      fix:
        description: What to do.
        type: str
        required: true
  skip:
    description: Checks to skip.
    type: list
    elements: str
    default: []
  verdict_path:
    description: File on the controller for the verdict, as JSON. Its folder is created.
    type: path
  gate:
    description:
      - Whether to fail if a check of any host failed. The failure is reported for the host of the task.
      - With V(false), a second task with O(failures) can fail each host that failed a check.
    type: bool
    default: true
  failures:
    description:
      - The RV(failures) of an earlier verdict. Then nothing is checked, and each host with failures fails, so run it without C(run_once).
      - A host that could not be reached is reported as unreachable.
      - If checks failed only on hosts outside the current batch, every host of the batch fails.
      - Use it with C(any_errors_fatal), so that no host continues when another one has failed. Check mode never fails.
    type: dict
seealso:
  - module: taco.train.node_info
  - module: taco.train.role_variables
"""

EXAMPLES = r"""
- name: Run the checks of all hosts
  taco.train.preflight:
    verdict_path: results/verdict.json
  run_once: true

- name: Require a driver branch and accept any distribution
  taco.train.preflight:
    checks_extra:
      - id: site.driver
        query: starts_with(gpus.driver_version, '535.')
        message: NVIDIA driver 535
        fix: install the driver that this site has agreed on
    skip:
      - os.supported
  run_once: true

- name: Run the checks of all hosts without failing
  taco.train.preflight:
    gate: false
  run_once: true
  register: checked

- name: Fail each host that failed a check
  taco.train.preflight:
    failures: "{{ checked.failures }}"
  any_errors_fatal: true
"""

RETURN = r"""
verdict:
  description:
    - All checks of all hosts. C(hosts) has C(status) and C(checks) for each host, C(fleet) the checks of all together,
      C(summary) the counts.
    - Each check has C(id), C(status) (V(pass), V(fail), V(warn) or V(skip)), C(expected), C(found) and C(fix). For a skipped check,
      C(expected) is the failed check that it waits for, if there is one.
  returned: success
  type: dict
  sample:
    schema: 1
    status: pass
    summary: {fail: 0, warn: 0, pass: 1, skip: 0, hosts: 1}
    hosts: {gpu1: {status: pass, checks: [{id: gpu.declared, status: pass, expected: "", found: "8", fix: ""}]}}
    fleet: []
table:
  description: All failures and warnings as a table with the sums and the path of the verdict. It is also displayed if there are any.
  returned: success
  type: str
  sample: "Preflight: 0 failures and 0 warnings on 1 host; 1 check passed."
failed_hosts:
  description: The hosts on which a check failed.
  returned: if O(failures) is not set
  type: list
  elements: str
  sample: []
failures:
  description: >-
    For each host with failures the names of its failed C(checks), the message for the host (C(msg)), and whether it is
    C(unreachable).
  returned: if O(failures) is not set
  type: dict
  sample: {gpu2: {checks: [eni.count], msg: a check of preflight failed, unreachable: false}}
verdict_path:
  description: The file with the verdict, or V(null).
  returned: if O(failures) is not set
  type: str
  sample: results/verdict.json
"""

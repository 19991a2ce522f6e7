#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: gate
short_description: Fail each host that failed a check
version_added: 1.0.0
description:
  - Fails the hosts with failures in the result of M(taco.train.verdict), whose table lists the failures. Other hosts pass.
  - A host that could not be reached is reported as unreachable.
  - If checks failed only on hosts outside the current batch, every host of the batch fails.
  - Use it with C(any_errors_fatal), so that no host continues when another one has failed.
  - Runs on the controller only. Check mode never fails.
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
  failures:
    description: The failures of each host, as M(taco.train.verdict) returns them.
    type: dict
    required: true
seealso:
  - module: taco.train.verdict
"""

EXAMPLES = r"""
- name: Check all hosts of the play
  taco.train.verdict:
    gate: false
  run_once: true
  register: checked

- name: Fail if a check failed
  taco.train.gate:
    failures: "{{ checked.failures }}"
  any_errors_fatal: true
"""

RETURN = r"""
msg:
  description: That a check of the host failed, or that the checks of other hosts did.
  returned: failure
  type: str
  sample: "a check of preflight failed: see the rows of this host in the table above"
"""

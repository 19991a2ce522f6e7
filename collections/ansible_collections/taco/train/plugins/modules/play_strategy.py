#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: play_strategy
short_description: Check that the play has the strategy linear
version_added: 1.0.0
description:
  - Fails unless the strategy of the play is P(ansible.builtin.linear#strategy) or derives from it, such as
    P(ansible.builtin.debug#strategy).
  - The roles of this collection reboot hosts in batches and run some tasks once for all hosts. With P(ansible.builtin.free#strategy)
    all hosts would reboot at the same time. So every role of the collection checks it first.
  - The strategy of a play takes precedence over that in C(ansible.cfg) and in C(ANSIBLE_STRATEGY). The playbooks of this
    collection set it.
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
"""

EXAMPLES = r"""
- name: Check the strategy of the play
  taco.train.play_strategy:
  run_once: true
"""

RETURN = r"""
strategy:
  description: The strategy of the play, as it is written there or in the configuration.
  returned: success
  type: str
  sample: ansible.builtin.linear
"""

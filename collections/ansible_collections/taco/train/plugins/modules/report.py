#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: report
short_description: Render what a run left behind
version_added: 1.0.0
description:
  - Writes C(table.md) and C(report.html) into the folder of a run, from C(records.jsonl) and C(verdict.json) there.
  - When the folder also holds C(comparison.json), the page is the comparison's, and C(comparison.md), C(runs.csv) and
    C(iterations.csv) are written in place of C(table.md).
  - The page needs nothing beside it and no network. It holds nothing that those files don't.
  - Works on the controller only. A rendering is not a change.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Nothing is written. The table is returned.
  diff_mode:
    support: none
options:
  run_dir:
    description: The folder of the run, on the controller.
    type: str
    required: true
  title:
    description: The heading of the page and of the table.
    type: str
    default: Training benchmark
"""

EXAMPLES = r"""
- name: Render the newest run again
  taco.train.report:
    run_dir: results/latest
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
table:
  description: The text of C(table.md), or of a comparison the verdicts as plain text, at most 100 columns wide.
  returned: success
  type: str
path:
  description: Where the page is, on the controller.
  returned: success
  type: str
files:
  description: The names of the files in the folder of the run that were written, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: [comparison.md, iterations.csv, report.html, runs.csv]
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: report
short_description: Render the report of a run
version_added: 1.0.0
description:
  - Writes C(table.md) and C(report.html) into the folder of a run, from C(records.jsonl) and C(verdict.json) there.
  - For a folder with C(comparison.json), the report shows the comparison, and the module writes C(comparison.md), C(runs.csv) and
    C(iterations.csv) instead of C(table.md).
  - For a folder with C(locate.json), the report shows the search for slow hosts, and the module writes C(locate.md) instead of
    C(table.md).
  - The text has the content of the page without its charts. Prints it without its details, and the path of the page.
  - The page is self-contained and needs no network. It contains only data of these files.
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
    details: Writes nothing. Returns the table.
  diff_mode:
    support: none
options:
  run_dir:
    description: The folder of the run, on the controller.
    type: str
    required: true
  title:
    description: The heading of the report and of the table, before the name of the run.
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
  description: The text of C(table.md), C(comparison.md) or C(locate.md) without its details, as it is printed.
  returned: success
  type: str
path:
  description: Path of the page on the controller.
  returned: success
  type: str
files:
  description: The names of the files in the folder of the run that were written, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: [comparison.md, iterations.csv, report.html, runs.csv]
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: verdict
short_description: Judge hosts by what was observed of them
version_added: 1.0.0
description:
  - Judges all hosts at once, by the fact C(taco_node), which is what M(taco.train.node_info) returned, and by their variables.
  - Collects every failure of every host before it fails, as a table with the host, the check, what was expected, what was
    found and how to fix it.
  - Runs on the controller and touches no host. Run it with C(run_once).
  - In check mode it says what is wrong but doesn't fail, and writes no file.
  - "The checks are C(host.observed), C(os.supported), C(boot.layout), C(cpu.page_size), C(memory.hugepages),
    C(hugepages.sysctl), C(hugepages.running), C(gpu.count), C(gpu.declared), C(gpu.model), C(gpu.driver), C(instance.type), C(eni.count),
    C(disk.free),
    C(engine.present), C(engine.version), C(engine.toolkit), C(harp.checksum), C(image.set), C(variables.known), C(variables.valid),
    C(cluster.same_gpus), C(cluster.same_image), C(controller.collections) and C(controller.packages)."
  - "Of nodes of a Kubernetes cluster also C(kubernetes.api), C(kubernetes.mpijob), C(kubernetes.permissions) and C(kubernetes.node), by
    what M(taco.train.kubernetes_info) found. C(engine.present) is skipped for them."
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
    description: The hosts to judge, by their names in the inventory. Default are all hosts of the play, also those that failed.
    type: list
    elements: str
  checks_extra:
    description:
      - Checks of your own over the same facts.
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
        description: What the expression must find. Without it, it must find something, that is not V(null), V(false), V(0) or empty.
        type: raw
      message:
        description: What is expected, in words.
        type: str
      fix:
        description: What to do when the check fails.
        type: str
  skip:
    description: Checks to leave out.
    type: list
    elements: str
    default: []
  verdict_path:
    description: File on the controller that the verdict is written to, as JSON. Its folder is made.
    type: path
  gate:
    description:
      - Whether to fail when any check of any host failed. The task fails as a whole then, at the host that it runs for.
      - With V(false), M(taco.train.gate) can fail each host with its own failures.
    type: bool
    default: true
seealso:
  - module: taco.train.gate
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Judge all hosts of the play
  taco.train.verdict:
    verdict_path: results/verdict.json
  run_once: true

- name: Also require a driver of a certain branch, and take any distribution
  taco.train.verdict:
    checks_extra:
      - id: site.driver
        query: starts_with(gpus.driver_version, '535.')
        message: NVIDIA driver 535
        fix: install the driver that this site has agreed on
    skip:
      - os.supported
  run_once: true
"""

RETURN = r"""
verdict:
  description:
    - All checks of all hosts. C(hosts) has C(status) and C(checks) for each host, C(fleet) the checks of all together,
      C(summary) the counts.
    - Each check has C(id), C(status) (V(pass), V(fail), V(warn) or V(skip)), C(expected), C(found) and C(fix).
  returned: success
  type: dict
  sample:
    schema: 1
    status: pass
    summary: {fail: 0, warn: 0, pass: 1, skip: 0, hosts: 1}
    hosts: {gpu1: {status: pass, checks: [{id: gpu.declared, status: pass, expected: "", found: "8", fix: ""}]}}
    fleet: []
table:
  description: All failures and warnings as a table, and a line that sums it up. On failure it is the message.
  returned: success
  type: str
  sample: "Preflight: 0 failures and 0 warnings on 1 host; 1 check passed."
failed_hosts:
  description: The hosts on which a check failed.
  returned: always
  type: list
  elements: str
  sample: []
failures:
  description: For each host with failures its failed checks as text (C(msg)), and whether the host is C(unreachable).
  returned: always
  type: dict
  sample: {gpu2: {msg: "eni.count: expected 8 secondary ENIs, found 7; attach the missing one.", unreachable: false}}
verdict_path:
  description: The file with the verdict, or V(null).
  returned: always
  type: str
  sample: results/verdict.json
"""

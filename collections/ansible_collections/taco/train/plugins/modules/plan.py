#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: plan
short_description: Save the changes of all hosts as a plan, and compare hosts with a plan
version_added: 1.0.0
description:
  - A plan is a saved check run. Collects the results of modules in check mode (C(changed), C(diff),
    C(reason), C(interrupts)), groups hosts by identical change and saves the result with the identity of each host.
  - Compares hosts with a saved plan before it is applied, and the applied changes with it afterwards.
  - Locks a host while a playbook applies a plan to it. The lock is the file C(plan.lock) in O(state_dir) with the process of the
    playbook, its controller, its user and the time. A reboot does not remove it.
  - The lock of a playbook on the same controller that has ended is taken over. Whether a playbook on another controller, in another
    container or before the last boot has ended is not known.
  - Decides nothing itself. Works on the controller, except with O(state=locked) and O(state=released).
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Writes the plan also in check mode, because it changes no host.
  diff_mode:
    support: none
options:
  state:
    description:
      - V(decided) returns the changes of the host of the task.
      - V(saved) writes the plan of O(hosts) to O(path), and a page to the same folder.
      - V(loaded) reads the plan in O(path) and returns the hosts that it changes.
      - V(locked) takes the lock of the host of the task, or returns RV(refusal). In check mode the lock is only read.
      - V(released) removes the lock of this playbook. Other locks stay.
      - V(checked) returns the O(hosts) that differ from the plan in O(path).
      - V(compared) returns the O(hosts) on which other changes were applied than the plan has.
      - V(refused) fails when C(taco_plan) is set for a host of the play and the role P(taco.train.plan#role) has not compared the hosts
        with it. For playbooks that apply no plan.
    type: str
    choices: [decided, saved, loaded, locked, released, checked, compared, refused]
    required: true
  of:
    description: The playbook that applies the plan.
    type: str
    choices: [site, rollback]
    default: site
  results:
    description:
      - The registered results of modules by the name of the role, a result or a list of results. With O(state=decided).
      - A result without C(changed) is no change. Other modules than those of this collection can be used, too.
    type: dict
    default: {}
  node:
    description: The observation of the host that M(taco.train.node_info) returned. With O(state=decided).
    type: dict
    default: {}
  hosts:
    description: What O(state=decided) returned, by the name of the host. With the other states.
    type: dict
    default: {}
  locked:
    description:
      - For each of O(hosts), the RV(refusal) that O(state=locked) returned, empty for a host that no other playbook has locked. With
        O(state=checked).
    type: list
    elements: str
    default: []
  all_hosts:
    description:
      - All hosts of the play, including failed and unreachable ones. With O(state=checked) and O(state=compared).
    type: list
    elements: str
    default: []
  partial:
    description: Whether other hosts continue when a host is refused or was not compared. With O(state=checked) and O(state=compared).
    type: bool
    default: false
  path:
    description: The file of the plan on the controller. Required to save, load, check or compare a plan.
    type: str
  checksum:
    description: What O(state=loaded) returned, to refuse another plan in O(path). With O(state=checked) and O(state=compared).
    type: str
    default: ""
  reboot_batch:
    description: How many hosts reboot at the same time, a number or a percentage. With O(state=saved).
    type: raw
    default: 1
  boot_seconds:
    description: Seconds that a reboot is expected to take where no earlier one is known. With O(state=saved).
    type: int
    default: 300
  reboots:
    description:
      - The file on the controller with the seconds of earlier reboots, C(reboots.json) of the role P(taco.train.reboot#role). With
        O(state=saved).
    type: str
  state_dir:
    description: The folder on the host for the state that outlives a run. With O(state=locked) and O(state=released).
    type: path
    default: /var/lib/taco-train
  owner:
    description: The playbook. The action plugin sets it.
    type: dict
  ended:
    description: An owner of the lock that has ended. The action plugin sets it.
    type: dict
seealso:
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Gather the state of the host
  taco.train.node_info:
  register: observed

- name: Predict the changes of the boot configuration
  taco.train.hugepages:
    gpus: 8
  check_mode: true
  register: predicted

- name: Collect the changes of each host
  taco.train.plan:
    state: decided
    results:
      hugepages: "{{ predicted }}"
    node: "{{ observed.node }}"
  register: decided

- name: Save the plan of all hosts
  taco.train.plan:
    state: saved
    hosts: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'decided'))) }}"
    path: plan.json
  run_once: true
"""

RETURN = r"""
changes:
  description: The changes of the host, as in C(docs/schemas/plan-2.json) but with the texts of their diffs.
  returned: O(state=decided)
  type: list
  elements: dict
own:
  description: The names of the values that belong to this host alone, by value.
  returned: O(state=decided)
  type: dict
  sample: {gpu1: host, 10.0.2.8: address0}
reboot_not_allowed:
  description: The reason of a reboot that is required and not allowed, empty when there is none.
  returned: O(state=decided)
  type: str
identity:
  description: The machine ID, the serial number of the board and the MAC addresses of the ports of the host.
  returned: O(state=decided)
  type: dict
  sample: {machine_id: 4f0c9d2b8e7a4c61b3d5e8f7a6b9c0d1, board_serial: 5VX2M13, mac_addresses: ["52:54:00:00:00:00"]}
count:
  description: The number of changes on all hosts.
  returned: all states but V(decided)
  type: int
  sample: 12
changing:
  description: The hosts for which the plan has changes.
  returned: O(state=loaded)
  type: list
  elements: str
  sample: [gpu1]
checksum:
  description: The SHA-256 of the file of the plan.
  returned: O(state=loaded)
  type: str
entries:
  description: The number of entries after grouping.
  returned: O(state=saved)
  type: int
  sample: 4
text:
  description: The plan as text, with O(state=decided) the changes of the host on a line.
  returned: O(state=saved) and O(state=decided)
  type: str
path:
  description: The file of the plan.
  returned: O(state=saved)
  type: str
page:
  description: The page of the plan.
  returned: O(state=saved)
  type: str
refused:
  description: A message for each host that differs, by the name of the host. That of the first host lists the hosts that were not compared.
  returned: O(state=checked) and O(state=compared)
  type: dict
fatal:
  description: Whether no host continues.
  returned: O(state=checked) and O(state=compared)
  type: bool
other:
  description: The other owner of the lock, empty when there is none.
  returned: O(state=locked) and O(state=released)
  type: dict
  sample: {controller: ci-2, pid: 4711, started: "90210", user: alice, since: "2026-11-25T15:00:00Z"}
refusal:
  description: The message about the other owner, and how to remove its lock if it has ended. Empty when there is none.
  returned: O(state=locked)
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import acquire, other_owner, release
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure

STATES = ["decided", "saved", "loaded", "locked", "released", "checked", "compared", "refused"]
ARGUMENT_SPEC = dict(
    state=dict(type="str", choices=STATES, required=True),
    of=dict(type="str", choices=["site", "rollback"], default="site"),
    results=dict(type="dict", default={}),
    node=dict(type="dict", default={}),
    hosts=dict(type="dict", default={}),
    locked=dict(type="list", elements="str", default=[]),
    all_hosts=dict(type="list", elements="str", default=[]),
    partial=dict(type="bool", default=False),
    path=dict(type="str"),
    checksum=dict(type="str", default=""),
    reboot_batch=dict(type="raw", default=1),
    boot_seconds=dict(type="int", default=300),
    reboots=dict(type="str"),
    state_dir=dict(type="path", default="/var/lib/taco-train"),
    owner=dict(type="dict"),
    ended=dict(type="dict"),
)
REQUIRED_IF = [("state", state, ["path"]) for state in ("saved", "loaded", "checked", "compared")]


def run(params, check_mode):
    """Take or release the lock, and return the module's result. A lock is no change of the host."""
    state_dir, own, ended = params["state_dir"], params["owner"] or {}, params["ended"]
    other = None
    if check_mode:
        other = other_owner(state_dir, own, ended)
    elif params["state"] == "locked":
        other = acquire(state_dir, own, ended)
    else:
        release(state_dir, own)
    return dict(changed=False, other=other or {})


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, required_if=REQUIRED_IF, supports_check_mode=True)
    try:
        result = run(module.params, module.check_mode)
    except (FoldersError, FileError, OSError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: plan_lock
short_description: Lock a host while a playbook applies a plan to it
version_added: 1.0.0
description:
  - The lock is the file C(plan.lock) in O(state_dir) with the process of the playbook, its controller, its user and the time. A reboot
    does not remove it.
  - The lock of a playbook on the same controller that has ended is taken over. Whether a playbook on another controller, in another
    container or before the last boot has ended is not known.
  - In check mode the lock is read and not written.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  state:
    description:
      - V(held) takes the lock, or returns RV(refusal).
      - V(released) removes the lock of this playbook. Other locks stay.
    type: str
    choices: [held, released]
    required: true
  owner:
    description: The playbook. The action plugin sets it.
    type: dict
  ended:
    description: An owner of the lock that has ended. The action plugin sets it.
    type: dict
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run.
seealso:
  - module: taco.train.plan
"""

EXAMPLES = r"""
- name: Lock the host
  taco.train.plan_lock:
    state: held
  register: lock

- name: Fail if another playbook applies a plan to the host
  ansible.builtin.fail:
    msg: "{{ lock.refusal }}"
  when: lock.refusal is defined
"""

RETURN = r"""
other:
  description: The other owner of the lock, empty when there is none.
  returned: success
  type: dict
  sample: {controller: ci-2, pid: 4711, started: "90210", user: alice, since: "2026-11-25T15:00:00Z"}
refusal:
  description: The message about the other owner, and how to remove its lock if it has ended.
  returned: O(state=held) when another playbook has the lock
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import acquire, other_owner, release
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def run(params, check_mode):
    """Take or release the lock, and return the module's result. A lock is no change of the host."""
    state_dir, own, ended = params["state_dir"], params["owner"] or {}, params["ended"]
    other = None
    if check_mode:
        other = other_owner(state_dir, own, ended)
    elif params["state"] == "held":
        other = acquire(state_dir, own, ended)
    else:
        release(state_dir, own)
    return dict(changed=False, other=other or {})


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["held", "released"], required=True),
            owner=dict(type="dict"),
            ended=dict(type="dict"),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        supports_check_mode=True,
    )
    try:
        result = run(module.params, module.check_mode)
    except (FoldersError, FileError, OSError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

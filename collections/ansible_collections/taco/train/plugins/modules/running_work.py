#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: running_work
short_description: Refuse an interruption that would end running work
version_added: 1.0.0
description:
  - Lists the processes on the GPUs of a host and the processes in its training container, and fails when there are any, unless
    O(allowed) is set.
  - Programs that only keep a container running, such as C(sleep) and C(sshd), and idle shells are not work.
  - In check mode it doesn't fail, but warns and returns what would be ended.
  - Changes nothing.
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
  interruption:
    description: The action that would end the work. The message begins with it.
    type: str
    required: true
  gpus:
    description:
      - Whether processes on the GPUs count.
      - Where C(nvidia-smi) is missing or fails, these are the processes that have C(/dev/nvidia-uvm) open.
    type: bool
    default: true
  container:
    description: The training container, whose processes count. When not set, none is inspected.
    type: str
  containers:
    description:
      - Whether every other running container counts as a whole, since the Docker Engine is about to be restarted.
      - With C(live-restore) the engine keeps its containers, and none of them counts.
    type: bool
    default: false
  allowed:
    description: Whether the work may be ended. It is then returned with a warning.
    type: bool
    default: false
  engine_command:
    description: The command of the container engine.
    type: list
    elements: str
    default: [docker]
seealso:
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Fail if the reboot would interrupt running work
  taco.train.running_work:
    interruption: The reboot
    container: taco-train

- name: Fail if the restart of Docker Engine would interrupt containers
  taco.train.running_work:
    interruption: The restart of the Docker Engine
    gpus: false
    container: taco-train
    containers: true
"""

RETURN = r"""
msg:
  description: The work that would be ended, as in the warning or the failure.
  returned: always
  type: str
  sample: nothing runs that would be ended
work:
  description: The running work. A container that counts as a whole has no C(pid), and its image as C(command).
  returned: always
  type: list
  elements: dict
  sample:
    - pid: 4711
      user: root
      command: python3 train.py
      place: GPU GPU-0d3f1b7c-5e2a-4c6d-9b8a-7f6e5d4c3b2a
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.running_work import require_idle, running_work


def main():
    module = AnsibleModule(
        argument_spec=dict(
            interruption=dict(type="str", required=True),
            gpus=dict(type="bool", default=True),
            container=dict(type="str"),
            containers=dict(type="bool", default=False),
            allowed=dict(type="bool", default=False),
            engine_command=dict(type="list", elements="str", default=["docker"]),
        ),
        supports_check_mode=True,
    )
    try:
        found = running_work(module.params)
    except OSError as error:
        module.fail_json(msg=failure(error), work=[])
    work = [dict(one._asdict()) for one in found]
    refusal = require_idle(module.params["interruption"], found)
    if refusal and not module.params["allowed"] and not module.check_mode:
        module.fail_json(msg=failure(RuntimeError(refusal)), work=work)
    if refusal:
        module.warn(refusal)
    module.exit_json(changed=False, work=work, msg=refusal or "nothing runs that would be ended")


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run an action plugin in this process, with the modules that it executes."""

from unittest.mock import MagicMock

from ansible.errors import AnsibleError
from ansible.playbook.task import Task
from kubernetes_modules import in_process


def run(module, options, check=False, host="localhost", display=None, transport="local", warning=None, **variables):
    """The result of the action of a module of plugins/action. display gets each line, warning each warning; an error is a failed result."""
    task = Task()
    task.args = options
    task.check_mode = check
    action = module.ActionModule(task, MagicMock(transport=transport), MagicMock(), MagicMock(), MagicMock(), None)
    action._display = MagicMock()
    if display is not None:
        action._display.display = display
    if warning is not None:
        action._display.warning = warning
    with in_process(action):
        try:
            return action.run(task_vars={"inventory_hostname": host, **variables})
        except AnsibleError as error:
            return {"failed": True, "msg": str(error)}

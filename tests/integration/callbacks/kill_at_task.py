# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kill the controller with all its workers at a task, or list the tasks that changed something on a host."""

import os
import signal
import threading

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: kill_at_task
type: aggregate
short_description: Kill the controller at a task
version_added: 1.1.0
description:
  - With E(KILL_AT_TASK), the end of a task's name, kill the process group E(KILL_AFTER_SECONDS) after the first start of that task.
  - With E(CHANGED_TASKS), a file, append the name of each task that changed something on a host.
"""


class CallbackModule(CallbackBase):
    """See above."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kill_at_task"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_task_start(self, task, is_conditional):
        wanted = os.environ.get("KILL_AT_TASK")
        if wanted and task.get_name().endswith(wanted):
            timer = threading.Timer(float(os.environ["KILL_AFTER_SECONDS"]), os.killpg, (os.getpgrp(), signal.SIGKILL))
            timer.daemon = True
            timer.start()
            if float(os.environ["KILL_AFTER_SECONDS"]) == 0:
                # So that the task does not start.
                timer.join()
                signal.pause()

    def v2_runner_on_ok(self, result):
        if os.environ.get("CHANGED_TASKS") and result._result.get("changed"):
            with open(os.environ["CHANGED_TASKS"], "a", encoding="utf-8") as file:
                file.write(result._task.get_name().strip() + "\n")

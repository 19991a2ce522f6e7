# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kill the controller with all its workers at a task, or list the tasks that changed something on a host."""

import contextlib
import functools
import importlib
import mmap
import os
import signal
import threading
from pathlib import Path

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: kill_at_task
type: aggregate
short_description: Kill the controller at a task
version_added: 1.1.0
description:
  - With E(KILL_AT_TASK), the end of a task's name, kill the process group E(KILL_AFTER_SECONDS) after the first start of that task.
  - With E(KILL_AT_CALL), a function of a module that actions call by the name of its module, kill the process group before the call
    that follows E(KILL_AFTER_CALLS) other ones.
  - With E(CHANGED_TASKS), a file, append the name of each task that changed something on a host.
"""


def _descendants(pid):
    """The processes below a process. The workers of newer versions of ansible-core have sessions of their own."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name of a program, in parentheses, may have spaces.
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    below, count = {pid}, 0
    while len(below) > count:
        count = len(below)
        below |= {child for child, parent in parents.items() if parent in below}
    return below - {pid}


def _kill(pid):
    """Kill the controller, with its workers and what they run."""
    for one in _descendants(pid) - {os.getpid()}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_after(calls, most, pid, function, *arguments):
    """Call the function, or kill the controller where it was called often enough, by whichever worker."""
    if calls[0] == most:
        _kill(pid)
    calls[0] += 1
    return function(*arguments)


class CallbackModule(CallbackBase):
    """See above."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kill_at_task"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook):
        if os.environ.get("KILL_AT_CALL"):
            path, _dot, name = os.environ["KILL_AT_CALL"].rpartition(".")
            module, most = importlib.import_module(path), int(os.environ.get("KILL_AFTER_CALLS", "0"))
            # The workers that run the actions are forks of this process, and share this memory.
            calls = mmap.mmap(-1, 1)
            setattr(module, name, functools.partial(_kill_after, calls, most, os.getpid(), getattr(module, name)))

    def v2_playbook_on_task_start(self, task, is_conditional):
        wanted = os.environ.get("KILL_AT_TASK")
        if wanted and task.get_name().endswith(wanted):
            timer = threading.Timer(float(os.environ["KILL_AFTER_SECONDS"]), _kill, (os.getpid(),))
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

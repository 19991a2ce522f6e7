# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show one table at the end of a playbook."""

DOCUMENTATION = r"""
name: summary
type: aggregate
short_description: One table at the end of a playbook
version_added: 1.0.0
author:
  - Taco Team (@taco)
description:
  - Shows for each host the changes, pending actions such as a reboot, and the verdict of M(taco.train.preflight), if the role
    P(taco.train.preflight#role) has run. Below the table are the first failure of each host, with equal failures joined, and the paths of
    reports.
  - Changes are listed by role, in a play without roles by task. In check mode they are the predicted changes.
  - Lines are as wide as the terminal; only a path may be wider. With more than 30 hosts, hosts with the same entries share a line.
  - If C(display_ok_hosts) is off, it also prints the name of each role of the collection when the role starts, and the messages of these
    roles, such as the result of a batch of reboots, which Ansible would hide.
  - Nothing is shown where the output is JSON (C(stdout_callback)).
  - Colours follow Ansible's own settings, such as C(ANSIBLE_NOCOLOR) and C(ANSIBLE_FORCE_COLOR).
requirements:
  - Enable it, for example with C(callbacks_enabled = taco.train.summary) in the section C([defaults]) of C(ansible.cfg), or with
    C(ANSIBLE_CALLBACKS_ENABLED=taco.train.summary).
options:
  width:
    description: The width of a line in columns. Default is the width of the terminal, or 120 without a terminal.
    type: int
    ini:
      - section: callback_taco_summary
        key: width
    env:
      - name: TACO_SUMMARY_WIDTH
  display_ok_hosts:
    description: Ansible's own setting.
    type: bool
    default: true
    ini:
      - section: defaults
        key: display_ok_hosts
    env:
      - name: ANSIBLE_DISPLAY_OK_HOSTS
"""

import json
import shutil

from ansible import constants, context
from ansible.plugins.callback import CallbackBase

from ansible_collections.taco.train.plugins.plugin_utils.summary.table import render
from ansible_collections.taco.train.plugins.plugin_utils.summary.tally import OWN_ROLES, Tally

WITHOUT_TERMINAL = (120, 24)
REPORT = "taco.train.report"
DEBUG = "ansible.builtin.debug"
DEFAULT_OUTPUT = ("default", "ansible.builtin.default")
# Their output is read by programs.
FOR_PROGRAMS = ("json", "jsonl")
# It observes the host before each of the other roles.
SILENT_ROLES = {"taco.train.common"}
COLOURS = {"good": "COLOR_OK", "changed": "COLOR_CHANGED", "bad": "COLOR_ERROR"}


def read_verdict(path):
    """The verdict in a file on the controller, or None when there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"hosts", "fleet"} <= set(found) else None


def in_rescue(task):
    """Whether a task belongs to the section rescue of a block. Ansible copies blocks and tasks and keeps their identifiers."""
    while task is not None:
        parent = task._parent
        if any(one._uuid == task._uuid for one in getattr(parent, "rescue", None) or []):
            return True
        task = parent
    return False


class CallbackModule(CallbackBase):
    """Collect results as they come, and show them when the playbook ends."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "taco.train.summary"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._tally = Tally(read_verdict)
        self._roles, self._messages = set(), set()

    def _quiet(self):
        """Whether Ansible's default output hides results of tasks that changed nothing."""
        return constants.DEFAULT_STDOUT_CALLBACK in DEFAULT_OUTPUT and not self.get_option("display_ok_hosts")

    def v2_playbook_on_play_start(self, play):
        self._roles = set()

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._messages = set()
        name = task._role.get_name() if task._role else ""
        if self._quiet() and name.startswith(OWN_ROLES) and name not in self._roles | SILENT_ROLES:
            self._roles.add(name)
            self._display.display(f"\nROLE {name}")

    def _show(self, result):
        """Show the message of a role, once for all hosts that have the same."""
        task, message = result._task, result._result.get("msg")
        own = task._role and task._role.get_name().startswith(OWN_ROLES)
        if not own or task.resolved_action != DEBUG or not message or not self._quiet():
            return
        text = "\n".join(map(str, message)) if isinstance(message, list) else str(message)
        if text not in self._messages:
            self._messages.add(text)
            self._display.display(text)

    def _take(self, result, failed):
        # The names with an underscore: before ansible-core 2.19 there are no others.
        host, role, found = result._host.get_name(), result._task._role, result._result
        if result._task.check_mode and not context.CLIARGS.get("check"):
            # A plan predicts changes and makes none.
            found = {**found, "changed": False}
        self._tally.take(host, result.task_name, role.get_name() if role else None, found)
        if in_rescue(result._task):
            self._tally.rescue(host)
        if failed:
            self._tally.fail(host, result.task_name, found)
        elif result._task.resolved_action == REPORT and found.get("path") and not context.CLIARGS.get("check"):
            self._tally.report(found["path"])

    def v2_runner_on_ok(self, result):
        self._take(result, failed=False)
        self._show(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._take(result, failed=not ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._take(result, failed=not result._task.ignore_unreachable)

    def v2_playbook_on_stats(self, stats):
        if constants.DEFAULT_STDOUT_CALLBACK.rpartition(".")[2] in FOR_PROGRAMS:
            return
        hosts = sorted(stats.processed)
        failed = [host for host in hosts if stats.failures.get(host) or stats.dark.get(host)]
        width = self.get_option("width") or shutil.get_terminal_size(WITHOUT_TERMINAL).columns
        check = bool(context.CLIARGS.get("check"))
        lines = render(self._tally.outcomes(hosts, failed), width, check, self._tally.reports())
        for line in lines:
            colour = COLOURS.get(line.kind)
            self._display.display(line.text, color=getattr(constants, colour) if colour else None)

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
  - Shows for each host what changed, what is pending, such as a reboot, and the verdict of M(taco.train.assess), which the role
    P(taco.train.preflight#role) asks for. Below stand the failures, each in a line.
  - Changes are named by their roles, those of a play without roles by their tasks. In check mode they are those that would be made.
  - No line is wider than the terminal. Beyond 30 hosts, those of which the same is said share a line.
  - Colours are used on a terminal only, and never when C(NO_COLOR) or C(ANSIBLE_NOCOLOR) is set.
requirements:
  - Enable it, for example with C(callbacks_enabled = taco.train.summary) in the section C([defaults]) of C(ansible.cfg), or with
    C(ANSIBLE_CALLBACKS_ENABLED=taco.train.summary).
options:
  width:
    description: How many columns a line may have. Default is the width of the terminal, and 120 where there is none.
    type: int
    ini:
      - section: callback_taco_summary
        key: width
    env:
      - name: TACO_SUMMARY_WIDTH
"""

import json
import os
import shutil
import sys

from ansible import constants, context
from ansible.plugins.callback import CallbackBase

from ansible_collections.taco.train.plugins.plugin_utils.summary_table import render, wants_colour
from ansible_collections.taco.train.plugins.plugin_utils.summary_tally import Tally

WITHOUT_TERMINAL = (120, 24)
COLOURS = {"good": "COLOR_OK", "changed": "COLOR_CHANGED", "bad": "COLOR_ERROR"}


def read_verdict(path):
    """Return the verdict in a file on the controller, or None when there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"hosts", "cluster"} <= set(found) else None


class CallbackModule(CallbackBase):
    """Take in results as they come, and show them when the playbook ends."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "taco.train.summary"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._tally = Tally(read_verdict)

    def _take(self, result, failed):
        # The names with an underscore: before ansible-core 2.19 there are no others.
        host, role, found = result._host.get_name(), result._task._role, result._result
        self._tally.take(host, result.task_name, role.get_name() if role else None, found)
        if failed:
            self._tally.fail(host, result.task_name, found)

    def v2_runner_on_ok(self, result):
        self._take(result, failed=False)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._take(result, failed=not ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._take(result, failed=True)

    def v2_playbook_on_stats(self, stats):
        hosts = sorted(stats.processed)
        failed = [host for host in hosts if stats.failures.get(host) or stats.dark.get(host)]
        width = self.get_option("width") or shutil.get_terminal_size(WITHOUT_TERMINAL).columns
        lines = render(self._tally.outcomes(hosts, failed), width, bool(context.CLIARGS.get("check")))
        colours = wants_colour(os.environ, sys.stdout.isatty()) and not constants.ANSIBLE_NOCOLOR
        for line in lines:
            colour = COLOURS.get(line.kind)
            self._display.display(line.text, color=getattr(constants, colour) if colours and colour else None)

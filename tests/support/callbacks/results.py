# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The results of all tasks, for tests."""

import json
import os

from ansible.parsing.ajson import AnsibleJSONEncoder
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: results
type: aggregate
short_description: Write the results of all tasks
description:
  - Append each result to the file E(TEST_RESULTS), as an object with the task, the host and the result.
"""


class CallbackModule(CallbackBase):
    """See above."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "results"

    def _write(self, result, **more):
        line = {
            "task": result._task.get_name().strip(),
            "host": result._host.get_name(),
            "result": {**result._result, **more},
        }
        with open(os.environ.get("TEST_RESULTS", os.devnull), "a", encoding="utf-8") as file:
            file.write(json.dumps(line, cls=AnsibleJSONEncoder) + "\n")

    v2_runner_on_ok = v2_runner_on_unreachable = _write

    def v2_runner_on_skipped(self, result):
        self._write(result, skipped=True)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._write(result, failed=True)

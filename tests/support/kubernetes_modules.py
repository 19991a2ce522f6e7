# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run modules that ask a cluster in this process: the same code against the same server, in milliseconds.

As a process of their own they would take a second each, most of it to import the client.
"""

import contextlib
import importlib
import io
import json
import tempfile
from unittest import mock

import urllib3
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.taco.train.plugins.module_utils.cluster import client


def _main(name):
    """Return a module's main()."""
    namespace, collection, module = name.split(".")
    if (namespace, collection) == ("ansible", "builtin"):
        return importlib.import_module(f"ansible.modules.{module}").main
    return importlib.import_module(f"ansible_collections.{namespace}.{collection}.plugins.modules.{module}").main


def execute(module_name, module_args, task_vars=None, check=False):
    """The result of a module."""
    main = _main(module_name)
    printed, warnings = io.StringIO(), []
    with tempfile.TemporaryDirectory() as folder:
        arguments = dict(
            {name: value for name, value in module_args.items() if value is not None},
            _ansible_check_mode=check,
            _ansible_remote_tmp=folder,
            _ansible_keep_remote_files=False,
        )
        # A module in the controller's own process would print its warnings there.
        warn = mock.patch.object(AnsibleModule, "warn", lambda _module, text: warnings.append(text))
        with warn, patch_module_args(arguments), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            main()
    result = json.loads(printed.getvalue())
    return {**result, "warnings": warnings} if warnings else result


@contextlib.contextmanager
def in_process(action):
    """Let the modules of an action run here."""

    def run(module_name=None, module_args=None, task_vars=None, **_more):
        return execute(module_name, module_args or {}, task_vars, bool(action._task.check_mode))

    with mock.patch.object(action, "_execute_module", run):
        yield


def lose_first_answer(monkeypatch):
    """Let the answer to the first request that changes something be lost; return the requests whose answer was."""
    real, lost = client.Client._answer, []

    def losing(self, request, *more):
        answer = real(self, request, *more)
        if request.verb in client.METHODS and not lost:
            lost.append(request)
            raise urllib3.exceptions.ProtocolError("Connection aborted.", "closed")
        return answer

    monkeypatch.setattr(client.Client, "_answer", losing)
    return lost

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
import sys
import tempfile
from unittest import mock

from ansible.module_utils.testing import patch_module_args


def _main(name):
    """Return a module's main(). It is imported again only when it was never imported."""
    namespace, collection, module = name.split(".")
    if (namespace, collection) == ("ansible", "builtin"):
        return importlib.import_module(f"ansible.modules.{module}").main
    return importlib.import_module(f"ansible_collections.{namespace}.{collection}.plugins.modules.{module}").main


def _forget_clients():
    """Let the next module ask the server anew what it serves, as one that starts does."""
    client = importlib.import_module("ansible_collections.kubernetes.core.plugins.module_utils.k8s.client")
    client._pool.clear()


def execute(module_name, module_args, task_vars=None, check=False, fresh=True):
    """The result of _execute_module: the module's result, or that of a crashed module."""
    main = _main(module_name)
    if fresh:
        _forget_clients()
    printed, warned = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        arguments = dict(
            {name: value for name, value in module_args.items() if value is not None},
            _ansible_check_mode=check,
            _ansible_remote_tmp=folder,
            _ansible_keep_remote_files=False,
        )
        with patch_module_args(arguments), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(warned):
            try:
                main()
            except SystemExit:
                return json.loads(printed.getvalue())
            except Exception as error:
                # As ansible-core 2.19 has it: of a module that crashed there are the words of the error, and no traceback.
                return {"failed": True, "msg": f"Task failed: Module failed: {error}"}
    raise AssertionError(f"{module_name} returned")


@contextlib.contextmanager
def in_process(action, calls=None):
    """Let an action's modules run here, with one client for all of them; calls, a list, gets each of them."""
    _forget_clients()

    def run(module_name=None, module_args=None, task_vars=None, **_more):
        if calls is not None:
            calls.append((module_name, module_args))
        return execute(module_name, module_args or {}, task_vars, bool(action._task.check_mode), False)

    with mock.patch.object(action, "_execute_module", run):
        yield


def lose_first_answer(monkeypatch):
    """Let the first answer of kubernetes.core.k8s be lost; return the results of the calls whose answer was."""
    real, lost = execute, []

    def losing(name, arguments, *more):
        result = real(name, arguments, *more)
        if name == "kubernetes.core.k8s" and not lost:
            lost.append(result)
            return {"failed": True, "msg": "('Connection aborted.', RemoteDisconnected('closed'))"}
        return result

    monkeypatch.setattr(sys.modules[__name__], "execute", losing)
    return lost

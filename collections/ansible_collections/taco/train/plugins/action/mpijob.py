# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module that waits for a cluster, and show its progress meanwhile. meta/runtime.yml names the modules besides mpijob."""

from __future__ import annotations

import tempfile
import threading
from typing import Any, TextIO

from ansible.plugins.action.normal import ActionModule as Normal

SECONDS = 1.0


class ActionModule(Normal):
    """The action of every module, with a file that the module writes and the controller reads. So both must be one machine."""

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._connection.transport != "local" or self._connection.become or self._task.async_val:
            return dict(super().run(tmp, task_vars))
        arguments = self._task.args
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", prefix="taco-progress-") as stream:
            self._task.args = {"progress_file": stream.name, **arguments}
            ended = threading.Event()
            follower = threading.Thread(target=self._follow, args=(stream, ended), daemon=True)
            follower.start()
            try:
                return dict(super().run(tmp, task_vars))
            finally:
                ended.set()
                follower.join()
                # A task with retries runs again.
                self._task.args = arguments

    def _follow(self, stream: TextIO, ended: threading.Event) -> None:
        """Show each line that the module writes, also the last ones."""
        last = False
        while not last:
            last = ended.wait(SECONDS)
            for line in stream:
                self._display.display(line.rstrip("\n"))

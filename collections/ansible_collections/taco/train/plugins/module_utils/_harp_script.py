# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Run a setup script under a time limit, with all that it says in a log."""

import os
import shutil
import signal
import subprocess
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._timed_command import EXTRA_PATH

LARGEST_OUTPUT = 4 * 1024 * 1024


class ScriptError(Exception):
    """The script could not be started."""


class ScriptRun(NamedTuple):
    """How a script ended. The status is None when it had to be stopped."""

    status: Optional[int]
    output: str


def run_script(argv: List[str], environment: Dict[str, str], timeout: int, log: str) -> ScriptRun:
    """Run a script in a process group of its own and end the whole group when it takes too long."""
    path = os.pathsep.join([os.environ.get("PATH", "")] + list(EXTRA_PATH))
    program = shutil.which(argv[0], path=path)
    if program is None:
        raise ScriptError(f"{argv[0]} is not installed on this host: install it, or set harp_interpreter")
    # A file and no pipe: what the script started and left running can't keep us waiting for the end of its output.
    with open(log, "wb") as file:
        os.chmod(log, 0o600)
        process = subprocess.Popen(
            [program] + argv[1:],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=dict(os.environ, PATH=path, **environment),
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=timeout)  # type: Optional[int]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
    with open(log, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - LARGEST_OUTPUT))
        return ScriptRun(status, file.read().decode("utf-8", "replace"))

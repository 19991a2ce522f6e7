# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Run a command that may be missing, may fail and may hang, without any of that being an error."""

import contextlib
import os
import shutil
import signal
import subprocess
from typing import List, NamedTuple, Optional

# Programs of administrators are often not on the path of a shell that nobody logged in to.
EXTRA_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class Output(NamedTuple):
    """What a command left behind. The status is None when it isn't installed or had to be stopped."""

    status: Optional[int]
    stdout: str
    stderr: str


def run_timed(command: List[str], timeout: float, stdin: bytes = b"", folder: Optional[str] = None) -> Output:
    """Run a command in a process group of its own, and end the whole group when it takes too long."""
    path = os.pathsep.join([os.environ.get("PATH", "")] + list(EXTRA_PATH))
    program = shutil.which(command[0], path=path)
    if program is None:
        return Output(None, "", f"{command[0]} is not installed")
    process = subprocess.Popen(
        [program] + command[1:],
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(os.environ, PATH=path, LC_ALL="C"),
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(stdin or None, timeout=timeout)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):  # it may end in this very moment
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Output(None, "", f"{command[0]} took longer than {timeout} s")
    return Output(process.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))

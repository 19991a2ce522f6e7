# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a setup script under a time limit, with all that it says in a log."""

import os
import shutil
import subprocess
import time
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._process.timed import EXTRA_PATH, kill_group, start_session

LARGEST_OUTPUT = 4 * 1024 * 1024


class ScriptError(Exception):
    """The script could not be started."""


class ScriptRun(NamedTuple):
    """How a script ended. The status is None when it had to be stopped."""

    status: Optional[int]
    output: str


def _started(pid: str) -> str:
    """When a process started, by the kernel's clock; empty for one that ended. Another one can get its number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def wait_for_script(note: str, seconds: float) -> None:
    """Wait for a script that goes on after its module was killed, and raise when it takes too long.

    A lock that it inherits would not do: what the script started and left running would hold that forever.
    """
    deadline = time.monotonic() + seconds
    while os.path.exists(note):
        with open(note, encoding="ascii", errors="replace") as file:
            pid, _space, started = file.read().strip().partition(" ")
        if not pid.isdecimal() or not started or _started(pid) != started:
            return
        if time.monotonic() > deadline:
            raise ScriptError(
                f"the HARP setup script of an earlier run still runs (pid {pid}): run this again when it ended, or stop it"
            )
        time.sleep(0.1)


def run_script(argv: List[str], environment: Dict[str, str], timeout: int, log: str, note: str) -> ScriptRun:
    """Run a script in a process group of its own and end the whole group when it takes too long. The note tells of it meanwhile."""
    path = os.pathsep.join([os.environ.get("PATH", "")] + list(EXTRA_PATH))
    program = shutil.which(argv[0], path=path)
    if program is None:
        raise ScriptError(f"{argv[0]} is not installed on this host: install it, or set interpreter (harp_interpreter)")
    # A file and no pipe: what the script started and left running can't keep us waiting for the end of its output.
    with open(log, "wb") as file:
        os.chmod(log, 0o600)
        process = start_session(
            [program] + argv[1:],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=dict(os.environ, PATH=path, **environment),
        )
        try:
            with open(note, "w", encoding="ascii") as noted:
                noted.write(f"{process.pid} {_started(str(process.pid))}\n")
            status = process.wait(timeout=timeout)  # type: Optional[int]
        except subprocess.TimeoutExpired:
            kill_group(process)
            status = None
        except OSError:
            kill_group(process)
            raise
        if os.path.exists(note):
            os.unlink(note)
    with open(log, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - LARGEST_OUTPUT))
        return ScriptRun(status, file.read().decode("utf-8", "replace"))

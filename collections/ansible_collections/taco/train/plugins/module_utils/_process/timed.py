# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a command that may be missing, may fail and may hang, without any of that being an error."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from typing import Any, Dict, List, NamedTuple, Optional

# Programs of administrators are often not on the path of a shell that nobody logged in to.
EXTRA_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# A killed process that sleeps uninterruptibly, for example in a driver, stays. Nothing waits for it longer than this.
KILLED_SECONDS = 5
# A process that the command started can keep the pipes open after the command has ended.
LINGER_SECONDS = 1
POLL_SECONDS = 0.1
CHUNK = 65536


class Output(NamedTuple):
    """What a command left behind. The status is None when it isn't installed or had to be stopped."""

    status: Optional[int]
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def missing(self) -> bool:
        """Whether the command isn't installed."""
        return self.status is None and not self.timed_out


def start_session(argv: List[str], **options: Any) -> Any:
    """Start a process in a session of its own, which kill_group ends as a whole. Options are those of subprocess.Popen.

    AnsibleModule.run_command has no time limit and waits for the end of the pipes.
    """
    # pylint: disable-next=ansible-bad-function  # it wants run_command, see above
    return subprocess.Popen(argv, start_new_session=True, **options)


def kill_group(process: Any, seconds: float = KILLED_SECONDS) -> None:
    """Kill a process with its group and wait for it, but not for long: one in uninterruptible sleep can't be killed."""
    with contextlib.suppress(OSError):  # it may end in this very moment, or run as another user
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def _write(stream: Any, data: bytes) -> bytes:
    """Write a part of the input and return the rest, which is empty when nobody reads it."""
    try:
        return data[os.write(stream.fileno(), data[:CHUNK]) :]
    except BlockingIOError:
        return data
    except BrokenPipeError:
        return b""


def _exchange(process: Any, stdin: bytes, end: float) -> Dict[Any, bytearray]:
    """Write the input and read both outputs until the command has ended or the time is over.

    Not with C(communicate): that waits for the end of the pipes, which a process in another session can hold open.
    """
    found = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in found:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        if process.stdin:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        lingers = False
        while not all(stream.closed for stream in found):
            if not lingers and process.poll() is not None:
                lingers, end = True, min(end, time.monotonic() + LINGER_SECONDS)
            left = end - time.monotonic()
            if left <= 0:
                break
            for key, _events in selector.select(min(left, POLL_SECONDS)):
                if key.fileobj is process.stdin:
                    stdin = _write(process.stdin, stdin)
                    done = not stdin
                else:
                    data = os.read(key.fd, CHUNK)
                    found[key.fileobj] += data
                    done = not data
                if done:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
    return found


def run_timed(command: List[str], timeout: float, stdin: bytes = b"", folder: Optional[str] = None) -> Output:
    """Run a command in a process group of its own, and end the whole group when it takes too long."""
    path = os.pathsep.join([os.environ.get("PATH", "")] + list(EXTRA_PATH))
    program = shutil.which(command[0], path=path)
    if program is None:
        return Output(None, "", f"{command[0]} is not installed")
    end = time.monotonic() + timeout
    process = start_session(
        [program] + command[1:],
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(os.environ, PATH=path, LC_ALL="C"),
    )
    streams = [stream for stream in (process.stdin, process.stdout, process.stderr) if stream]
    try:
        stdout, stderr = _exchange(process, stdin, end).values()
        # A command can close its output and go on.
        process.wait(timeout=max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Output(None, "", f"{command[0]} took longer than {timeout} s", True)
    finally:
        if process.returncode is None:
            kill_group(process)
        for stream in streams:
            stream.close()
    return Output(process.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))

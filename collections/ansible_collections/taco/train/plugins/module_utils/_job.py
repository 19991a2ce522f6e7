# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Run one command under a time limit, in a process group of its own, with its output in a file."""

import contextlib
import datetime
import errno
import os
import signal
import subprocess
import time
from typing import Any, Dict, List, NamedTuple, Optional

POLL_SECONDS = 0.05
# How long a killed group may take to be gone. One in uninterruptible sleep can't be waited for.
KILLED_SECONDS = 5


class JobError(Exception):
    """The command could not be started."""


class Finished(NamedTuple):
    """How a command ended."""

    rc: int
    timed_out: bool
    started: str
    ended: str
    duration: float


class Stopped(Exception):
    """A signal asked this process to end."""


def read_shortened(path: str, size: int) -> str:
    """Return what a file holds, without its middle when it is longer than `size`, and never all of it in memory."""
    half = size // 2
    with open(path, "rb") as stream:
        total = os.fstat(stream.fileno()).st_size
        if total <= size:
            return stream.read().decode("utf-8", "replace")
        head = stream.read(half)
        stream.seek(total - half)
        tail = stream.read(half)
    marker = f"\n[... {total - 2 * half} bytes left out here, whole in {path} ...]\n"
    return (head + marker.encode() + tail).decode("utf-8", "replace")


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, as another user
        return True
    return True


def signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def wait_for_group(process: Any, group: int, seconds: float) -> bool:
    """Return whether the whole group is gone in time; also take the leader's exit status, or it would stay a zombie."""
    end = time.monotonic() + seconds
    while True:
        process.poll()
        if not group_lives(group):
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(POLL_SECONDS)


def end_group(process: Any, grace: float) -> None:
    """End the command and everything it started: politely, then not."""
    group = process.pid
    signal_group(group, signal.SIGTERM)
    if not wait_for_group(process, group, grace):
        signal_group(group, signal.SIGKILL)
        wait_for_group(process, group, KILLED_SECONDS)


def stop_on_signal(number: int, frame: Any) -> None:
    raise Stopped(f"signal {int(number)}")


def start(argv: List[str], log: Any, chdir: Optional[str], environment: Dict[str, str]) -> Any:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=chdir,
            env=dict(os.environ, **environment),
            start_new_session=True,
        )
    except OSError as error:
        # The system names the program in all cases but that of a missing folder.
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and chdir and not os.path.isdir(chdir):
            raise JobError(f"The folder {chdir} to run {argv[0]} in does not exist.") from error
        raise JobError(f"Can't run {argv[0]}: {error.strerror}.") from error


def run(argv: List[str], timeout: float, grace: float, log: Any, chdir: Optional[str] = None, environment: Any = None):
    """Run the command to its end, or end it and all it started when time is up or this process is asked to end."""
    kept = {number: signal.signal(number, stop_on_signal) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    process = None
    try:
        started, begun = now(), time.monotonic()
        process = start(argv, log, chdir, environment or {})
        timed_out = False
        try:
            process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            end_group(process, grace)
        return Finished(process.poll(), timed_out, started, now(), time.monotonic() - begun)
    except Stopped:
        if process is not None:
            for number in kept:
                signal.signal(number, signal.SIG_IGN)
            end_group(process, grace)
        raise
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run one command under a time limit, in a session of its own, with its output in a file."""

import contextlib
import datetime
import errno
import os
import select
import signal
import subprocess
import time
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._process.timed import kill_group, start_session

POLL_SECONDS = 0.05
# How long a killed session may take to be gone. One in uninterruptible sleep can't be waited for.
KILLED_SECONDS = 5
# How long ending a command elsewhere may take, such as asking an engine to reach into a container.
END_SECONDS = 10


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


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def session_members(session: int) -> List[int]:
    """Return the processes of a session. mpirun gives each of its ranks a group of its own, so a group is too little."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            # One may end while it is looked at.
            with contextlib.suppress(OSError):
                with open("/proc/" + name + "/stat", "rb") as stream:
                    # A program's name may hold spaces and parentheses; the last one ends it.
                    state, _parent, _group, member_of = stream.read().rpartition(b")")[2].split()[:4]
                if int(member_of) == session and state not in (b"Z", b"X"):
                    found.append(int(name))
    return found


def wait_for_session(process: Any, seconds: float) -> bool:
    """Return whether all of the session is gone in time; also take the leader's exit status."""
    end = time.monotonic() + seconds
    while True:
        process.poll()
        if not session_members(process.pid):
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(POLL_SECONDS)


def end_elsewhere(argv: Optional[List[str]]) -> None:
    """Run what ends the part of a command that signals don't reach. That it can't is no reason to spare the rest."""
    if not argv:
        return
    with contextlib.suppress(OSError):
        process = start_session(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            kill_group(process, KILLED_SECONDS)


def end_session(process: Any, grace: float, end_argv: Optional[List[str]] = None) -> None:
    """End the command and everything it started: politely, then not.

    SIGTERM is sent once, and to the command's group only: mpirun ends its ranks at the first, and at a second within
    five seconds gives up on them and leaves them running.
    """
    end_elsewhere(end_argv)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + grace + KILLED_SECONDS
    over = wait_for_session(process, grace)
    # More than once, for what one of them starts while the others are being killed.
    while not over and time.monotonic() < end:
        for pid in session_members(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        over = wait_for_session(process, POLL_SECONDS)


def nobody_listens() -> bool:
    """Return whether the reader of this process's output is gone. Without a terminal no signal says so."""
    poller = select.poll()
    poller.register(1, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _descriptor, event in poller.poll(0))


def wait(process: Any, seconds: float) -> None:
    """Wait for the command; raise TimeoutExpired when the time is up, Stopped when the controller is gone."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        try:
            process.wait(timeout=max(0, min(1, left)))
            return
        except subprocess.TimeoutExpired:
            if left <= 1:
                raise
        if nobody_listens():
            raise Stopped("the end of its connection")


def stop_on_signal(number: int, frame: Any) -> None:
    raise Stopped(f"signal {int(number)}")


def start(argv: List[str], log: Any, chdir: Optional[str], environment: Dict[str, str]) -> Any:
    try:
        return start_session(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=chdir,
            env=dict(os.environ, **environment),
        )
    except OSError as error:
        # The system names the program in all cases but that of a missing folder.
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and chdir and not os.path.isdir(chdir):
            raise JobError(f"The folder {chdir} to run {argv[0]} in does not exist.") from error
        raise JobError(f"Can't run {argv[0]}: {error.strerror}.") from error


def run(
    argv: List[str],
    timeout: float,
    grace: float,
    log: Any,
    chdir: Optional[str] = None,
    environment: Any = None,
    end_argv: Optional[List[str]] = None,
) -> Finished:
    """Run the command to its end, or end it and all it started when time is up, or this process or its reader goes away."""
    kept = {number: signal.signal(number, stop_on_signal) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    process = None
    try:
        started, begun = now(), time.monotonic()
        process = start(argv, log, chdir, environment or {})
        timed_out = False
        try:
            wait(process, timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            end_session(process, grace, end_argv)
        return Finished(process.poll(), timed_out, started, now(), time.monotonic() - begun)
    except Stopped:
        if process is not None:
            for number in kept:
                signal.signal(number, signal.SIG_IGN)
            end_session(process, grace, end_argv)
        raise
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)

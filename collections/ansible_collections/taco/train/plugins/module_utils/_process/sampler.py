# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take samples in a process of its own, which outlives the connection, until it is stopped, the run has ended or its time is over.

The process runs as long as its file exists. Each sample replaces the content of the file, so that whatever ends the process, the last
sample is there.
"""

import contextlib
import fcntl
import json
import os
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional

FILE = "samples.json"
LARGEST = 4 << 20
# The part of the time up to now after which the next sample follows, at least and at most so many seconds: the connections of a short
# run must have two samples.
PART = 0.2
FIRST_SECONDS = 1.0
SECONDS = 5.0
POLL_SECONDS = 0.5
MOST_DESCRIPTORS = 1024
# Ranks of a run end within so many seconds.
IDLE_SECONDS = 10.0

# Called for each sample: returns everything that is known up to now.
Sample = Callable[[], Dict[str, Any]]


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Keep another process from writing the file between a look at it and a write."""
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: str, content: Dict[str, Any]) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".samples-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.replace(temporary, path)


def _token(path: str) -> Optional[str]:
    """The token of the process that may write the file, None when there is no file."""
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.loads(file.read(LARGEST)).get("token"))
    except (OSError, ValueError, AttributeError):
        return None


def pause_after(seconds: float) -> float:
    """The time to the next sample, so many seconds after the start."""
    return min(SECONDS, max(FIRST_SECONDS, PART * seconds))


class Run(NamedTuple):
    """The run to be sampled: whether it is active on this host, and the seconds within which it starts."""

    is_active: Callable[[], bool]
    start_seconds: float


def take(path: str, token: str, sample: Sample, end: float, run: Optional[Run] = None) -> None:
    """Take samples until the file is gone, or is another process's, or the run has ended, or the time is over."""
    start = time.monotonic()
    idle_end = start + run.start_seconds if run else end
    while time.monotonic() < min(end, idle_end):
        due = time.monotonic() + pause_after(time.monotonic() - start)
        while time.monotonic() < due:
            time.sleep(POLL_SECONDS)
            if not os.path.exists(path):
                return
        content = dict(sample(), token=token)
        with _locked(path):
            if _token(path) != token:
                return
            _write(path, content)
        if run and run.is_active():
            idle_end = time.monotonic() + IDLE_SECONDS


def start(folder: str, sample: Sample, seconds: float, run: Optional[Run] = None) -> None:
    """Start the process. An earlier one of the same folder ends."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, FILE)
    token = f"{os.getpid()}-{time.time()}"
    with _locked(path):
        # Where the disk is full, the samples of an earlier run must not be taken for those of this one.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        _write(path, {"token": token})
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    # Whatever happens here must not go on as a second module.
    try:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            # Whoever reads a pipe of the module must see its end.
            os.closerange(3, MOST_DESCRIPTORS)
            os.chdir("/")
            os.nice(10)
            take(path, token, sample, time.monotonic() + seconds, run)
    finally:
        os._exit(0)


def stop(folder: str) -> Dict[str, Any]:
    """Stop the process and return its last sample, empty when there is none."""
    path = os.path.join(folder, FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError):
        found = {}
    with contextlib.suppress(OSError), _locked(path):
        os.unlink(path)
    return {name: value for name, value in found.items() if name != "token"} if isinstance(found, dict) else {}

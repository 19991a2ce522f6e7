# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run one command as a control node and say what it cost: time, processor time and memory.

Only what the command started counts: hosts are no children of it. The SSH connections that it shares go on in the background
when it ends; as the bench is process 1 of its world they become its children, are ended, and their time is counted too.
"""

import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Dict, List, NamedTuple

SAMPLE_SECONDS = 0.5
# To look takes processor time from what is measured, the more the more hosts there are: at most a twentieth of one core.
REST = 20


class Measured(NamedTuple):
    """What a command cost and printed."""

    status: int
    wall: float
    cpu: float
    memory: int  # bytes at the highest, 0 where the command ended before a look
    output: str


def parents() -> Dict[int, List[int]]:
    """Return {process: its children}."""
    found: Dict[int, List[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            found.setdefault(parent_in(stat), []).append(int(entry))
    return found


def parent_in(stat: str) -> int:
    """Return the parent in the text of /proc/PID/stat, whose second field may hold spaces and brackets."""
    return int(stat.rpartition(")")[2].split()[1])


def proportional_bytes(rollup: str) -> int:
    """Return the memory in the text of smaps_rollup. Pages that processes share are divided between them."""
    match = re.search(r"(?m)^Pss:\s+(\d+) kB$", rollup)
    return int(match.group(1)) * 1024 if match else 0


def below(first: int, children: Dict[int, List[int]]) -> List[int]:
    """Return a process and all that descend from it."""
    found, todo = [], [first]
    while todo:
        one = todo.pop()
        found.append(one)
        todo.extend(children.get(one, []))
    return found


def is_client(pid: int) -> bool:
    """Say whether a process is a client of SSH."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "ssh"
    except OSError:
        return False


def memory_now(pid: int) -> int:
    """Return the memory of a command, of all that it started and of the connections that it shares."""
    children = parents()
    shared = [one for one in children.get(os.getpid(), []) if one != pid and is_client(one)]
    total = 0
    for one in below(pid, children) + shared:
        try:
            total += proportional_bytes(Path(f"/proc/{one}/smaps_rollup").read_text())
        except OSError:
            continue
    return total


def end_connections() -> float:
    """End the connections in the background and return the processor time that they took."""
    spent = 0.0
    for pid in [one for one in parents().get(os.getpid(), []) if is_client(one)]:
        os.kill(pid, signal.SIGTERM)
        _pid, _status, usage = os.wait4(pid, 0)
        spent += usage.ru_utime + usage.ru_stime
    return spent


def measure(command: List[str], environment: Dict[str, str], folder: Path, log: Path) -> Measured:
    """Run a command and return what it cost."""
    highest, done = [0], threading.Event()

    def watch(pid):
        pause = SAMPLE_SECONDS
        while not done.wait(pause):
            began = time.monotonic()
            highest[0] = max(highest[0], memory_now(pid))
            pause = max(SAMPLE_SECONDS, REST * (time.monotonic() - began))

    with open(log, "wb") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=environment, cwd=str(folder), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        watcher = threading.Thread(target=watch, args=(process.pid,))
        watcher.start()
        _pid, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    cpu = usage.ru_utime + usage.ru_stime + end_connections()
    text = log.read_text(encoding="utf-8", errors="replace")
    return Measured(process.returncode, wall, cpu, highest[0], text)

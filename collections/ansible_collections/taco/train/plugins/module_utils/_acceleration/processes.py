# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The launchers and ranks that run in a worker, from its own /proc. Runs in the worker and changes nothing.

A worker has other processes than these (its init, SSH sessions, this program), so a process counts only by its program or by the
variables that a launcher sets. Where workers share a namespace of processes, only those count that see the same folders.
"""

import contextlib
import fcntl
import os
import time
from typing import List, Optional, Sequence, Set

from ansible_collections.taco.train.plugins.module_utils._process.idle import SHELLS, is_idle
from ansible_collections.taco.train.plugins.module_utils._process.running_work import Work, with_owner

PROC = "/proc"
# In a training container: the file that a benchmark locks while it runs there, and the file with its process id.
LOCK, PID_FILE = "/tmp/taco-train.lock", "/tmp/taco-train.pid"
LAUNCHERS = (
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "hydra_pmi_proxy",
    "orterun",
    "orted",
    "prterun",
    "prte",
    "prted",
    "horovodrun",
    "torchrun",
)
# Set for each rank, by Open MPI, MPICH, Horovod and PyTorch.
RANK_VARIABLES = (b"OMPI_COMM_WORLD_RANK", b"PMIX_RANK", b"PMI_RANK", b"HOROVOD_RANK", b"TORCHELASTIC_RUN_ID")
POLL_SECONDS = 0.5


def is_launcher(arguments: Sequence[str]) -> bool:
    """Whether a command line is that of a launcher, also of one that is a script."""
    words = [os.path.basename(word) for word in arguments]
    if words and (words[0] in SHELLS or words[0].startswith("python")):
        words = [word for word in words[1:] if not word.startswith("-")]
    return bool(words) and words[0] in LAUNCHERS


def is_rank(environment: bytes) -> bool:
    """Whether an environment, as in /proc/PID/environ, holds a variable that a launcher sets for each rank."""
    return any(one.split(b"=", 1)[0] in RANK_VARIABLES for one in environment.split(b"\0"))


def _read(pid: int, name: str) -> bytes:
    """The content of a file of a process, empty when it has ended or belongs to another user."""
    try:
        with open(os.path.join(PROC, str(pid), name), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _arguments(pid: int) -> List[str]:
    return [word for word in _read(pid, "cmdline").decode("utf-8", "replace").split("\0") if word]


def _own() -> Set[int]:
    """This process and those that it descends from."""
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        # The name of the program is in parentheses and may hold anything.
        fields = _read(pid, "stat").rpartition(b")")[2].split()
        pid = int(fields[1]) if len(fields) > 1 else 0
    return found


def _sees(pid: int, folders: Sequence[str]) -> bool:
    """Whether one of the folders is the same one for a process. One that may not be inspected is taken to see it."""
    for folder in folders:
        path = os.path.realpath(folder)
        try:
            if os.path.samestat(os.stat(os.path.join(PROC, str(pid), "root") + path), os.stat(path)):
                return True
        except PermissionError:
            return True
        except OSError:
            continue
    return False


def _is_locked() -> bool:
    try:
        with open(LOCK, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # there is no such file, so no benchmark has run here
    return False


def _benchmark(place: str) -> List[Work]:
    """The benchmark that holds the lock of this worker."""
    if not _is_locked():
        return []
    pid: Optional[int] = None
    with contextlib.suppress(OSError, ValueError):  # it has only just begun
        with open(PID_FILE) as note:
            pid = int(note.read())
    return [with_owner(Work(pid, "", "a benchmark", place))]


def _processes(folders: Sequence[str], place: str) -> List[Work]:
    """The launchers and ranks that see one of the folders."""
    own = _own()
    found = []
    for pid in sorted(int(name) for name in os.listdir(PROC) if name.isdecimal()):
        arguments = _arguments(pid)
        if pid in own or is_idle(arguments):
            continue
        if (is_launcher(arguments) or is_rank(_read(pid, "environ"))) and _sees(pid, folders):
            found.append(with_owner(Work(pid, "", " ".join(arguments), place)))
    return found


def worker_work(folders: Sequence[str], place: str, seconds: float) -> List[Work]:
    """What runs in a worker and sees one of the folders. What ends within the seconds, as after a run, doesn't count."""
    deadline = time.monotonic() + seconds
    while True:
        found = _processes(folders, place)
        known = [one.pid for one in found]
        found += [one for one in _benchmark(place) if one.pid not in known]
        if not found or time.monotonic() >= deadline:
            return found
        time.sleep(POLL_SECONDS)

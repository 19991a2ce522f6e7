# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ranks and benchmarks that run on a host, also in its containers, from /proc."""

import os

# The file that a benchmark locks in the training container while it runs there. It is in the command line of the program that locks it.
LOCK = "/tmp/taco-train.lock"
# Set for each rank, by Open MPI of all versions.
RANK_VARIABLES = (b"OMPI_COMM_WORLD_RANK", b"PMIX_RANK")


def _read(pid: str, name: str) -> bytes:
    """The content of a file of a process, empty when it has ended or belongs to another user."""
    try:
        with open(os.path.join("/proc", pid, name), "rb") as file:
            return file.read()
    except OSError:
        return b""


def is_rank(environment: bytes) -> bool:
    """Whether an environment, as in /proc/PID/environ, holds a variable that mpirun sets for each rank."""
    return any(one.split(b"=", 1)[0] in RANK_VARIABLES for one in environment.split(b"\0"))


def run_is_active() -> bool:
    """Whether a rank, or the program that holds the lock of a benchmark, runs on this host."""
    lock = LOCK.encode("ascii")
    for pid in os.listdir("/proc"):
        if pid.isdecimal() and (is_rank(_read(pid, "environ")) or lock in _read(pid, "cmdline").split(b"\0")):
            return True
    return False

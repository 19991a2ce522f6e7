# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lock of a search: one playbook at a time runs its rounds.

Each task of a playbook is a process of its own, so the lock is a file with the identity of the playbook's process. It is released when
that process ends, however it ends.
"""

import fcntl
import json
import multiprocessing
import os
import socket
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError

FILE = "locate.lock"


def playbook() -> int:
    """The process of the playbook: the one that started this task, or this process itself."""
    parent = multiprocessing.parent_process()
    return os.getpid() if parent is None or parent.pid is None else parent.pid


def _started(pid: int) -> Optional[str]:
    """When a process began, in ticks since boot; None if it has ended. Without /proc, "" stands for each time."""
    if not os.path.isdir("/proc/self"):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass
        return ""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            # A program's name may contain spaces and parentheses; the last one ends it.
            fields = stream.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ("Z", "X") else fields[19]


def _held(holder: Dict[str, Any], own: Dict[str, Any]) -> bool:
    """Whether another playbook has the lock. Whether a process of another controller has ended can't be seen here."""
    if holder == own or not holder:
        return False
    return holder.get("controller") != own["controller"] or _started(int(holder["pid"])) == holder.get("started")


def acquire(run_dir: str, pid: int, write: bool = True) -> None:
    """Take the lock of a search for the process of a playbook, or raise who has it. Without write it is only checked."""
    path = os.path.join(run_dir, FILE)
    own = {"controller": socket.gethostname(), "pid": pid, "started": _started(pid)}
    if not write and not os.path.exists(path):
        return
    try:
        with open(path, "a+" if write else "r", encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            stream.seek(0)
            holder = _holder(stream.read())
            if _held(holder, own):
                raise SearchError(
                    f"The process {holder['pid']} on {holder['controller']} runs the search in {run_dir}. Wait until it has ended, or "
                    f"begin another search with locate_fresh: true. If it has ended and this message stays, delete {path}."
                )
            if write:
                stream.truncate(0)
                stream.write(json.dumps(own))
    except OSError as error:
        raise SearchError(
            f"{path} can't be locked: {error}. Check the permissions of the folder, or set taco_results_dir."
        ) from error


def _holder(text: str) -> Dict[str, Any]:
    """The identity in a lock file, empty if it is none, as after a full disk."""
    try:
        value = json.loads(text)
        return dict(value, pid=int(value["pid"]), controller=str(value["controller"]))
    except (ValueError, TypeError, KeyError):
        return {}

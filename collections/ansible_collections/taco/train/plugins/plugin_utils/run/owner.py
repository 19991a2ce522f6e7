# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The identity of a running playbook, as a lock contains it, and whether the playbook of a lock has ended.

Each task of a playbook is a process of its own, so the identity is that of the playbook's process.
"""

import json
import multiprocessing
import os
import socket
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._files.owner_lock import is_same


def playbook() -> int:
    """The process of the playbook: the one that started this task, or this process itself."""
    parent = multiprocessing.parent_process()
    return os.getpid() if parent is None or parent.pid is None else parent.pid


def identity(pid: int) -> Dict[str, Any]:
    """What identifies the process of a playbook on all controllers."""
    return {"controller": socket.gethostname(), "system": _system(), "pid": pid, "started": _started(pid)}


def is_of_another(holder: Dict[str, Any], own: Dict[str, Any]) -> bool:
    """Whether another playbook has the lock. Whether a process of another controller has ended can't be seen here."""
    if not holder or is_same(holder, own):
        return False
    elsewhere = any(holder.get(name, own[name]) != own[name] for name in ("controller", "system"))
    return elsewhere or _started(int(holder["pid"])) == holder.get("started")


def parse(text: str) -> Dict[str, Any]:
    """The identity in a lock file, empty if it is none, as after a full disk."""
    try:
        value = json.loads(text)
        return dict(value, pid=int(value["pid"]), controller=str(value["controller"]))
    except (ValueError, TypeError, KeyError):
        return {}


def _system() -> str:
    """The boot and the namespace that a process number belongs to; empty without /proc. Two controllers can have the same name."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return f"{stream.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lock of a host that outlives a module and a reboot: a file in the state folder with the owner as JSON.

Who the owner is, and whether it has ended, is decided on the controller.
"""

import json
import os
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, held, parents
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import PLAN_LOCK, removable, remove

Owner = Dict[str, Any]
# What identifies the process of a playbook on all controllers.
IDENTITY = ("controller", "system", "pid", "started")
ATTEMPTS = 10
WHAT = "changing this host"


def lock_path(state_dir: str) -> str:
    """The file of the lock."""
    return os.path.join(state_dir, PLAN_LOCK)


def owner_of(state_dir: str) -> Optional[Owner]:
    """The owner of the lock, None where there is none. A file that names no owner, as after a full disk, is no lock."""
    data = read_bytes(lock_path(state_dir))
    try:
        found = json.loads(data.decode("utf-8")) if data else None
    except (ValueError, RecursionError):
        return None
    return found if found and isinstance(found, dict) else None


def is_same(owner: Owner, other: Optional[Owner]) -> bool:
    """Whether two owners are the same playbook, whatever else is known of them."""
    return other is not None and all(owner.get(name) == other.get(name) for name in IDENTITY)


def other_owner(state_dir: str, own: Owner, ended: Optional[Owner] = None) -> Optional[Owner]:
    """The owner of the lock that is neither this playbook nor one that has ended."""
    owner = owner_of(state_dir)
    return None if owner is None or is_same(owner, own) or is_same(owner, ended) else owner


def acquire(state_dir: str, own: Owner, ended: Optional[Owner] = None) -> Optional[Owner]:
    """Take the lock, also from an owner that has ended. Returns the other owner where there is one, and writes nothing then."""
    for attempt in reversed(range(ATTEMPTS)):
        try:
            CreatedFolders(state_dir).make_state_dir()
            with held(state_dir, 10, WHAT):
                other = other_owner(state_dir, own, ended)
                if other is None:
                    replace_file(lock_path(state_dir), json.dumps(own).encode("utf-8") + b"\n")
                return other
        except FileNotFoundError:
            # Another playbook released its lock, and the folder with it.
            if not attempt:
                raise
    return None


def release(state_dir: str, own: Owner) -> None:
    """Remove the lock if it is one's own, and the state folder if it was created for the lock alone."""
    if not is_same(own, owner_of(state_dir)):
        return
    folders = CreatedFolders(state_dir)
    known = folders.load()
    # The lock is in the folder until the folder is removed, so that no other playbook takes it meanwhile.
    if known and set(known) <= set(parents(os.path.normpath(state_dir))) and removable(folders):
        remove(folders)
    # Meanwhile another run may have put something into the folder, which then stays.
    if is_same(own, owner_of(state_dir)):
        remove_file(lock_path(state_dir))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove the folders that runs created, the state folder and its index last. A run that is killed goes on from there."""

import os
import re
from typing import Iterable, List

from ansible_collections.taco.train.plugins.module_utils._files.atomic import remove_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import (
    COPIES,
    FORMER_RECORD,
    RECORD,
    CreatedFolders,
    is_copy,
    parents,
    unfinished_folder,
)

PLAN_LOCK, FORMER_LOCK = "plan.lock", "hugepages.lock"  # the latter of 1.0 and 1.1
# The files in the state folder that are nobody else's, and of no use once everything else is gone.
OWN_FILES = (RECORD, FORMER_RECORD, FORMER_LOCK, PLAN_LOCK)
UNFINISHED = re.compile(r".*/\.[^/]+\.[0-9]+\.tmp")  # what a kill left of a file that was being written


def _only_ours(folders: CreatedFolders) -> bool:
    """Tell whether the state folder holds nothing but its own files, unfinished ones, and folders without others."""
    if folders.index()["subjects"]:
        return False
    state_dir = folders.real(folders.state_dir)
    own = [os.path.join(state_dir, name) for name in OWN_FILES]
    for folder, inner, names in os.walk(state_dir):
        if any(os.path.islink(os.path.join(folder, name)) for name in inner):
            return False
        in_copies = folder == os.path.join(state_dir, COPIES)
        for path in (os.path.join(folder, name) for name in names):
            is_known = is_copy(path) if in_copies else path in own or UNFINISHED.fullmatch(path)
            if not is_known:
                return False
    return True


def _with_state_folder(folders: CreatedFolders, known: Iterable[str], gone: List[str]) -> List[str]:
    """List the folders that go with the state folder and after others: itself and those that hold nothing else, the innermost first."""
    leaving = []  # type: List[str]
    for path in reversed(parents(folders.state_dir)):
        if path not in known or not (folders.is_empty(path, leaving + gone) if leaving else _only_ours(folders)):
            break
        leaving.append(path)
    return leaving


def removable(folders: CreatedFolders) -> List[str]:
    """List the folders that runs created and that hold nothing any more, in the order of their removal."""
    known = folders.load()
    emptied = folders.emptied(known)
    return emptied + _with_state_folder(folders, known, emptied)


def remove(folders: CreatedFolders) -> List[str]:
    """Remove what removable lists, and the record last."""
    folders.clear_unfinished()
    if not os.path.isdir(folders.real(folders.state_dir)):
        return []
    try:
        with folders.locked():
            return _remove(folders)
    except FileNotFoundError:
        # Another run removed it meanwhile.
        if os.path.isdir(folders.real(folders.state_dir)):
            raise
        return []


def _remove(folders: CreatedFolders) -> List[str]:
    known = folders.load()
    leaving = folders.remove_empty(known)
    last = _with_state_folder(folders, known, leaving)
    if last:
        path = folders.real(last[-1])
        with folders.held_around(path):
            os.rename(path, unfinished_folder(path))
        folders.clear_unfinished()
    elif folders.state_dir in known:
        # Somebody else's files are in it: it goes when they are gone.
        folders.save(dict(folders.index(), created=sorted(set(known) & set(parents(folders.state_dir)))))
    else:
        folders.save(dict(folders.index(), created=[]))
        for name in (FORMER_LOCK, PLAN_LOCK):
            remove_file(os.path.join(folders.real(folders.state_dir), name))
    return leaving + last

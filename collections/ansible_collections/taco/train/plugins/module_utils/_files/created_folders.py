# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Record which folders a host lacks before they are created, so that they can be removed again, also after a kill.

The record is a file in the state folder and lasts before the first folder is created. The state folder appears together with it.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import time
from typing import Iterable, Iterator, List

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    read_bytes,
    remove_file,
    replace_file,
    sync_folder,
)
from ansible_collections.taco.train.plugins.module_utils._files.move import unfinished_copy

RECORD = "folders.json"
VERSION = 1
PLAN_LOCK = "plan.lock"
# The files in the state folder that are nobody else's, and of no use once everything else is gone.
OWN_FILES = (RECORD, "hugepages.lock", PLAN_LOCK)
# What a kill left of a file that was being written.
_UNFINISHED = re.compile(r"\..+\.[0-9]+\.tmp")


class FoldersError(Exception):
    """The record can't be read or used."""


def parents(path: str) -> List[str]:
    """List a folder and those that it is in, the outermost first."""
    found = []  # type: List[str]
    while path not in ("/", ""):
        found.insert(0, path)
        path = os.path.dirname(path)
    return found


def parse_record(data: bytes, name: str) -> List[str]:
    """Read the folders from the bytes of a record."""
    try:
        known = json.loads(data.decode("utf-8"))
        if known["version"] == VERSION and all(isinstance(path, str) for path in known["created"]):
            return list(known["created"])
    except (ValueError, KeyError, TypeError):
        pass
    raise FoldersError(
        f"{name} can't be read, so it is unknown which folders existed before the first run: remove {name}; folders that runs "
        "created until now then stay"
    )


def record_bytes(created: Iterable[str]) -> bytes:
    return json.dumps({"version": VERSION, "created": sorted(set(created))}, indent=1).encode("utf-8") + b"\n"


def removal_order(created: Iterable[str], state_dir: str) -> List[str]:
    """Order the folders to remove, the innermost first, without the state folder and those that it is in."""
    kept = parents(state_dir)
    return sorted((path for path in set(created) if path not in kept), key=lambda path: (-path.count("/"), path))


@contextlib.contextmanager
def held(folder: str, seconds: float, what: str) -> Iterator[None]:
    """Hold a lock on a folder that exists, and wait for whoever holds it; what says what that one does."""
    deadline = time.monotonic() + seconds
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        while not _locked(descriptor):
            if time.monotonic() > deadline:
                raise FoldersError(
                    f"another run has been {what} for {seconds:.0f} s ({folder} is locked); run this again when it ended"
                )
            time.sleep(0.1)
        # Who held the lock may have removed the folder, and another run may have created it again.
        again = not os.path.samestat(os.fstat(descriptor), os.stat(folder))
        if not again:
            yield
    finally:
        os.close(descriptor)
    if again:
        with held(folder, deadline - time.monotonic(), what):
            yield


def _locked(descriptor: int) -> bool:
    """Take the lock of a folder, False where another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


class CreatedFolders:
    """The folders that runs created on a host; root is put before every path."""

    def __init__(self, state_dir: str, root: str = "/") -> None:
        self.state_dir, self.root = os.path.normpath(state_dir), root

    def _real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def _record(self) -> str:
        return os.path.join(self._real(self.state_dir), RECORD)

    def _missing(self, path: str) -> List[str]:
        return [one for one in parents(os.path.normpath(path)) if not os.path.lexists(self._real(one))]

    def load(self) -> List[str]:
        data = read_bytes(self._record())
        return [] if data is None else parse_record(data, self._record())

    def make_state_dir(self) -> None:
        """Create the state folder where it is missing, in one step with the record that says so."""
        missing = self._missing(self.state_dir)
        if not missing:
            return
        around = os.path.dirname(self._real(missing[0]))
        with held(around, 10, "creating " + self.state_dir):
            missing = self._missing(self.state_dir)
            if not missing:
                return
            top = self._real(missing[0])
            unfinished = unfinished_copy(top)
            if os.path.lexists(unfinished):
                shutil.rmtree(unfinished)
            inner = unfinished + self._real(self.state_dir)[len(top) :]
            os.makedirs(inner, 0o755)
            replace_file(os.path.join(inner, RECORD), record_bytes(missing), mode=0o600)
            os.rename(unfinished, top)
            sync_folder(around)

    def record(self, paths: Iterable[str]) -> None:
        """Record, before they are created, which of the folders and of those that they are in the host lacks."""
        self.make_state_dir()
        with held(self._real(self.state_dir), 10, "recording folders"):
            known = self.load()
            missing = {one for path in paths for one in self._missing(path)}
            if missing - set(known):
                replace_file(self._record(), record_bytes(missing | set(known)), mode=0o600)

    def make(self, path: str, mode: int = 0o755) -> None:
        """Create a folder, recorded before."""
        self.record([path])
        os.makedirs(self._real(path), mode, exist_ok=True)

    def _is_empty(self, path: str, leaving: Iterable[str] = ()) -> bool:
        """Tell whether a folder will hold nothing once others, which are inside, are removed."""
        real = self._real(path)
        if os.path.islink(real) or not os.path.isdir(real):
            return False
        return all(os.path.join(path, name) in leaving for name in os.listdir(real))

    def _only_ours(self) -> bool:
        """Tell whether the state folder holds nothing but its own files, unfinished ones, and folders without others."""
        state_dir = self._real(self.state_dir)
        own = [os.path.join(state_dir, name) for name in OWN_FILES]
        for folder, folders, names in os.walk(state_dir):
            if any(os.path.islink(os.path.join(folder, name)) for name in folders):
                return False
            if any(os.path.join(folder, name) not in own and not _UNFINISHED.fullmatch(name) for name in names):
                return False
        return True

    def _top(self, known: Iterable[str]) -> List[str]:
        """List the folders that go with the state folder: itself and those that hold nothing else; the outermost first."""
        top = []  # type: List[str]
        for path in reversed(parents(self.state_dir)):
            if path not in known or not (self._only_ours() if not top else self._is_empty(path, top)):
                break
            top.insert(0, path)
        return top

    def removable(self) -> List[str]:
        """List the folders that runs created and that hold nothing any more, in the order of their removal."""
        known, leaving = self.load(), []  # type: List[str], List[str]
        for path in removal_order(known, self.state_dir):
            if self._is_empty(path, leaving):
                leaving.append(path)
        return leaving + list(reversed(self._top(known)))

    def remove(self) -> List[str]:
        """Remove what removable lists, and the record last. A run that is killed goes on from there."""
        if not os.path.isdir(self._real(self.state_dir)):
            missing = self._missing(self.state_dir)
            unfinished = unfinished_copy(self._real(missing[0])) if missing else ""
            if missing and os.path.lexists(unfinished):
                shutil.rmtree(unfinished)
            return []
        try:
            with held(self._real(self.state_dir), 10, "recording folders"):
                return self._remove()
        except FileNotFoundError:
            # Another run removed it meanwhile.
            if os.path.isdir(self._real(self.state_dir)):
                raise
            return []

    def _remove(self) -> List[str]:
        leaving, known = self.removable(), self.load()
        top = self._top(known)
        for path in [path for path in leaving if path not in top]:
            os.rmdir(self._real(path))
        if top:
            unfinished = unfinished_copy(self._real(top[0]))
            # Who creates the state folder holds this lock.
            with held(os.path.dirname(unfinished), 10, "creating " + self.state_dir):
                if os.path.lexists(unfinished):
                    shutil.rmtree(unfinished)
                os.rename(self._real(top[0]), unfinished)
                shutil.rmtree(unfinished)
        elif self.state_dir in known:
            # Somebody else's files are in it: it goes when they are gone.
            replace_file(self._record(), record_bytes(set(known) & set(parents(self.state_dir))), mode=0o600)
        else:
            for name in reversed(OWN_FILES):
                remove_file(os.path.join(self._real(self.state_dir), name))
        return leaving

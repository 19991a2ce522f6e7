# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The index of the journal of a host, its lock, and the folders that runs created, so that they can be removed again, also after a kill.

The index is a file in the state folder and lasts before the first folder is created. The state folder appears together with it.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import time
from typing import Any, ContextManager, Dict, Iterable, Iterator, List, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    digest,
    naming,
    read_bytes,
    remove_file,
    replace_file,
    require_room,
    sync_folder,
)

RECORD, VERSION = "journal.json", 2
LOCK_SECONDS = 60
FORMER_RECORD = "folders.json"  # of 1.0 and 1.1
COPIES = "originals"  # of files, each with its checksum as the name
_COPY = re.compile(r"[0-9a-f]{64}|\.[0-9a-f]{64}\.[0-9]+\.tmp")


class FoldersError(Exception):
    """The record can't be read or used."""


def parents(path: str) -> List[str]:
    """List a folder and those that it is in, the outermost first."""
    if path in ("/", ""):
        return []
    return [*parents(os.path.dirname(path)), path]


def parse_index(data: bytes, name: str) -> Dict[str, Any]:
    """Read the bytes of an index: the created folders, and for each subject what it changed."""
    try:
        known = json.loads(data.decode("utf-8"))
        created, subjects = known["created"], known.get("subjects", {})
        is_known = known["version"] == (1 if name.endswith(FORMER_RECORD) else VERSION)
        CreatedFolders.copies(subjects)  # raises for what is no part of a subject
        if is_known and all(isinstance(path, str) for path in created):
            return {"created": list(created), "subjects": subjects}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise FoldersError(
        f"{name} can't be read, so what was there before is unknown: move it away to start anew; files and folders that runs changed or "
        "created until now then stay as they are"
    )


def index_bytes(created: Iterable[str], subjects: Dict[str, Any]) -> bytes:
    index = {"version": VERSION, "created": sorted(set(created)), "subjects": subjects}
    return json.dumps(index, indent=1, sort_keys=True).encode("utf-8") + b"\n"


def is_copy(path: str) -> bool:
    """Tell whether a file in the folder of the copies is one: its name is the checksum of its content. Others' files are not."""
    name = os.path.basename(path)
    regular = os.path.isfile(path) and not os.path.islink(path)
    return regular and bool(_COPY.fullmatch(name)) and (name[0] == "." or digest(read_bytes(path)) == name)


def unfinished_folder(path: str) -> str:
    """Return the name of a folder until it is whole, or while it is removed. One that a kill left may be removed."""
    return os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".taco-train.tmp")


def cleared_folder(path: str) -> str:
    """Return the name of an unfinished folder, after what a kill left there is removed."""
    unfinished = unfinished_folder(path)
    if os.path.lexists(unfinished):
        shutil.rmtree(unfinished)
    return unfinished


@contextlib.contextmanager
def held(folder: str, seconds: float, what: str) -> Iterator[int]:
    """Hold a lock on a folder that exists, by a file descriptor, and wait for whoever holds it; what says what that one does."""
    deadline = time.monotonic() + seconds
    while True:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if _locked(descriptor, folder):
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            raise FoldersError(
                f"another run has been {what} for {seconds:.0f} s ({folder} is locked); run this again when it ended"
            )
        time.sleep(0.1)


def _locked(descriptor: int, folder: str) -> bool:
    """Take the lock of a folder; False where another process has it, or had it and made the folder anew."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.path.samestat(os.fstat(descriptor), os.stat(folder))


class CreatedFolders:
    """The folders that runs created on a host; root is put before every path."""

    def __init__(self, state_dir: str, root: str = "/") -> None:
        self.state_dir, self.root = os.path.normpath(state_dir), root
        self._lock: Optional[int] = None

    def real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def record_path(self) -> str:
        return os.path.join(self.real(self.state_dir), RECORD)

    def _missing(self, path: str) -> List[str]:
        return [one for one in parents(os.path.normpath(path)) if not os.path.lexists(self.real(one))]

    def index(self) -> Dict[str, Any]:
        """Return the index of the journal, also from the record of an earlier version."""
        for path in (self.record_path(), os.path.join(self.real(self.state_dir), FORMER_RECORD)):
            data = read_bytes(path)
            if data is not None:
                return parse_index(data, path)
        return {"created": [], "subjects": {}}

    def save(self, index: Dict[str, Any]) -> None:
        """Write the index as one step, or remove it once there is nothing in it."""
        if index["created"] or index["subjects"]:
            replace_file(self.record_path(), index_bytes(**index), mode=0o600)
        else:
            remove_file(self.record_path())
        needed, folder = self.copies(index["subjects"]), self.copy_path("")
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name not in needed and is_copy(self.copy_path(name)):
                remove_file(self.copy_path(name))
        if not needed and os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
        remove_file(os.path.join(self.real(self.state_dir), FORMER_RECORD))

    def copy_path(self, name: str) -> str:
        return os.path.join(self.real(self.state_dir), COPIES, name)

    @staticmethod
    def copies(subjects: Dict[str, Any]) -> List[str]:
        """List the names of the copies that subjects need."""
        files = [part["files"] for part in subjects.values()]
        files += [part["change"]["files"] for part in subjects.values() if part.get("change")]
        return sorted({entry["original"] for entries in files for entry in entries.values() if entry["original"]})

    def load(self) -> List[str]:
        """List the folders that runs created."""
        return list(self.index()["created"])

    @contextlib.contextmanager
    def locked(self, seconds: float = LOCK_SECONDS, needed: bool = True) -> Iterator[Optional[int]]:
        """Let no other run change this host, by a file descriptor. Within the lock, and where it isn't needed, nothing more is done.

        After a lost connection Ansible starts a module again while the first one still ends. A program that gets the descriptor
        holds the lock as well: one that goes on after its module was killed would write over what the next run restores.
        """
        if self._lock is not None or not needed:
            yield self._lock
            return
        self.make_state_dir()
        if os.path.islink(self.copy_path("").rstrip("/")):  # files of others, which save would remove
            raise FoldersError(f"{self.copy_path('')} is a link: expected a folder of this collection, move it away")
        with held(self.real(self.state_dir), seconds, "changing this host") as descriptor:
            self._lock = descriptor
            try:
                yield descriptor
            finally:
                self._lock = None

    def make_state_dir(self) -> None:
        """Create the state folder where it is missing, in one step with the record that says so."""
        self.clear_unfinished()
        missing = self._missing(self.state_dir)
        if not missing:
            return
        with self.held_around(self.real(missing[0])):
            missing = self._missing(self.state_dir)
            if not missing:
                return
            top = self.real(missing[0])
            around = os.path.dirname(top)
            require_room(around, len(index_bytes(missing, {})))
            with naming(top):
                unfinished = cleared_folder(top)
                inner = unfinished + self.real(self.state_dir)[len(top) :]
                os.makedirs(inner, 0o755)
            replace_file(os.path.join(inner, RECORD), index_bytes(missing, {}), mode=0o600)
            os.rename(unfinished, top)
            sync_folder(around)

    def held_around(self, path: str) -> ContextManager[int]:
        """Hold the lock of who creates or removes the state folder, or one that it is in."""
        return held(os.path.dirname(path), 10, "creating " + self.state_dir)

    def clear_unfinished(self) -> None:
        """Remove what a kill left while the state folder, with those that it is in, was created or removed."""
        for path in map(self.real, parents(self.state_dir)):
            if os.path.lexists(unfinished_folder(path)):
                with self.held_around(path):
                    cleared_folder(path)

    def record(self, paths: Iterable[str]) -> None:
        """Record, before they are created, which of the folders and of those that they are in the host lacks."""
        with self.locked():
            index = self.index()
            missing = {one for path in paths for one in self._missing(path)}
            if missing - set(index["created"]):
                self.save(dict(index, created=sorted(missing | set(index["created"]))))

    def make(self, path: str, mode: int = 0o755) -> None:
        """Create a folder, recorded before."""
        self.record([path])
        os.makedirs(self.real(path), mode, exist_ok=True)

    def remove_empty(self, paths: Iterable[str]) -> List[str]:
        """Remove those of the folders that runs created and that are empty; return them, to be taken out of the index."""
        gone = self.emptied(set(paths) & set(self.load()))
        for path in gone:
            os.rmdir(self.real(path))
        return gone

    def emptied(self, paths: Iterable[str]) -> List[str]:
        """List the folders that will hold nothing, the innermost first, without the state folder and those that it is in."""
        leaving = []  # type: List[str]
        for path in sorted(set(paths) - set(parents(self.state_dir)), key=lambda path: (-path.count("/"), path)):
            if self.is_empty(path, leaving):
                leaving.append(path)
        return leaving

    def is_empty(self, path: str, leaving: Iterable[str]) -> bool:
        """Tell whether a folder will hold nothing once others, which are inside, are removed."""
        real = self.real(path)
        is_folder = os.path.isdir(real) and not os.path.islink(real)
        return is_folder and all(os.path.join(path, name) in leaving for name in os.listdir(real))

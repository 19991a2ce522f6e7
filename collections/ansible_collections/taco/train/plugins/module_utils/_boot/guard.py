# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep verified copies of the files of a boot configuration while they change, so that any end of the change can be undone.

The copies lie in a folder of their own below the state folder, usually on another file system than /boot. marker.json says of
which files they are. It is written before the first of them changes and removed when the change succeeded or was undone.
"""

import contextlib
import errno
import json
import os
import re
import stat
from typing import Any, Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot.entries import grub_kernels
from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    extended_attributes,
    overwrite_file,
    read_bytes,
    remove_file,
    replace_file,
    require_rooms,
    sweep,
    sync_folder,
)
from ansible_collections.taco.train.plugins.module_utils._files.history import decoded, digest, encoded

FOLDER = "hugepages-change"
MARKER = "marker.json"
VERSION = 1
COPY = re.compile(r"[0-9]+|\..+\.[0-9]+\.tmp")
FULL = (errno.ENOSPC, errno.EDQUOT)


class Guard:
    """The copies in one folder; root precedes every path of a file."""

    def __init__(self, folder: str, root: str = "/") -> None:
        self.folder, self.root = folder, root

    def _real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def _marker(self) -> str:
        return os.path.join(self.folder, MARKER)

    def unfinished(self) -> bool:
        """Return whether a change began here that neither succeeded nor was undone."""
        return os.path.lexists(self._marker())

    def begin(self, planned: Dict[str, Optional[bytes]], generated: Sequence[str], room: Sequence[Any]) -> None:
        """Copy the files that are to change; planned are their new contents, generated is what a generator writes.

        Raises without a change where the copies, or room (path, bytes) for what follows, don't fit.
        """
        before = {path: read_bytes(self._real(path)) for path in [*planned, *generated]}
        copies = [(self._marker(), len(data) + 512) for data in before.values() if data is not None]
        require_rooms([*copies, *room])
        self.finish()
        os.makedirs(self.folder, 0o700, exist_ok=True)
        files = {}  # type: Dict[str, Dict[str, Any]]
        try:
            for number, (path, data) in enumerate(sorted(before.items())):
                files[path] = {"sha256": digest(data), "generated": path in generated, "in_place": False}
                files[path]["planned"] = digest(planned[path]) if planned.get(path) is not None else None
                files[path]["folder"] = os.path.isdir(os.path.dirname(self._real(path)))
                if data is None:
                    continue
                status = os.stat(self._real(path))
                files[path].update(copy=str(number), mode=stat.S_IMODE(status.st_mode), uid=status.st_uid)
                files[path].update(gid=status.st_gid, times=[status.st_atime_ns, status.st_mtime_ns])
                files[path]["attributes"] = encoded(extended_attributes(self._real(path)))
                replace_file(self.copy_of(files[path]), data, mode=0o600)
                self._content(files[path])
            self._save(files)
            sync_folder(os.path.dirname(self.folder))
        except BaseException:
            self.finish()
            raise

    def _save(self, files: Dict[str, Any]) -> None:
        text = json.dumps({"version": VERSION, "files": files}, indent=1, sort_keys=True) + "\n"
        replace_file(self._marker(), text.encode(), mode=0o600)

    def _load(self) -> Dict[str, Dict[str, Any]]:
        try:
            marker = json.loads((read_bytes(self._marker()) or b"").decode())
            if marker["version"] == VERSION:
                return dict(marker["files"])
        except (ValueError, KeyError, TypeError):
            pass
        raise FileError(
            f"{self._marker()} can't be read, so which boot files a run left unfinished is unknown: compare the copies in "
            f"{self.folder} with the boot files, then remove {self.folder}"
        )

    def copy_of(self, entry: Dict[str, Any]) -> str:
        return os.path.join(self.folder, entry["copy"])

    def _content(self, entry: Dict[str, Any]) -> bytes:
        """Return the content of a copy; refuse one that is damaged itself."""
        data = read_bytes(self.copy_of(entry))
        if data is None or digest(data) != entry["sha256"]:
            raise FileError(f"the copy {self.copy_of(entry)} is damaged too")
        return data

    def undo(self) -> List[str]:
        """Restore every file, whichever of them fail; return a sentence for each that stays damaged."""
        files = self._load()
        problems = []
        # What is removed makes room for what is written.
        for path in sorted(files, key=lambda path: (files[path]["sha256"] is not None, path)):
            try:
                sweep(os.path.realpath(self._real(path)))
                self._restore(path, files)
            except (FileError, OSError) as error:
                where = f"; its content of before is in {self.copy_of(files[path])}" if "copy" in files[path] else ""
                problems.append(f"{path} is damaged or changed ({error}){where}")
        return problems

    def _restore(self, path: str, files: Dict[str, Dict[str, Any]]) -> None:
        entry, real = files[path], self._real(path)
        if entry["sha256"] is None:
            # On a read-only file system even the removal of a missing file is an error.
            if os.path.lexists(real):
                remove_file(real)
            folder = os.path.dirname(real)
            if not entry["folder"] and os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
            return
        data = self._content(entry)
        if read_bytes(real) != data:
            # A way back that was killed may have removed the folder with the last file in it.
            if not os.path.isdir(os.path.dirname(real)):
                os.mkdir(os.path.dirname(real), 0o755)
            try:
                owner = (entry["mode"], entry["uid"], entry["gid"])
                replace_file(real, data, *owner, margin=False, attributes=decoded(entry.get("attributes")))
            except OSError as error:
                if error.errno not in FULL:
                    raise
                # The last resort. The marker must say so first, as a kill would leave a file that is neither old nor new.
                if not entry["generated"] and not entry["in_place"]:
                    entry["in_place"] = True
                    self._save(files)
                overwrite_file(real, data)
                os.chmod(real, entry["mode"])
        # A file that may not change, such as an immutable one or one on a read-only file system, has not changed.
        if os.stat(real).st_mtime_ns != entry["times"][1]:
            os.utime(real, ns=tuple(entry["times"]))

    def differing(self) -> List[str]:
        """Return the files that an unfinished change left other than they were before it."""
        return [path for path, entry in sorted(self._load().items()) if self._now(path) != entry["sha256"]]

    def _now(self, path: str) -> Optional[str]:
        return digest(read_bytes(self._real(path)))

    def recover(self) -> List[str]:
        """Undo what a run left unfinished, except what others changed since; return a sentence for each file that stays as it is.

        A file that this collection replaces as one step is old or new. Another content is from others.
        """
        files = self._load()
        foreign, problems = [], []
        for path, entry in files.items():
            now = self._now(path)
            if now in (entry["sha256"], entry["planned"]) or entry["in_place"]:
                continue
            if not entry["generated"]:
                foreign.append(path)
            elif now is not None and "copy" in entry:
                why = self._regenerated(path, entry)
                problems += [f"{path}: {why}; its content of before is in {self.copy_of(entry)}"] if why else []
        if problems:
            return problems
        if foreign:
            self._save({path: entry for path, entry in files.items() if path not in foreign})
        return self.undo()

    def _regenerated(self, path: str, entry: Dict[str, Any]) -> Optional[str]:
        """Return why a generated file is from after the change, so that the copy would lose a kernel or start a missing one."""
        old, new = (
            grub_kernels((data or b"").decode("utf-8", "replace"))
            for data in (read_bytes(self.copy_of(entry)), read_bytes(self._real(path)))
        )
        there = set(os.listdir(self._real("/boot")))
        if new - old:
            return f"it starts {', '.join(sorted(new - old))}, which it did not before"
        gone = {kernel for kernel in old - new if os.path.basename(kernel) not in there}
        if gone and gone != old:
            return f"{', '.join(sorted(gone))} is gone since"
        return None

    def finish(self) -> None:
        """Remove the marker, then the copies; what others put beside them stays."""
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        if MARKER in names:
            remove_file(self._marker())
        for name in filter(COPY.fullmatch, names):
            remove_file(os.path.join(self.folder, name))
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

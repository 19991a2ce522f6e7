# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep files as they were before the first change, so that they can be put back byte for byte.

A folder holds the original content of each file under a number, and manifest.json: which file, its mode, owner and times, and
the hashes of what was left there. It is written before the file is, so that a kill in between loses nothing.
"""

import base64
import hashlib
import json
import os
import stat
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    OF_CONTENT,
    extended_attributes,
    read_bytes,
    remove_file,
    replace_file,
    set_extended_attributes,
    sync_folder,
)

VERSION = 1


class HistoryError(Exception):
    """The history can't be read, or a file was edited since."""


class Original(NamedTuple):
    """A file as it was before the first change."""

    path: str
    content: Optional[bytes]  # None: there was no file
    mode: int
    uid: int
    gid: int
    atime_ns: int
    mtime_ns: int
    attributes: Optional[Dict[str, bytes]] = None  # extended ones, None where an older version did not look


def encoded(attributes: Dict[str, bytes]) -> Dict[str, str]:
    """Return extended attributes as JSON can hold them."""
    return {name: base64.b64encode(value).decode() for name, value in attributes.items()}


def decoded(attributes: Optional[Dict[str, str]]) -> Optional[Dict[str, bytes]]:
    """Return extended attributes from what JSON held."""
    if attributes is None:
        return None
    return {name: base64.b64decode(value) for name, value in attributes.items()}


def digest(content: Optional[bytes]) -> Optional[str]:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _with(known: List[Any], value: Any) -> List[Any]:
    """Return a list with a value at its end, once."""
    return [one for one in known if one != value] + [value]


class History:
    """The history in one folder; root is put before every path of a file."""

    def __init__(self, folder: str, root: str = "/") -> None:
        self.folder, self.root = folder, root

    def manifest_path(self) -> str:
        return os.path.join(self.folder, "manifest.json")

    def _real(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def load(self) -> Dict[str, Any]:
        """Return the manifest, empty when nothing was changed yet."""
        data = read_bytes(self.manifest_path())
        if data is None:
            return {"version": VERSION, "files": {}, "arguments": []}
        try:
            manifest = json.loads(data.decode())  # type: Dict[str, Any]
            if (
                manifest["version"] == VERSION
                and isinstance(manifest["files"], dict)
                and isinstance(manifest["arguments"], list)
            ):
                return manifest
        except (ValueError, KeyError, TypeError):
            pass
        raise HistoryError(
            f"{self.manifest_path()} can't be read, so what was there before is unknown; move it away to start anew"
        )

    def _save(self, manifest: Dict[str, Any]) -> None:
        if not os.path.isdir(self.folder):
            os.makedirs(self.folder, 0o700)
            sync_folder(os.path.dirname(self.folder))
        os.chmod(self.folder, 0o700)
        data = json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n"
        replace_file(self.manifest_path(), data, mode=0o600)

    def seen(self, path: str) -> Dict[str, Any]:
        """Return a file as it is now, with what it takes to put it back."""
        real = self._real(path)
        content = read_bytes(real)
        entry = {"original": None if content is None else base64.b64encode(content).decode()}  # type: Dict[str, Any]
        if content is not None:
            status = os.stat(real)
            entry.update(mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid)
            entry.update(atime_ns=status.st_atime_ns, mtime_ns=status.st_mtime_ns)
            entry["attributes"] = encoded(extended_attributes(real))
        folder = os.path.dirname(os.path.realpath(real))
        entry["folder"] = os.path.isdir(folder)
        # Of a folder that will be created and removed again, the times of the one around it change.
        around = folder if entry["folder"] else os.path.dirname(folder)
        if os.path.isdir(around):
            status = os.stat(around)
            entry.update(folder_atime_ns=status.st_atime_ns, folder_mtime_ns=status.st_mtime_ns)
        return entry

    def note(
        self,
        path: str,
        left: Optional[bytes],
        arguments: List[str],
        generated: bool = False,
        before: Optional[Dict[str, Any]] = None,
    ) -> None:
        """Write down, before it happens, that a file gets new content; left is None for a file that will be removed.

        A generated file is written by a tool, which others run as well; to find it changed is no sign of an edit. Of what a tool
        has changed already, before is what was seen until then.
        """
        manifest = self.load()
        if path not in manifest["files"]:
            entry = self.seen(path) if before is None else dict(before)
            # The times of a folder are those from before the first change in it.
            for other, known in manifest["files"].items():
                if os.path.dirname(other) == os.path.dirname(path):
                    entry.update({key: known[key] for key in known if key.startswith("folder")})
            manifest["files"][path] = entry
        elif not generated and self.edited(path, before):
            manifest["files"][path]["edited"] = True
        entry = manifest["files"][path]
        entry["generated"] = generated
        # All of them: this may end between here and the write, or be undone, and then the file is what an earlier run left.
        entry["left_sha256"] = _with(entry.get("left_sha256", []), digest(left))
        manifest["arguments"] = _with(manifest["arguments"], arguments)
        self._save(manifest)

    def arguments_in(self, line: List[str]) -> List[str]:
        """Return the arguments of ours that a kernel line holds, the newest of them first; empty when it holds none."""
        for ours in reversed(self.load()["arguments"]):
            if ours and any(line[index : index + len(ours)] == ours for index in range(len(line))):
                return list(ours)
        return []

    def paths(self) -> List[str]:
        """Return the files that were changed."""
        return sorted(self.load()["files"])

    def generated(self) -> List[str]:
        """Return the files that a tool changed."""
        files = self.load()["files"]
        return sorted(path for path in files if files[path].get("generated"))

    def entry(self, path: str) -> Dict[str, Any]:
        """The record of a file: its state before the first change, as seen returned it, and what was added since."""
        found = self.load()["files"][path]  # type: Dict[str, Any]
        return found

    @staticmethod
    def content(entry: Dict[str, Any]) -> Optional[bytes]:
        """Return the content in a record of a file, None where there was no file."""
        return None if entry["original"] is None else base64.b64decode(entry["original"])

    def original(self, path: str) -> Original:
        entry = self.load()["files"][path]
        content = self.content(entry)
        numbers = [entry.get(key, 0) for key in ("mode", "uid", "gid", "atime_ns", "mtime_ns")]
        return Original(path, content, *numbers)._replace(attributes=decoded(entry.get("attributes")))

    def edited(self, path: str, seen: Optional[Dict[str, Any]] = None) -> bool:
        """Say whether a file, now or as it was seen, is neither what was left there nor what was there before."""
        entry = self.load()["files"][path]
        current = digest(self.content(seen) if seen else read_bytes(self._real(path)))
        known = entry["left_sha256"] + [digest(self.original(path).content)]
        return entry.get("edited", False) or current not in known

    def keep_attributes(self, path: str, seen: Dict[str, Any]) -> None:
        """Give a file that a tool replaced the owner, mode and extended attributes with which it was seen."""
        real = self._real(path)
        now = self.seen(path)
        if now["original"] is None or seen["original"] is None:
            return
        if (now["uid"], now["gid"]) != (seen["uid"], seen["gid"]):
            os.chown(real, seen["uid"], seen["gid"])
        if now["mode"] != seen["mode"]:
            os.chmod(real, seen["mode"])
        kept = decoded(seen["attributes"]) or {}
        set_extended_attributes(real, {name: kept[name] for name in kept if name not in OF_CONTENT})

    def put_back(self, path: str) -> None:
        """Give a file its original content, mode, owner and times, or remove it when there was none."""
        original, real = self.original(path), self._real(path)
        entry = self.load()["files"][path]
        if original.content is None:
            remove_file(real)
        else:
            owner = (original.mode, original.uid, original.gid)
            replace_file(real, original.content, *owner, margin=False, attributes=original.attributes)
            os.utime(real, ns=(original.atime_ns, original.mtime_ns))
        folder = os.path.dirname(os.path.realpath(real))
        if (
            original.content is None
            and entry.get("folder") is False
            and os.path.isdir(folder)
            and not os.listdir(folder)
        ):
            os.rmdir(folder)
        around = folder if entry.get("folder") else os.path.dirname(folder)
        if "folder_mtime_ns" in entry and os.path.isdir(around):
            os.utime(around, ns=(entry["folder_atime_ns"], entry["folder_mtime_ns"]))

    def empty(self) -> bool:
        """Return whether nothing was changed here, as far as this folder says."""
        manifest = self.load()
        return not manifest["files"] and not manifest["arguments"]

    def forget(self, keep_arguments: bool = False) -> None:
        """Remove the history once what it held is restored, or all of it but the arguments."""
        if keep_arguments:
            self._save(dict(self.load(), files={}))
            return
        if os.path.isdir(self.folder):
            remove_file(self.manifest_path())
        if os.path.isdir(self.folder) and not os.listdir(self.folder):
            os.rmdir(self.folder)

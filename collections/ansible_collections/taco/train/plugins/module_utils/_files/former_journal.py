# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what 1.0 and 1.1 kept on a host, a history for each subject and the begin of a change, as a part of the journal."""

import base64
import contextlib
import json
import os
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, read_bytes, remove_file
from ansible_collections.taco.train.plugins.module_utils._files.snapshot import digest

# The folder of the history, and the file of a change that has begun.
PLACES = {
    "hugepages": ("hugepages", "hugepages-change/marker.json"),
    "harp": ("harp/history", "harp/before-script.json"),
}
COPY = re.compile(r"[0-9]+|\..+\.[0-9]+\.tmp")
Contents = Dict[str, bytes]


def _history_path(state_dir: str, subject: str) -> str:
    return os.path.join(state_dir, PLACES[subject][0], "manifest.json")


def _change_path(state_dir: str, subject: str) -> str:
    return os.path.join(state_dir, PLACES[subject][1])


def paths(state_dir: str, subject: str) -> List[str]:
    """List the files of an earlier version, that of the change first, as the history is of no use without it."""
    if subject not in PLACES:
        return []
    return [
        path for path in (_change_path(state_dir, subject), _history_path(state_dir, subject)) if os.path.isfile(path)
    ]


def _loaded(path: str, *keys: str) -> Optional[Dict[str, Any]]:
    """Return the object in a file with all keys, None where there is no file."""
    data = read_bytes(path)
    if data is None:
        return None
    try:
        found = json.loads(data.decode("utf-8"))
        if isinstance(found, dict) and found.get("version", 1) == 1 and all(key in found for key in keys):
            return found
    except (ValueError, RecursionError):
        pass
    raise _unreadable(path)


def _unreadable(path: str) -> FileError:
    return FileError(f"{path} can't be read, so what was there before is unknown; move it away to start anew")


@contextlib.contextmanager
def _readable(path: str) -> Iterator[None]:
    """Name the file for content that no version wrote."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(path) from error


def _entry(seen: Mapping[str, Any], contents: Contents) -> Dict[str, Any]:
    """Return the entry of a file, and put its content to the others."""
    entry = {key: seen[key] for key in seen if not key.startswith("folder")}
    if seen["original"] is not None:
        content = base64.b64decode(seen["original"])
        entry["original"] = digest(content)
        contents[entry["original"]] = content
    return entry


def _times(files: Mapping[str, Mapping[str, Any]], root: str) -> Dict[str, List[int]]:
    times = {}
    for path, seen in files.items():
        folder = os.path.dirname(os.path.realpath(os.path.join(root, path.lstrip("/"))))
        folder = folder if seen.get("folder", True) else os.path.dirname(folder)
        if "folder_mtime_ns" in seen:
            times[folder] = [seen["folder_atime_ns"], seen["folder_mtime_ns"]]
    return times


def _guarded(marker: Mapping[str, Any], folder: str, contents: Contents) -> Dict[str, Any]:
    """Return the change of boot files that a marker is of."""
    files = {}
    for path, kept in marker["files"].items():
        entry = dict(original=kept["sha256"], planned=kept["planned"], in_place=kept["in_place"])
        if "copy" in kept:
            entry.update({key: kept[key] for key in ("mode", "uid", "gid", "attributes") if key in kept})
            entry.update(atime_ns=kept["times"][0], mtime_ns=kept["times"][1])
            contents[kept["sha256"]] = read_bytes(os.path.join(folder, kept["copy"])) or b""
        files[path] = entry
    outputs = [path for path, kept in marker["files"].items() if kept["generated"]]
    return {"files": files, "outputs": outputs, "arguments": [], "shared": [], "watched": [], "times": {}}


def _watched(change: Mapping[str, Any], root: str, contents: Contents) -> Dict[str, Any]:
    """Return the change of files that a script writes."""
    files = {path: _entry(seen, contents) for path, seen in change["files"].items()}
    opened = dict(files=files, times=_times(change["files"], root), watched=[change["folder"], change["pattern"]])
    return dict(opened, outputs=[], arguments=[], shared=[])


def read(state_dir: str, subject: str, root: str) -> Tuple[Dict[str, Any], Contents]:
    """Return what an earlier version kept of a subject, empty where it kept nothing, and the contents of the files."""
    part = {}  # type: Dict[str, Any]
    contents = {}  # type: Contents
    if subject not in PLACES:
        return part, contents
    history_path, change_path = _history_path(state_dir, subject), _change_path(state_dir, subject)
    history = _loaded(history_path, "version", "files", "arguments")
    if history is not None:
        with _readable(history_path):
            part["files"] = {path: _entry(seen, contents) for path, seen in history["files"].items()}
            part.update(arguments=history["arguments"], times=_times(history["files"], root))
    change = _loaded(change_path, "files")
    if change is not None:
        with _readable(change_path):
            if subject == "hugepages":
                part["change"] = _guarded(change, os.path.dirname(change_path), contents)
            else:
                part["change"] = _watched(change, root, contents)
    return part, contents


def remove(state_dir: str, subject: str) -> None:
    """Remove what an earlier version kept of a subject; what others put beside it stays."""
    for path in paths(state_dir, subject):
        remove_file(path)
    copies = os.path.join(state_dir, "hugepages-change")
    for name in filter(COPY.fullmatch, os.listdir(copies) if subject == "hugepages" and os.path.isdir(copies) else []):
        remove_file(os.path.join(copies, name))
    for folder in (copies, os.path.join(state_dir, PLACES[subject][0])):
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)

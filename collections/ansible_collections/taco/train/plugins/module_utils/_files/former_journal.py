# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the files of the releases 1.0 and 1.1, a history per subject and unfinished changes, as journal entries."""

import base64
import contextlib
import json
import os
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    digest,
    read_bytes,
    remove_file,
)

# The file of a change that has begun, and the history. The first goes first, since a change is of no use without a history.
PLACES = {
    "hugepages": ("hugepages-change/marker.json", "hugepages/manifest.json"),
    "harp": ("harp/before-script.json", "harp/history/manifest.json"),
}
COPY = re.compile(r"[0-9]+|\..+\.[0-9]+\.tmp")
Contents = Dict[str, bytes]


def paths(state_dir: str, subject: str) -> List[str]:
    """List the files of an earlier version."""
    return [path for path in (os.path.join(state_dir, name) for name in PLACES[subject]) if os.path.isfile(path)]


@contextlib.contextmanager
def _readable(path: str) -> Iterator[None]:
    """Name the file for content that no version wrote."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise FileError(
            f"{path} can't be read, so what was there before is unknown; move it away to start anew"
        ) from error


def _loaded(path: str, *keys: str) -> Optional[Dict[str, Any]]:
    """Return the object in a file with all keys, None where there is no file."""
    data = read_bytes(path)
    if data is None:
        return None
    found = json.loads(data.decode("utf-8"))  # type: Dict[str, Any]
    if found.get("version", 1) != 1 or not all(key in found for key in keys):
        raise ValueError("another version")
    return found


def _entry(seen: Mapping[str, Any], contents: Contents) -> Dict[str, Any]:
    """Return the entry of a file, and put its content to the others."""
    entry = {key: seen[key] for key in seen if not key.startswith("folder")}
    if seen["original"] is not None:
        content = base64.b64decode(seen["original"])
        entry["original"] = digest(content)
        contents[entry["original"]] = content
    return entry


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


def _opened(change: Mapping[str, Any], path: str, subject: str, contents: Contents) -> Dict[str, Any]:
    """Return a change that was not ended."""
    if subject == "hugepages":
        return _guarded(change, os.path.dirname(path), contents)
    files = {name: _entry(seen, contents) for name, seen in change["files"].items()}
    watched = [change["folder"], change["pattern"]]
    return dict(files=files, watched=watched, outputs=[], arguments=[], shared=[], times={})


def read(state_dir: str, subject: str) -> Tuple[Dict[str, Any], Contents]:
    """Return what an earlier version kept of a subject, empty where it kept nothing, and the contents of the files."""
    part, contents = {}, {}  # type: Dict[str, Any], Contents
    changed, kept = (os.path.join(state_dir, name) for name in PLACES[subject])
    with _readable(kept):
        history = _loaded(kept, "version", "files", "arguments")
        if history is not None:
            files = {path: _entry(seen, contents) for path, seen in history["files"].items()}
            part = {"files": files, "arguments": history["arguments"]}
    with _readable(changed):
        change = _loaded(changed, "files")
        if change is not None:
            part["change"] = _opened(change, changed, subject, contents)
    return part, contents


def remove(state_dir: str, subject: str) -> None:
    """Remove what an earlier version kept of a subject; what others put beside it stays."""
    for place in (os.path.join(state_dir, name) for name in PLACES[subject]):
        remove_file(place)
        folder = os.path.dirname(place)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in filter(COPY.fullmatch, names if place.endswith("marker.json") else []):
            remove_file(os.path.join(folder, name))
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)

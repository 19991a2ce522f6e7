# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide where NCCL's network plugin has to be. File facts in, one step or none out.

NCCL loads the plugin by dlopen("libnccl-net.so"), which matches that name only: a plugin under another name is off. A file
is a dictionary of what lstat says: path, kind (file, link, other), target (of a link), loads (whether it leads to a
file), size, mode, uid, gid, mtime_ns, and sha256 where there are several files.
"""

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional

NAME = "libnccl-net.so"
# The documents move it there by its own name.
OTHER_FOLDERS = ("/mnt", "/root")
SCHEMA = 1

File = Dict[str, Any]


class PluginError(Exception):
    """The plugin can't be put where it has to be, or what was done to it before is not known."""


class Record(NamedTuple):
    """Where the plugin was before the first change, and the other place that it is moved to and fro."""

    first: str
    other: str


class Step(NamedTuple):
    """What is to be done to the files. A source of which the target is already a whole copy is only removed."""

    source: str
    target: str
    copied: bool
    # What to keep in mind before it is done, and whether that can be forgotten once it is done.
    record: Record
    forget: bool


def off_path(path: str) -> str:
    """Return the name that switches the plugin off, one of the documents' two beside it.

    The other one begins with lib and holds .so: ldconfig takes it for a library, and makes a link to it under the
    library's own name, which switches the plugin on again.
    """
    return os.path.join(os.path.dirname(path), "bak." + os.path.basename(path))


def renamed_paths(path: str) -> List[str]:
    """Return every place that the documents leave the plugin in when it is off."""
    folder, name = os.path.split(path)
    beside = [off_path(path), path + "_bak"]
    if name == NAME:
        # One page restores it under this misspelled name, so it stays off there.
        beside.append(os.path.join(folder, "libncc-net.so"))
    return beside + [os.path.join(other, name) for other in OTHER_FOLDERS if other != folder]


def record_text(record: Record, path: str, worker: str) -> str:
    known = {"schema": SCHEMA, "worker": worker, "plugin": path, "first": record.first, "other": record.other}
    return json.dumps(known, indent=1, sort_keys=True) + "\n"


def parse_record(text: Optional[str], path: str, worker: str, name: str) -> Optional[Record]:
    """Return what an earlier call kept in mind, None when there is nothing or when it is of another worker."""
    if text is None:
        return None
    try:
        known = json.loads(text)
        kept, schema, plugin = known["worker"], known["schema"], known["plugin"]
        record = Record(known["first"], known["other"])
    except (ValueError, KeyError, TypeError):
        kept, schema, plugin, record = worker, None, path, None
    if schema != SCHEMA:
        raise PluginError(
            f"{name} can't be read, and it says where the plugin was first: put the plugin where it belongs "
            f"(switched on, that is {path}) and remove {name}"
        )
    if kept != worker:
        return None
    if plugin != path:
        raise PluginError(
            f"{name} is about the plugin {plugin} and plugin_path is {path}: run state: restored with "
            f"plugin_path: {plugin} first"
        )
    return record


def state_of(path: str, files: List[File]) -> str:
    """Return whether the plugin is on, off (there under another name only) or missing."""
    if any(file["path"] == path and file["loads"] for file in files):
        return "on"
    return "off" if any(file["path"] != path for file in files) else "missing"


def files_after(path: str, files: List[File], step: Optional[Step]) -> List[File]:
    """Return what there will be when a step is done, in the order in which it is looked for."""
    if step is None:
        return files
    left = {file["path"]: file for file in files}
    moved = left.pop(step.source)
    left.setdefault(step.target, dict(moved, path=step.target, loads=True))
    return [left[place] for place in [path] + renamed_paths(path) if place in left]


def same_content(one: File, other: File) -> bool:
    return all(one[key] == other[key] for key in ("kind", "target", "size", "sha256"))


def whole_copy(one: File, other: File) -> bool:
    return same_content(one, other) and all(one[key] == other[key] for key in ("mode", "uid", "gid", "mtime_ns"))


def _listed(paths: List[str]) -> str:
    return ", ".join(paths)


def _step(source: str, target: str, found: Dict[str, File], record: Optional[Record]) -> Step:
    """Return the step from one place to another, unless a file that isn't ours is in its way."""
    copied = False
    if target in found:
        # A move to another file system that was cut short leaves both.
        ours = record is not None and {source, target} == set(record)
        copied = ours and whole_copy(found[source], found[target])
        if not copied:
            alike = "with the same content" if same_content(found[source], found[target]) else "and they differ"
            raise PluginError(f"there are both {source} and {target}, {alike}: remove the one that is not wanted")
    if found[source]["kind"] == "other":
        raise PluginError(f"{source} is neither a file nor a link: set plugin_path to NCCL's network plugin")
    kept = record or Record(source, target)
    return Step(source, target, copied, kept, target == kept.first)


def _renamed(path: str, found: Dict[str, File], record: Optional[Record]) -> Optional[str]:
    """Return which of the renamed files is the plugin, None when there is none."""
    others = [other for other in found if other != path]
    known = [other for other in others if record is not None and other in record]
    if known or not others:
        return known[0] if known else None
    if any(not same_content(found[others[0]], found[other]) for other in others):
        raise PluginError(f"which one is the plugin? {_listed(others)} differ: remove those that are not wanted")
    return others[0]


def plan_plugin(wanted: str, path: str, files: List[File], record: Optional[Record]) -> Optional[Step]:
    """Return the one step that makes the plugin on, off, or (first) what it was, None when it is so already."""
    found = {file["path"]: file for file in files}
    here = found.get(path)
    if wanted == "on":
        return _plan_on(path, found, record)
    if wanted == "off":
        if here is None or not here["loads"]:
            return None
        known = [place for place in record or () if place != path]
        return _step(path, known[0] if known else off_path(path), found, record)
    if wanted == "first" and record is not None:
        current = path if here is not None else _renamed(path, found, record)
        if current == record.first and record.other in found:
            # Both are there: what was cut short began or ended at the other one.
            current = record.other
        if current is None:
            raise PluginError(
                f"the plugin was at {record.first} first and is at none of {_listed([path] + renamed_paths(path))}: "
                "put it back from the image, or make the container anew"
            )
        return None if current == record.first else _step(current, record.first, found, record)
    return None


def _plan_on(path: str, found: Dict[str, File], record: Optional[Record]) -> Optional[Step]:
    here = found.get(path)
    if here is not None and not here["loads"]:
        raise PluginError(f"{path} is a link to {here['target']}, which is not there: remove the link or mend it")
    if here is not None:
        left = [place for place in record or () if place != path and place in found]
        # Ours, cut short between the copy and the removal of what was copied.
        finish = left and record is not None and whole_copy(found[left[0]], here)
        return _step(left[0], path, found, record) if finish else None
    source = _renamed(path, found, record)
    if source is None:
        raise PluginError(
            f"there is no {path}, nor any of {_listed(renamed_paths(path))}: use an image with HARP, or set plugin_path"
        )
    return _step(source, path, found, record)

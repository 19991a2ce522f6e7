# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of files with all that belongs to them: content, mode, owner, times, extended attributes, and whether a name is a link."""

import base64
import errno
import os
import stat
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    OF_CONTENT,
    digest,
    extended_attributes,
    overwrite_file,
    read_bytes,
    remove_file,
    replace_file,
    sweep,
)

Entry = Dict[str, Any]
Times = Dict[str, Sequence[int]]
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_FILE = {"original": None}  # type: Entry
# What makes a file another one. Earlier versions did not look at all of it.
STATE = ("original", "mode", "uid", "gid", "attributes", "link")


def decoded(attributes: Optional[Dict[str, str]]) -> Optional[Dict[str, bytes]]:
    """Return extended attributes from what JSON held."""
    if attributes is None:
        return None
    return {name: base64.b64decode(value) for name, value in attributes.items()}


def snapshot(path: str) -> Tuple[Entry, Optional[bytes]]:
    """Return a file with what it takes to put it back, and its content, None where there is no file."""
    content = read_bytes(path)
    entry = {"original": digest(content), "link": os.readlink(path) if os.path.islink(path) else None}  # type: Entry
    if content is not None:
        status = os.stat(path)
        entry.update(mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid)
        entry.update(atime_ns=status.st_atime_ns, mtime_ns=status.st_mtime_ns)
        known = extended_attributes(path)
        entry["attributes"] = {name: base64.b64encode(value).decode() for name, value in known.items()}
    return entry, content


def differs(path: str, entry: Entry) -> bool:
    """Tell whether a file is another one than in its snapshot."""
    now, _content = snapshot(path)
    return any(now.get(key) != entry[key] for key in STATE if key in entry)


def _relink(path: str, entry: Entry) -> None:
    """Make a name a link again, or a file of its own, as it was."""
    now = os.readlink(path) if os.path.islink(path) else None
    if now == entry.get("link", now):
        return
    if os.path.lexists(path):
        os.unlink(path)
    if entry["link"]:
        os.symlink(entry["link"], path)


def restore(path: str, entry: Entry, content: Optional[bytes], in_place: Optional[Callable[[], None]] = None) -> None:
    """Give a file the content and all else of its snapshot, or remove it where there was none.

    Where a second file has no room, it is written over, after in_place was called; without in_place that is an error.
    """
    sweep(os.path.realpath(path))
    if content is None:
        _relink(path, entry)
        target = os.path.realpath(path) if entry.get("link") else path
        # On a read-only file system even the removal of a missing file is an error.
        if os.path.lexists(target):
            remove_file(target)
        return
    if differs(path, entry):
        # A way back that was killed may have removed the folder with the last file in it.
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path), 0o755)
        _relink(path, entry)
    if differs(path, entry):
        try:
            owner = (entry["mode"], entry["uid"], entry["gid"])
            replace_file(path, content, *owner, margin=False, attributes=decoded(entry.get("attributes")))
        except OSError as error:
            if in_place is None or error.errno not in FULL:
                raise
            in_place()
            overwrite_file(path, content)
            os.chmod(path, entry["mode"])
    # A file that may not change, such as an immutable one or one on a read-only file system, has not changed.
    if os.stat(path).st_mtime_ns != entry["mtime_ns"]:
        os.utime(path, ns=(entry["atime_ns"], entry["mtime_ns"]))


def keep_all_but_content(path: str, entry: Entry) -> None:
    """Give a file that a program replaced the owner, mode, link and extended attributes of its snapshot."""
    now, content = snapshot(path)
    if content is not None and entry["original"] is not None:
        kept = {name: value for name, value in entry["attributes"].items() if name not in OF_CONTENT}
        restore(
            path, dict(now, attributes=kept, **{key: entry[key] for key in ("mode", "uid", "gid", "link")}), content
        )


def times_around(paths: Iterable[str]) -> Times:
    """Return the times of the folders that change with files. Of one that is missing, those of the one around it change."""
    times = {}  # type: Times
    for path in paths:
        folder = os.path.dirname(os.path.realpath(path))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        status = os.stat(folder)
        times[folder] = [status.st_atime_ns, status.st_mtime_ns]
    return times


def put_times_back(times: Mapping[str, Sequence[int]]) -> None:
    """Give folders their times."""
    for folder, (atime, mtime) in times.items():
        if os.path.isdir(folder) and os.stat(folder).st_mtime_ns != mtime:
            os.utime(folder, ns=(atime, mtime))

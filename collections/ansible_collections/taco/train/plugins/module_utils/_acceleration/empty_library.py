# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep a folder with an empty library by the name of NCCL's network plugin.

At the front of LD_LIBRARY_PATH it ends the dynamic linker's search for the plugin ("file too short"), and NCCL uses a network of its own.
The plugin itself stays where it is, so that other programs of the worker keep it.
"""

import contextlib
import os
import re
import stat

from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import NAME

FOLDER = "without-plugin"
# The dynamic linker splits LD_LIBRARY_PATH at : and ; and replaces $ORIGIN. A path with white space is not split by it, but by scripts.
SEPARATOR = re.compile(r"[:;$\s]")


class LibraryError(Exception):
    """The folder can't be used, because something in its place was not made by this collection."""


def require_plain(path: str) -> None:
    """Raise for a path that would not be one folder in LD_LIBRARY_PATH or PYTHONPATH."""
    found = SEPARATOR.search(path)
    if found:
        raise LibraryError(
            f"the folder {path!r} has the character {found.group()!r}: expected a path that LD_LIBRARY_PATH and PYTHONPATH can hold, "
            "without colons, semicolons, dollar signs and white space. Set state_dir (taco_state_dir) to another folder"
        )


def _foreign(folder: str) -> str:
    """Return what was not made by this collection, an empty text where everything was."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder"
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        return f"{folder} belongs to another user, or others may write to it"
    for name in sorted(os.listdir(folder)):
        library = os.lstat(os.path.join(folder, name))
        if name != NAME or not stat.S_ISREG(library.st_mode) or library.st_size:
            return f"{os.path.join(folder, name)} is not the empty library"
    return ""


def is_ready(folder: str) -> bool:
    """Return whether the folder has the empty library and nothing else; raise where it is not of this collection."""
    if not os.path.lexists(folder):
        return False
    foreign = _foreign(folder)
    if foreign:
        raise LibraryError(f"{foreign}, and this collection did not make it: move it to another place")
    return os.path.exists(os.path.join(folder, NAME))


def create_library(folder: str) -> None:
    """Create the folder and the library. What an interrupted call left of them is completed."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    # Another worker of the host may create it at the same time.
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
    # Ranks can be those of another user than the owner.
    os.chmod(folder, 0o755)
    descriptor = os.open(os.path.join(folder, NAME), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        os.fchmod(descriptor, 0o644)
    finally:
        os.close(descriptor)


def remove_library(folder: str) -> None:
    """Remove the library and the folder."""
    if is_ready(folder):
        os.unlink(os.path.join(folder, NAME))
    if os.path.lexists(folder):
        os.rmdir(folder)

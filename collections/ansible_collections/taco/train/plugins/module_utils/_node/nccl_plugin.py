# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find NCCL's network plugin under its own name, and under those that the vendor's documents give it to disable it."""

import os
import shlex
from typing import List, Optional

NAME = "libnccl-net.so"
FOLDER = "/usr/lib/x86_64-linux-gnu"
PATH = FOLDER + "/" + NAME
# What the plugin exports for each version of NCCL's plugin interface, before the number of the version.
SYMBOL = "ncclNetPlugin_v"
# The documents move it there by its own name.
OTHER_FOLDERS = ("/mnt", "/root")


def renamed_paths(path: str) -> List[str]:
    """Return every path to which the documents rename the plugin. An earlier version of this collection used the first."""
    folder, name = os.path.split(path)
    beside = [os.path.join(folder, "bak." + name), path + "_bak"]
    if name == NAME:
        # One page restores it under this misspelled name, so it stays disabled there.
        beside.append(os.path.join(folder, "libncc-net.so"))
    return beside + [os.path.join(other, name) for other in OTHER_FOLDERS if other != folder]


def find_renamed(path: str, root: str = "/") -> Optional[str]:
    """Return where the plugin is that was renamed, None where it has its own name or is nowhere. root is put before every path."""
    present = [one for one in [path] + renamed_paths(path) if os.path.lexists(os.path.join(root, one.lstrip("/")))]
    return present[0] if present and present[0] != path else None


def undo_command(renamed: str, path: str) -> str:
    """Return the command that gives the plugin its own name again."""
    return f"mv {shlex.quote(renamed)} {shlex.quote(path)}"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read which versions of NCCL's plugin interface a plugin has, and for which the NCCL of a container looks.

A plugin exports a symbol for each version of the interface that it has, and NCCL looks for those that it knows. By version of NCCL
(https://github.com/NVIDIA/nccl, tags v2.4.2-1 to v2.30.7-1, dlsym in src/init.cc, src/net.cc and src/plugin/net):

    2.4, 2.5      ncclNetPlugin_v2           2.19          v5 to v7
    2.6, 2.7      v3                         2.20 to 2.23  v5 to v8
    2.8 to 2.11   v4                         2.24, 2.25    v5 to v9
    2.12          v4, v5                     2.26, 2.27    v6 to v10
    2.13 to 2.18  v4 to v6                   2.28, 2.29    v6 to v11
                                             2.30          v6 to v12

Both are read in the libraries themselves, because a vendor can build NCCL with another list.
"""

import glob
import os
import re
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._node.elf import ElfError, exported_symbols, read_only_data
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import FOLDER, PATH, SYMBOL

# The text of a symbol that NCCL looks for ends there; in a message words follow.
LOOKED_FOR = re.compile(SYMBOL.encode() + rb"(\d{1,3})\0")
VERSION = re.compile(rb"NCCL version (\d{1,4}(?:\.\d{1,4}){2})")
# Where packages of the distribution, of CUDA and of PyPI have NCCL.
NCCL = (
    FOLDER + "/libnccl.so.2",
    "/usr/lib64/libnccl.so.2",
    "/usr/local/lib/libnccl.so.2",
    "/usr/local/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
    "/usr/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
    "/opt/conda/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
)
MOST_LINKS = 8


def _file_in(root: str, path: str) -> Optional[str]:
    """Return the regular file below a root that a path in it names, None without one. Links are followed within the root."""
    found, links, left = "", 0, path.split("/")[::-1]
    while left and links <= MOST_LINKS:
        part = left.pop()
        outside = root + found + "/" + part
        if part == "..":
            found = os.path.dirname(found)
        elif part in ("", "."):
            pass
        elif os.path.islink(outside):
            links, target = links + 1, os.readlink(outside)
            found = "" if target.startswith("/") else found
            left += target.split("/")[::-1]
        else:
            found += "/" + part
    return root + found if not left and os.path.isfile(root + found) else None


def exported_versions(root: str, path: str = PATH) -> Optional[List[int]]:
    """Return the versions of the interface that the plugin exports, None where there is no library that can be read."""
    found = _file_in(root, path)
    try:
        with open(found or "", "rb") as file:
            names = exported_symbols(file)
    except (OSError, ElfError):
        return None
    numbers = [name[len(SYMBOL) :] for name in names if name.startswith(SYMBOL)]
    return sorted({int(number) for number in numbers if number.isdecimal()})


def nccl_libraries(root: str) -> List[Dict[str, Any]]:
    """Return each library of NCCL below a root with its version and the versions of the interface that it looks for."""
    libraries = []  # type: List[Dict[str, Any]]
    for pattern in NCCL:
        for outside in sorted(glob.glob(os.path.join(glob.escape(root), pattern.lstrip("/")))):
            path = "/" + os.path.relpath(outside, root)
            try:
                with open(_file_in(root, path) or "", "rb") as file:
                    data = read_only_data(file)
            except (OSError, ElfError):
                continue
            version = VERSION.search(data)
            found = {
                "path": path,
                "version": version.group(1).decode() if version else None,
                "plugin_versions": sorted({int(number) for number in LOOKED_FOR.findall(data)}),
            }  # type: Dict[str, Any]
            if dict(found, path="") not in [dict(one, path="") for one in libraries]:
                libraries.append(found)
    return libraries

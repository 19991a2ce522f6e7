# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""See the hugepages that the running kernel has. Everything is read below a given root."""

import os
import re
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.numa import NODES, node_memory
from ansible_collections.taco.train.plugins.module_utils._boot.other_settings import other_settings
from ansible_collections.taco.train.plugins.module_utils._boot.units import names_in, text_of
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import parse_meminfo

UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def parse_size(text: str) -> Optional[int]:
    """Return the bytes of a size such as V(2M), V(1024M), V(1G) or V(1GB), or None when it isn't one."""
    match = re.match(r"^(\d+)([kmg]?)b?$", text.strip().lower())
    return int(match.group(1)) * UNITS[match.group(2)] if match else None


def _count(*path: str) -> int:
    try:
        with open(os.path.join(*path), encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _folders(folder: str, pattern: str) -> Dict[int, str]:
    """Return the subfolders whose name the pattern matches, by the number in it."""
    matches = [re.match(pattern, name) for name in names_in(folder, "")]
    return {int(match.group(1)): os.path.join(folder, match.group(0)) for match in matches if match}


def _counts(folder: str) -> Dict[str, int]:
    return {"total": _count(folder, "nr_hugepages"), "free": _count(folder, "free_hugepages")}


def parse_mounts(text: str, default_size: Optional[int]) -> List[Dict[str, Any]]:
    """Return the hugetlbfs that can be seen, with page size and limits, from /proc/mounts. One without a page size has the default one.

    What is mounted last on a path hides what was mounted there before.
    """
    mounts: Dict[str, Optional[Dict[str, Any]]] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        options = dict(option.partition("=")[::2] for option in fields[3].split(","))
        path = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), fields[1])
        page_size = parse_size(options["pagesize"]) if "pagesize" in options else default_size
        shown = {"path": path, "page_size_bytes": page_size, "read_only": "ro" in options}
        shown["limit_bytes"] = parse_size(options.get("size", ""))
        mounts[path] = shown if fields[2] == "hugetlbfs" else None
    return [mount for mount in mounts.values() if mount]


def observe_hugepages(root: str) -> Dict[str, Any]:
    """Return the pools of every page size, also for each NUMA node, the memory of the nodes, and where hugetlbfs is mounted."""
    name = r"^hugepages-(\d+)kB$"
    default = parse_meminfo(text_of(root, "proc/meminfo")).get("Hugepagesize")
    nodes = _folders(os.path.join(root, NODES), r"^node(\d+)$")
    by_node = {node: _folders(os.path.join(folder, "hugepages"), name) for node, folder in nodes.items()}
    pools = []
    for size, folder in sorted(_folders(os.path.join(root, "sys/kernel/mm/hugepages"), name).items()):
        pool: Dict[str, Any] = dict(_counts(folder), size_bytes=size * 1024)
        pool["nodes"] = [
            dict(_counts(folders[size]), node=node) for node, folders in sorted(by_node.items()) if size in folders
        ]
        pools.append(pool)
    return {
        "default_size_bytes": default,
        "pools": pools,
        "nodes": node_memory(root),
        "mounts": parse_mounts(text_of(root, "proc/mounts"), default),
        "sysctl": other_settings(root),
    }

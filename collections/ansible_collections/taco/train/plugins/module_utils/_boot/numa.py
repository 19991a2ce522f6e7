# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""See the NUMA nodes of a host. Everything is read below a given root."""

import re
from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.module_utils._boot.units import names_in, text_of

NODES = "sys/devices/system/node"


def node_memory(root: str) -> List[Dict[str, Any]]:
    """Return the NUMA nodes that have memory, with how much of it, and whether they have CPUs."""
    found = []
    for node in sorted(int(name[len("node") :]) for name in names_in(root, NODES) if re.match(r"node\d+$", name)):
        total = re.search(r"MemTotal:\s+(\d+) kB", text_of(root, f"{NODES}/node{node}/meminfo"))
        if total and int(total.group(1)):
            cpus = text_of(root, f"{NODES}/node{node}/cpulist") != "\n"
            found.append({"node": node, "memory_bytes": int(total.group(1)) * 1024, "cpus": cpus})
    return found

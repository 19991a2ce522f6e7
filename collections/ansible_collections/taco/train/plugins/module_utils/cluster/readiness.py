# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a node is back from a reboot or a restart of its kubelet, and offers what it should. Values in, values out."""

import re
from typing import Any, Dict, List, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PAGE_BYTES
from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import lacks
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError, amount

Resource = Mapping[str, Any]
RESOURCES = {"1G": "hugepages-1Gi", "2M": "hugepages-2Mi"}


def pages(node: Resource) -> Dict[str, int]:
    """Return how many hugepages of each size the node's kubelet has counted."""
    capacity = (node.get("status") or {}).get("capacity") or {}
    return {
        size: int(amount(capacity.get(resource, 0), f"capacity {resource}") // PAGE_BYTES[size])
        for size, resource in RESOURCES.items()
    }


def wanted_pages(given: Mapping[Any, Any]) -> Dict[str, int]:
    """Return the counts of pages that are waited for, as numbers."""
    counts = {}
    for size, count in given.items():
        if size not in RESOURCES:
            raise MpijobError(f"pages has the size {size!r}: expected {' or '.join(RESOURCES)}")
        if isinstance(count, bool) or not re.fullmatch(r"[0-9]{1,15}", str(count)):
            raise MpijobError(f"pages of {size} are {count!r}: expected a whole number, 0 or more")
        counts[size] = int(count)
    return counts


def gone(name: str) -> str:
    return (
        f"the cluster has node {name} no more, which it had when the wait began: check that its kubelet runs and registers the node "
        "(journalctl -u kubelet on the host)"
    )


def page_problems(node: Resource, wanted: Mapping[str, int]) -> List[str]:
    """Return where the kubelet's count differs from the kernel's, which it looks at only when it starts."""
    counted = pages(node)
    return [
        f"its kubelet counts {counted[size]} hugepages of {size}, and its kernel has {count}: restart the kubelet"
        for size, count in wanted.items()
        if counted[size] != count
    ]


def boot_problems(node: Resource, boot_id: Optional[str]) -> List[str]:
    """Return whether what the cluster says of the node is of an earlier boot."""
    told = ((node.get("status") or {}).get("nodeInfo") or {}).get("bootID")
    if not boot_id or not told or told == boot_id:
        return []
    return [
        "its kubelet has not reported since the reboot: check the kubelet's log (journalctl -u kubelet) on the host"
    ]


def problems(
    node: Resource, resources: Mapping[str, Any], counts: Mapping[str, int], boot_id: Optional[str] = None
) -> List[str]:
    """Return what a node that should be back is still to be waited for. Its cordon is none of that."""
    return boot_problems(node, boot_id) + page_problems(node, counts) + lacks(node, resources)


def outline(node: Resource) -> Dict[str, Any]:
    """Return what is decided on of a node: the list of its images alone can be longer than all else."""
    metadata, status = node.get("metadata") or {}, node.get("status") or {}
    return {
        "metadata": {key: metadata[key] for key in ("name", "labels", "annotations") if key in metadata},
        "spec": dict(node.get("spec") or {}),
        "status": {key: status[key] for key in ("allocatable", "capacity", "conditions", "nodeInfo") if key in status},
    }

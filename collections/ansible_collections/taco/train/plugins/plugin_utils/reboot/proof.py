# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge from two observations of a host whether a reboot did what it was for. Values in, sentences out."""

from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PAGE_BYTES, KernelLine

GIB = 1024**3


def _pool(node: Dict[str, Any], size_bytes: int) -> Optional[Dict[str, Any]]:
    pools: List[Dict[str, Any]] = node["hugepages"]["pools"]
    return next((pool for pool in pools if pool["size_bytes"] == size_bytes), None)


def _short_pool(node: Dict[str, Any], page_size: str, count: int) -> List[str]:
    pool = _pool(node, PAGE_BYTES[page_size])
    if pool is None and count == 0:
        return []
    if pool is None:
        return [f"the kernel has no pool of {page_size} pages; expected {count} pages"]
    if pool["total"] == count:
        return []
    free = node["memory"]["available_bytes"] / GIB
    places = ", ".join(f"NUMA node {place['node']} has {place['total']}" for place in pool["nodes"])
    kind = f"{count - pool['total']} missing" if pool["total"] < count else f"{pool['total'] - count} too many"
    return [
        f"{pool['total']} of {count} pages of {page_size} are reserved, {kind}"
        + (f" ({places})" if places else "")
        + f"; {free:.1f} GiB of memory are free"
    ]


def boot_problems(
    after: Dict[str, Any],
    page_size: str,
    count: int,
    boot_id_before: Optional[str] = None,
    said: Optional[List[str]] = None,
) -> List[str]:
    """Return what is wrong with a host that should run with count pages of page_size; an empty list is a proof.

    A count of 0 asks for a kernel line that reserves none, as after a rollback.

    after is what node_info returned; boot_id_before, where known, is the boot id from before the reboot. said holds the counts
    that the boot configuration gives for the page size; where it isn't count once, as after putting back what others left
    there, the kernel line must say the same and how many pages that makes is the kernel's business.
    """
    problems = []
    if boot_id_before is not None and after["kernel"]["boot_id"] == boot_id_before:
        problems.append(f"it did not reboot: its boot id is still {boot_id_before}")
    cmdline = after["kernel"]["cmdline"]
    line = KernelLine(cmdline.split())
    given = line.counts(page_size)
    if said and said != [str(count)]:
        if given != said:
            problems.append(
                f"its kernel line should say hugepages={' and '.join(said)} for pages of {page_size}: {cmdline}"
            )
        return problems
    wanted = count if count or given == ["0"] else None
    problems += [f"its kernel line is wrong, {said}: {cmdline}" for said in line.problems(page_size, wanted)]
    problems += _short_pool(after, page_size, count)
    mounts = after["hugepages"]["mounts"]
    sizes = [mount["page_size_bytes"] for mount in mounts]
    if count and mounts and PAGE_BYTES[page_size] not in sizes:
        where = ", ".join(f"{mount['path']} ({mount['page_size_bytes']} bytes)" for mount in mounts)
        problems.append(f"no hugetlbfs mount has pages of {page_size}; mounted: {where}")
    return problems

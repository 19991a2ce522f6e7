# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Judge from two observations of a host whether a reboot did what it was for. Values in, sentences out."""

from typing import Any, Dict, List, Optional

GIB = 1024**3
SIZES = {"2M": 2 * 1024**2, "1G": GIB}


def _names_size(token: str, page_size: str) -> bool:
    """Say whether hugepagesz=... names this page size; the kernel stops reading at the first letter, so 1G is 1GB."""
    return token.split("=", 1)[1].upper().rstrip("B") == page_size


def _count_on(cmdline: str, page_size: str) -> List[str]:
    """Return the hugepages= values that a kernel line gives to one page size, in order.

    A C(hugepages=) belongs to the C(hugepagesz=) before it; one without belongs to the default size
    (hugetlbpage.rst in the kernel's documentation).
    """
    tokens = cmdline.split()
    defaults = [token for token in tokens if token.startswith("default_hugepagesz=")]
    current_matches = bool(defaults) and _names_size(defaults[-1], page_size)
    found = []
    for token in tokens:
        if token.startswith("hugepagesz="):
            current_matches = _names_size(token, page_size)
        elif token.startswith("hugepages=") and current_matches:
            found.append(token.split("=", 1)[1])
    return found


def _pool(node: Dict[str, Any], size_bytes: int) -> Optional[Dict[str, Any]]:
    for pool in node["hugepages"]["pools"]:
        if pool["size_bytes"] == size_bytes:
            return pool
    return None


def _short_pool(node: Dict[str, Any], page_size: str, count: int) -> List[str]:
    pool = _pool(node, SIZES[page_size])
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


def boot_problems(after: Dict[str, Any], page_size: str, count: int, boot_id_before: Optional[str] = None) -> List[str]:
    """Return what is wrong with a host that should run with count pages of page_size; an empty list is a proof.

    A count of 0 asks for a kernel line that reserves none, as after a rollback.

    after is what node_info returned; boot_id_before, where known, is the boot id from before the reboot.
    """
    problems = []
    if boot_id_before is not None and after["kernel"]["boot_id"] == boot_id_before:
        problems.append(f"it did not reboot: its boot id is still {boot_id_before}")
    given = _count_on(after["kernel"]["cmdline"], page_size)
    if given != [str(count)] and (given or count):
        said = " and ".join(f"hugepages={value}" for value in given) or "none"
        problems.append(
            f"its kernel line should say hugepages={count} once for pages of {page_size}; it says {said}: "
            + after["kernel"]["cmdline"]
        )
    problems += _short_pool(after, page_size, count)
    mounts = after["hugepages"]["mounts"]
    sizes = [mount["page_size_bytes"] for mount in mounts]
    if count and mounts and SIZES[page_size] not in sizes:
        where = ", ".join(f"{mount['path']} ({mount['page_size_bytes']} bytes)" for mount in mounts)
        problems.append(f"no hugetlbfs mount has pages of {page_size}; mounted: {where}")
    return problems

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many hugepages a host needs, and how many it has room for. Numbers in, numbers out."""

from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PAGE_BYTES, Number, by_node, pages_of


class HugepagesError(Exception):
    """The pages can't be reserved as asked; nothing was written."""


def pages_for(gpus: int, page_size: str = "1G") -> int:
    """Return how many pages HARP needs on a host with this many GPUs (the vendor's rule: GPUs x 5 + 10 pages of 1 GiB)."""
    if gpus < 1:
        raise HugepagesError(f"a host with {gpus} GPUs needs no pages: set taco_gpus_per_node or hugepages_count")
    return (gpus * 5 + 10) * (PAGE_BYTES["1G"] // PAGE_BYTES[page_size])


def page_support(cpu: Mapping[str, Any], page_size: str) -> Tuple[bool, str]:
    """Return whether a processor has pages of a size, and the flag by which it says so."""
    return (cpu["page_1g"], "pdpe1gb") if page_size == "1G" else (cpu["page_2m"], "pse")


def fitting(page_size: str, memory_bytes: int, fraction: float, others_bytes: int = 0) -> int:
    """The number of pages that leave a host enough memory. others_bytes is what pages of other sizes take."""
    return int((memory_bytes * fraction - others_bytes) // PAGE_BYTES[page_size])


def require_fit(
    page_size: str,
    count: int,
    memory_bytes: Optional[int],
    fraction: float,
    supported: bool,
    flag: str,
    others_bytes: int = 0,
) -> None:
    """Refuse what would not boot, or boot into a host without memory. others_bytes is what pages of other sizes take."""
    if not 0 < fraction <= 1:
        raise HugepagesError(f"hugepages_max_memory_fraction is {fraction}; it must be more than 0 and at most 1")
    if count < 0:
        raise HugepagesError(f"the number of pages is {count}; it must not be negative: correct hugepages_count")
    if count and not supported:
        raise HugepagesError(
            f"the CPU has no pages of {page_size}: /proc/cpuinfo lacks the flag {flag}; choose another hugepages_page_size or host"
        )
    size = PAGE_BYTES[page_size] * count
    if memory_bytes is not None and count > fitting(page_size, memory_bytes, fraction, others_bytes):
        others = f" and others take {others_bytes / 1024.0**3:.1f} GiB, together" if others_bytes else ","
        raise HugepagesError(
            f"{count} pages of {page_size} are {size / 1024.0**3:.1f} GiB{others} more than {fraction:.0%} of the host's "
            f"{memory_bytes / 1024.0**3:.1f} GiB: lower hugepages_count (or taco_gpus_per_node), "
            "or raise hugepages_max_memory_fraction"
        )


def small_nodes(nodes: Sequence[Mapping[str, int]], page_size: str, number: Number, fraction: float) -> List[str]:
    """Say of each NUMA node with memory that is too small for its share of the pages; the kernel spreads a plain number evenly."""
    asked = by_node(str(number))
    share = -(-(pages_of(str(number)) or 0) // len(nodes)) if len(nodes) > 1 else 0
    found = []
    for node in nodes:
        room = fitting(page_size, node["memory_bytes"], fraction)
        wanted = asked.get(node["node"], 0) if asked else share
        if room < wanted:
            memory = f"{node['memory_bytes'] / 1024.0**3:.1f} GiB of memory, room for {room} pages of {page_size}"
            found.append(f"NUMA node {node['node']} has {memory}, and its share is {wanted}")
    return found

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge from two observations of a host whether a reboot did what it was for. Values in, sentences out."""

from typing import Any, Dict, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    PAGE_BYTES,
    KernelLine,
    by_node,
    pages_of,
)

GIB = 1024**3
HUGEPAGES = "/dev/hugepages"


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


def _distribution(node: Dict[str, Any], page_size: str, asked: Dict[int, int]) -> List[str]:
    """Compare the pages of each NUMA node with what the kernel line asks of it; without that each node with memory and CPUs has some."""
    pool = _pool(node, PAGE_BYTES[page_size])
    places = {place["node"]: place["total"] for place in pool["nodes"]} if pool else {}
    if asked:
        wrong = [
            f"NUMA node {number} has {places.get(number, 0)} pages of {page_size} and its kernel line asks for {pages}"
            for number, pages in sorted(asked.items())
            if places.get(number, 0) != pages
        ]
        return wrong and ["; ".join(wrong) + " (a kernel before 5.16 knows no numbers for each node)"]
    # Nothing runs on a node without CPUs.
    nodes = [one for one in node["hugepages"].get("nodes") or [] if one.get("cpus", True)]
    known = {one["node"]: one["memory_bytes"] for one in nodes}
    able = [number for number in places if known.get(number, 0 if known else GIB * 2) > PAGE_BYTES[page_size]]
    empty = [str(number) for number in able if not places[number]]
    if not empty or sum(places.values()) < len(able):
        return []
    given = ", ".join(f"NUMA node {number} has {pages}" for number, pages in sorted(places.items()))
    return [
        f"NUMA node {' and '.join(empty)} has none of the pages of {page_size} ({given}), so what runs there uses memory of another "
        "node: see what takes its memory at boot, lower hugepages_count, or, if that is meant, give the number of each node on the "
        "kernel line (hugepages=0:PAGES,1:PAGES)"
    ]


def _taken(node: Dict[str, Any], page_size: str) -> List[str]:
    """Name the pages of which none is free."""
    pool = _pool(node, PAGE_BYTES[page_size])
    if pool is None:
        return []
    places = {f"the {pool['total']} pages of {page_size}": pool}
    if pool["free"]:
        places = {f"the {one['total']} pages of {page_size} on NUMA node {one['node']}": one for one in pool["nodes"]}
    return [
        f"none of {name} is free, so a program holds them already: end it; `grep -l huge /proc/[0-9]*/numa_maps` lists those that do"
        for name, place in places.items()
        if place["total"] and not place["free"]
    ]


def _words(size: Optional[int]) -> str:
    names = {value: name for name, value in PAGE_BYTES.items()}
    return names.get(size or 0, f"{size} bytes" if size else "an unknown size")


def _closed(mount: Dict[str, Any], pool: Optional[Dict[str, Any]], page_size: str) -> Optional[Tuple[str, str]]:
    """Return why the pages can't all be taken at /dev/hugepages, and the fix, where its mount is read-only or has a limit."""
    limit = mount.get("limit_bytes")
    if mount.get("read_only"):
        fix = f"take ro out of its options in /etc/fstab or in `systemctl cat dev-hugepages.mount`, then `mount -o remount,rw {HUGEPAGES}`"
        return f"{HUGEPAGES} is mounted read-only, so no program can take pages there", fix
    if limit is None or pool is None or limit >= pool["total"] * PAGE_BYTES[page_size]:
        return None
    fix = (
        f"take size= out of its options in /etc/fstab or in `systemctl cat dev-hugepages.mount`, then `umount {HUGEPAGES}` and "
        f"`mount -t hugetlbfs -o pagesize={page_size} hugetlbfs {HUGEPAGES}`"
    )
    room = limit // PAGE_BYTES[page_size]
    return f"{HUGEPAGES} is mounted with size={limit}, room for {room} of the {pool['total']} pages of {page_size}", fix


def mount_problem(node: Dict[str, Any], page_size: str) -> Optional[Tuple[str, str]]:
    """Return what /dev/hugepages shows, and the fix, where that isn't pages of the size: training containers take them there."""
    mounts = {mount["path"]: mount for mount in node["hugepages"]["mounts"]}
    own = mounts.pop(HUGEPAGES, None)
    if own and own["page_size_bytes"] == PAGE_BYTES[page_size]:
        return _closed(own, _pool(node, PAGE_BYTES[page_size]), page_size)
    others = ", ".join(f"{path} ({_words(mount['page_size_bytes'])})" for path, mount in mounts.items())
    elsewhere = f"; mounted elsewhere: {others}" if others else ""
    command = f"`mount -t hugetlbfs -o pagesize={page_size} hugetlbfs {HUGEPAGES}`"
    if not own:
        fix = f"run `systemctl start dev-hugepages.mount`, or {command}"
        return f"no hugetlbfs is mounted at {HUGEPAGES}{elsewhere}", fix
    fix = f"correct its page size in /etc/fstab or in `systemctl cat dev-hugepages.mount`, then `umount {HUGEPAGES}` and {command}"
    return f"{HUGEPAGES} has pages of {_words(own['page_size_bytes'])} and not of {page_size}{elsewhere}", fix


def boot_problems(
    after: Dict[str, Any],
    page_size: str,
    count: int,
    boot_id_before: Optional[str] = None,
    said: Optional[List[str]] = None,
) -> List[str]:
    """Return what is wrong with a host that should run with count pages of page_size; an empty list is a proof.

    A count of 0 asks for a kernel line that reserves none, as after a rollback.

    The pages of each NUMA node, free pages and the mount at /dev/hugepages belong to the proof.

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
    if said and given != said and said != [str(count)]:
        problems.append(
            f"its kernel line should say hugepages={' and '.join(said)} for pages of {page_size}: {cmdline}"
        )
    if said and [pages_of(number) for number in said] != [count]:
        return problems
    wanted = count if count or given == ["0"] else None
    problems += [f"its kernel line is wrong, {said}: {cmdline}" for said in line.problems(page_size, wanted)]
    problems += _short_pool(after, page_size, count)
    # Before that is right, what it reserves by default, and so what is mounted, is another size with good reason.
    if count and not problems:
        asked = by_node(given[0]) if len(given) == 1 else {}
        problems += _distribution(after, page_size, asked) + _taken(after, page_size)
        mount = mount_problem(after, page_size)
        problems += [": ".join(mount)] if mount else []
    return problems

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide which settings of others contradict the pages of the kernel line, and name them. Values in, values out."""

import re
from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import KernelLine, canonical_size

Settings = List[Dict[str, Any]]

ARGUMENTS, MOUNT = "kernel arguments", "the page size of /dev/hugepages"
MOST_NAMED, LONGEST = 5, 240
# In the names of counters of one page size: the kernel's, DPDK's, and the options of hugeadm and of dpdk-hugepages.
SIZE = re.compile(r"hugepages-(\d+k)B|NR_(\w+)_PAGES|--pool-pages-min\W+(\d+\w+)|\s(?:-p|--pagesize)\W*(\d+\w*)")


def _agrees(setting: Dict[str, Any], page_size: str, count: int) -> bool:
    """Say whether a setting leaves count pages of a size as they are; arguments for another size only add to the kernel line."""
    name, value = setting["name"], setting["value"] or ""
    if name == MOUNT:
        return canonical_size(value) == page_size
    if name == ARGUMENTS:
        line = KernelLine(value.split())
        bare = [given for given in line.reservations if given.size_index is None]
        return not (line.defaults or bare or page_size in line.sizes.values())
    size = SIZE.search(name)
    if size and canonical_size("".join(filter(None, size.groups()))) != page_size:
        return True
    return _is_of_host(setting) and value.isdecimal() and int(value) == count


def _is_counter(setting: Dict[str, Any]) -> bool:
    return setting["name"] not in (ARGUMENTS, MOUNT)


def _is_of_host(setting: Dict[str, Any]) -> bool:
    """Say whether a setting is the number of pages of the whole host, not of one NUMA node."""
    return _is_counter(setting) and "/node" not in setting["name"]


def contradicting(settings: Settings, page_size: str, count: int) -> Settings:
    """Return the settings that change how many pages of a size there are, or what /dev/hugepages shows of them."""
    return [setting for setting in settings if not _agrees(setting, page_size, count)]


def in_words(settings: Settings) -> str:
    """Name the first few settings with file, line and who applies them."""
    named = []
    for setting in settings[:MOST_NAMED]:
        by = f" ({setting['by']})" if setting.get("by") else ""
        value = f"{'=' if _is_counter(setting) else ': '}{setting['value']}" if setting["value"] is not None else ""
        named.append(f"{setting['file']}:{setting['line']}{by} sets {setting['name']}{value}"[:LONGEST])
    return ", ".join(named + ([f"and {len(settings) - MOST_NAMED} more"] if len(settings) > MOST_NAMED else []))


def remedy(settings: Settings, page_size: str, count: int) -> str:
    """Say what makes contradicting settings agree with count pages of a size."""
    line, it = ("the line", "it") if len(settings) == 1 else ("these lines", "them")
    ways = [f"remove {line}"]
    if all(setting["name"] == MOUNT for setting in settings):
        ways.append(f"set {it} to {page_size}")
    elif all(map(_is_of_host, settings)):
        ways.append(f"set {it} to {count}")
    by = dict.fromkeys(setting.get("by") or "" for setting in settings[:MOST_NAMED])
    ways += [f"run `systemctl disable --now {name}`" for name in by if name.endswith(".service")]
    if any(name.startswith("tuned") for name in by):
        ways.append("choose another profile with `tuned-adm profile NAME`")
    ways += [f"take the pages out of {name}" for name in by if name.startswith("GRUB")]
    return ", or ".join(ways)

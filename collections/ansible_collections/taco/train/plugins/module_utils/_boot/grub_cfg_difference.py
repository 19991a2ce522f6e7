# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare a grub.cfg with what generating it from the same files gives. Texts in, a sentence out.

What each generation may word anew does not count: titles, comments, the language of whoever generates, how GRUB finds its disk, entries
of a kernel beside its usual one, and the pages themselves.
"""

import re
from typing import Callable, List, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.entries import (
    INSTALLED,
    LINUX_LINE,
    config_lines,
    menu_entry,
)
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PREFIXES

# Lines that say nothing about what boots, or who may change it.
WORDING = re.compile(
    r"$|#|\}|else\b|fi\b|submenu\b|search\b|insmod\b|set (?:root|locale_dir|lang)=|if \[ x\$feature_platform_search_hint\b"
)
# What protects an entry by a password.
ACCESS = re.compile(r"--unrestricted|--users[ =]\S+")
Device = Callable[[str], str]


def _entry(block: List[str], device: Device) -> List[str]:
    """Return what a menu entry that starts a kernel says: the kernel, its arguments, and who may start it."""
    linux = next(match for match in map(LINUX_LINE.match, block) if match)
    kernel, tokens = linux.group("kernel"), linux.group("arguments").split()
    kept = sorted(device(token) for token in tokens if not token.startswith(PREFIXES + INSTALLED))
    return [f"the entry of {kernel}"] + [f"{word} of {kernel}" for word in kept + ACCESS.findall(block[0])]


def essence(text: str, device: Device) -> List[str]:
    """Return what a grub.cfg says, in its order; device returns a root= argument as the device that it names."""
    found, kernels = [], []  # type: List[str], List[str]
    lines = config_lines(text)
    index = 0
    while index < len(lines):
        line, foreign = lines[index]
        block = [] if foreign else menu_entry(lines, index)
        if any(map(LINUX_LINE.match, block)):
            entry = _entry(block, device)
            found += entry if entry[0] not in kernels else []
            kernels.append(entry[0])
            index += len(block)
            continue
        words = " ".join(line.split())
        found += [] if WORDING.match(words) else [words]
        index += 1
    return found


def difference(now: str, generated: str, device: Device) -> Optional[str]:
    """Return the first thing that generating a grub.cfg changes beyond the pages, None if there is none."""
    before, after = essence(now, device), essence(generated, device)
    for words in before:
        if words not in after:
            return f"drops {words}, which nothing but this file holds"
    for words in after:
        if words not in before:
            return f"adds {words}, which this file does not hold"
    moved = next((words for words, other in zip(before, after) if words != other), None)
    return None if before == after else f"moves {moved or before[-1]}"

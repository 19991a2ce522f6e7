# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ranks whose own lines show an error that a line without a rank shows: theirs, and not that of the first process that ended."""

import re
from typing import List, Optional

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import CAUSES, OF_KERNEL
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import PREFIX_RANK, TORCH_RANK, Places
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# What the process on a broken GPU prints, where the kernel's line names none.
OF_BROKEN_GPU = {"illegal_access", "gpu_broken", "test_cuda"}
# A script's own tag.
OWN_TAG = re.compile(r"^\[?(?:[Rr]ank|RANK) ?(\d{1,7})(?:\]:?|:| on [\w.-]{1,253}:) ")


def rank_of(line: Line) -> Optional[int]:
    """The rank that a line has in its prefix or in its text."""
    if line.rank is not None or "ank" not in line.text[:MOST_CHARACTERS]:
        return line.rank
    told = PREFIX_RANK.search(line.text) or TORCH_RANK.search(line.text) or OWN_TAG.match(line.text)
    return int(told[1]) if told else None


def ranks_with(places: Places, place: int, cause: Cause) -> List[int]:
    """The ranks with the same error, or with what follows from the one that the kernel reports."""
    of_kernel = cause.name == "gpu_broken" and OF_KERNEL.search(places.lines[place].text)
    names = OF_BROKEN_GPU if of_kernel else {cause.name}
    key = (*sorted(names),)
    if key in places.with_error:
        return places.with_error[key]
    patterns = [other.pattern for other in CAUSES if other.name in names]
    ranks = set()
    for line in places.lines:
        rank = rank_of(line)
        text = line.text[:MOST_CHARACTERS]
        if rank is not None and not text.startswith("[I") and any(pattern.search(text) for pattern in patterns):
            ranks.add(rank)
    return places.with_error.setdefault(key, sorted(ranks))

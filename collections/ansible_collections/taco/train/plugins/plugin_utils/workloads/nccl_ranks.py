# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many ranks took part in nccl-tests: by the list of devices, which may be cut, and by NCCL's lines of the communicator."""

import re
from typing import AbstractSet, Iterable, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import values

DEVICE = re.compile(r"#? *Rank +(\d{1,9}) .*\bdevice +\d+")
COMMUNICATOR = re.compile(r" rank \d{1,7} n[rR]anks (\d{1,7})\b")
# Size, count, type and operation, whatever columns follow.
SIZE = re.compile(r" *(\d{1,18} +\d{1,18} +[a-z]\w* +[a-z]\w*)(?: +\S+){5,}\s*$")
ALONE = "{} ranks each ran a test of their own: build nccl-tests with MPI=1."


def listed(lines: Iterable[str]) -> set[int]:
    """The ranks in the list of devices."""
    return {int(rank) for (rank,) in values(DEVICE, lines)}


def count(ranks: AbstractSet[int], lines: Sequence[str]) -> int | None:
    """The number of ranks, None where nothing names one. They are counted from 0, so the highest tells of those before it."""
    matches = (COMMUNICATOR.search(line) for line in lines if " NCCL INFO " in line)
    largest = max((int(match[1]) for match in matches if match), default=0)
    return max(max(ranks, default=-1) + 1, largest) or None


def sizes(lines: Iterable[str]) -> list[str]:
    """What each row begins with, also where the head of the table is missing."""
    return [" ".join(words.split()) for (words,) in values(SIZE, lines)]

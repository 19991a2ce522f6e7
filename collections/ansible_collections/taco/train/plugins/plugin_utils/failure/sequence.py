# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the numbers of the collective operations that PyTorch's watchdogs of several ranks print: who is behind."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import PREFIX_RANK, Places, located

# Each group of ranks counts its own operations.
WORK = re.compile(
    r"\[(?:PG (?P<group>[^\]\n]{1,80}) )?[Rr]ank \d{1,7}\][^\n]{0,120}?"
    r"(?P<kind>SeqNum=|last enqueued (?:NCCL )?work: )(?P<number>-?\d{1,18})"
)


class Behind(NamedTuple):
    """The ranks with the lowest number of operations, that number, and the lowest one of the others."""

    ranks: List[int]
    number: int
    others: int


def behind(places: Places) -> Optional[Behind]:
    """The fewer ranks whose numbers are all below those of the others, None without such."""
    numbers: Dict[Tuple[str, str], Dict[int, List[int]]] = {}
    for place, line in enumerate(places.lines):
        match = WORK.search(line.text[:MOST_CHARACTERS]) if "ork" in line.text else None
        known = match and (line.rank is not None or PREFIX_RANK.search(line.text) or _is_whole(match["group"]))
        rank = located(places, place, line.host, line.rank, False)[1] if known else None
        if match and rank is not None:
            of_group = numbers.setdefault((match["kind"][:3], match["group"] or ""), {})
            of_group.setdefault(rank, []).append(int(match["number"]))
    found = (lowest(of_group) for of_group in numbers.values())
    return next((ranks for ranks in found if ranks), None)


def _is_whole(group: Optional[str]) -> bool:
    """Whether a group holds all ranks. In any other the line has the rank within the group."""
    return not group or "default_pg" in group


def lowest(numbers: Dict[int, List[int]]) -> Optional[Behind]:
    """The ranks of one group that are behind, by the numbers of each rank."""
    number = min(max(of_rank) for of_rank in numbers.values())
    ranks = sorted(rank for rank, of_rank in numbers.items() if max(of_rank) == number)
    others = [least for rank, of_rank in numbers.items() if rank not in ranks for least in of_rank]
    if not others or len(ranks) > len(numbers) - len(ranks) or min(others) <= number:
        return None
    return Behind(ranks, number, min(others))

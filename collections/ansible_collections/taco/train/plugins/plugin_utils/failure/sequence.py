# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the collective operations that PyTorch's watchdogs of several ranks print: who is behind, who calls another one."""

import re
from collections import Counter
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.desync import Apart
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import PREFIX_RANK, Places, located
from ansible_collections.taco.train.plugins.plugin_utils.failure.ranks import SUBMIT_OTHERS

# Each group of ranks counts its own operations.
WORK = re.compile(
    r"\[(?:PG (?P<group>[^\]\n]{1,80}) )?[Rr]ank \d{1,7}\].{0,120}?(?P<kind>SeqNum=|last enqueued (?:NCCL )?work: )(?P<number>-?\d{1,18})"
)
OPERATION = re.compile(r"SeqNum=\d{1,18}, OpType=(?P<operation>\w{1,40})")


class Behind(NamedTuple):
    """The ranks with the lowest number of operations, that number, and the lowest one of the others."""

    ranks: List[int]
    number: int
    others: int


def _printed(places: Places) -> Iterator[Tuple[int, "re.Match[str]"]]:
    """The number of an operation and its rank, for each line of a watchdog that tells which rank it is of."""
    for place, line in enumerate(places.lines):
        match = WORK.search(line.text[:MOST_CHARACTERS]) if "ork" in line.text else None
        known = match and (line.rank is not None or PREFIX_RANK.search(line.text) or _is_whole(match["group"]))
        rank = located(places, place, line.host, line.rank, False)[1] if known else None
        if match and rank is not None:
            yield rank, match


def behind(places: Places) -> Optional[Behind]:
    """The fewer ranks whose numbers are all below those of the others, None without such."""
    numbers: Dict[Tuple[str, str], Dict[int, List[int]]] = {}
    for rank, match in _printed(places):
        of_group = numbers.setdefault((match["kind"][:3], match["group"] or ""), {})
        of_group.setdefault(rank, []).append(int(match["number"]))
    found = (lowest(of_group) for of_group in numbers.values())
    return next((ranks for ranks in found if ranks), None)


def other_operation(places: Places) -> Optional[Apart]:
    """The fewer ranks that wait in another operation than the others at the same number. They are not late, so this comes first."""
    operations: Dict[Tuple[str, str], Dict[int, str]] = {}
    for rank, match in _printed(places):
        called = OPERATION.match(match.string, match.start("kind"))
        if called:
            operations.setdefault((match["group"] or "", match["number"]), {})[rank] = called["operation"]
    for of_number in operations.values():
        counted = Counter(of_number.values()).most_common()
        if len(counted) == 2 and counted[0][1] > counted[1][1]:
            (usual, _most), (operation, _least) = counted
            ranks = sorted(rank for rank, one in of_number.items() if one == operation)
            return Apart(ranks, f"waiting in {operation}, where the other ranks wait in {usual}", SUBMIT_OTHERS.fix)
    return None


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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which ranks and hosts the others wait for: what PyTorch's watchdogs report, what these ranks printed last, who prints nothing."""

import re
from collections import Counter
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import MOST_CHARACTERS
from ansible_collections.taco.train.plugins.plugin_utils.failure.odd_one import Blamed, rank_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import PREFIX_RANK, Places, located
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import in_order
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import quoted

# Every rank waits for another one: none is to blame.
SAME_ORDER = (
    "make every rank call the same operations in the same order: look at code under a condition on the rank or the data (the last "
    "batch, validation, an early stop), and name the tensors alike on every rank"
)
IT_IS_BEHIND = (
    "look at what it prints last and at its host: it hangs, is slower, or calls fewer operations than the others (uneven data, code under "
    "a condition on the rank, a checkpoint or a validation)"
)
THEY_ARE_BEHIND = (
    "look at what they print last and at their hosts: they hang, are slower, or call fewer operations than the others (uneven data, code "
    "under a condition on the rank, a checkpoint or a validation)"
)
# The ranks in the report that did not do what the others did.
LAGGING = re.compile(
    r"^\s*(?:- ?)?\[(?P<ranks>\d{1,7}(?:, ?\d{1,7}){0,60})(?:, ?\.\.\.)?\] (?P<what>(?:finished collective #\d+, but didn't join "
    r"collective #\d+|joined but didn't finish collective #\d+|never joined any collectives?))"
)
STACK = re.compile(r"Stack trace of the failed collective")
CALL = re.compile(r"^#\d+ (?P<function>\S{1,120}) from (?P<file>\S{1,300}):(?P<number>\d+)\s*$")
INSTALLED = re.compile(r"/(?:site|dist)-packages/|/torch/|<string>")
MOST_CALLS = 40


def late(places: Places, place: int, fix: str) -> Optional[Blamed]:
    """Whom the others wait for in a collective operation, None where no line tells. The fix is that of the cause."""
    return other_operation(places) or behind(places, place) or apart(places) or without_timeout(places, fix)


def apart(places: Places) -> Optional[Blamed]:
    """The ranks that the report names, with the call of the others; None without a report."""
    lines = places.lines
    match = next(
        (match for match in (LAGGING.match(line.text) for line in lines if "collective" in line.text) if match), None
    )
    if not match:
        return None
    ranks = sorted(int(rank) for rank in match["ranks"].split(","))
    begin = next((number for number, line in enumerate(lines) if STACK.search(line.text)), len(lines))
    calls = (CALL.match(line.text) for line in lines[begin + 1 : begin + MOST_CALLS])
    call = next((call for call in calls if call and not INSTALLED.search(call["file"])), None)
    at = f", which the others called in {call['function']} at {call['file']}:{call['number']}" if call else ""
    where = f"line {call['number']} of {call['file']}" if call else "the stack of the failed collective"
    return Blamed(
        ranks,
        None,
        f"{match['what']}{at}",
        f"make every rank call this operation, or none: look at {where} for a condition on the rank or the data",
    )


# Each group of ranks counts its own operations.
WORK = re.compile(
    r"\[(?:PG (?P<group>[^\]\n]{1,80}) )?[Rr]ank \d{1,7}\].{0,120}?(?P<kind>SeqNum=|last enqueued (?:NCCL )?work: )(?P<number>-?\d{1,18})"
)
OPERATION = re.compile(r"SeqNum=\d{1,18}, OpType=(?P<operation>\w{1,40})")


def _printed(places: Places) -> Iterator[Tuple[int, "re.Match[str]"]]:
    """The number of an operation and its rank, for each line of a watchdog that tells which rank it is of."""
    for place, line in enumerate(places.lines):
        match = WORK.search(line.text[:MOST_CHARACTERS]) if "ork" in line.text else None
        known = match and (line.rank is not None or PREFIX_RANK.search(line.text) or _is_whole(match["group"]))
        rank = located(places, place, line.host, line.rank, False)[1] if known else None
        if match and rank is not None:
            yield rank, match


def behind(places: Places, place: int) -> Optional[Blamed]:
    """The fewer ranks whose numbers are all below those of the others, None without such."""
    numbers: Dict[Tuple[str, str], Dict[int, List[int]]] = {}
    for rank, match in _printed(places):
        of_group = numbers.setdefault((match["kind"][:3], match["group"] or ""), {})
        of_group.setdefault(rank, []).append(int(match["number"]))
    found = (lowest(of_group) for of_group in numbers.values())
    ranks, number, others = next((entry for entry in found if entry), ([], 0, 0))
    counted = f"in a collective operation (number {number}, the others {others} or more)"
    if len(ranks) > 1:
        return Blamed(ranks, None, f"they are behind the other ranks, which wait for them {counted}", THEY_ARE_BEHIND)
    if not ranks:
        return None
    words = words_of(places, ranks[0], place, telling=True) or Words("", "")
    found_of_one = f"it is behind the other ranks, which wait for it {counted}{words.found}"
    return Blamed(ranks, None, found_of_one, words.fix + IT_IS_BEHIND)


def other_operation(places: Places) -> Optional[Blamed]:
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
            return Blamed(ranks, None, f"waiting in {operation}, where the other ranks wait in {usual}", SAME_ORDER)
    return None


def _is_whole(group: Optional[str]) -> bool:
    """Whether a group holds all ranks. In any other the line has the rank within the group."""
    return not group or "default_pg" in group


def lowest(numbers: Dict[int, List[int]]) -> Optional[Tuple[List[int], int, int]]:
    """The ranks of one group with the lowest number of operations, that number, and the lowest one of the others."""
    number = min(max(of_rank) for of_rank in numbers.values())
    ranks = sorted(rank for rank, of_rank in numbers.items() if max(of_rank) == number)
    others = [least for rank, of_rank in numbers.items() if rank not in ranks for least in of_rank]
    if not others or len(ranks) > len(numbers) - len(ranks) or min(others) <= number:
        return None
    return ranks, number, min(others)


TIMEOUT = re.compile(r"[Ww]atchdog caught collective operation timeout")
# What a script prints of work that one rank does alone, and of data that ends.
ALONE = re.compile(
    r"(?i)\b(?:validat|evaluat|checkpoint|saving|download|rank[- ]?0 only|preprocess|tokeniz|building (?:the )?(?:index|cache))"
)
EXHAUSTED = re.compile(
    r"(?i)\b(?:exhausted|no more (?:data|batches|samples)|out of data|end of (?:the )?(?:data|sequence|input)|StopIteration)"
)
NAN = re.compile(r"(?i)\bloss[\"' ]{0,2}[:=]? {0,2}[-+]?(?:nan|inf)\b")
# What follows from the end of the run.
AFTERWARDS = re.compile(
    r"(?i)shut ?down|traceback|^ {1,4}File |error|exception|stall|missing ranks|warning|signal|\bNCCL\b|^\s*$|^\[[WIEF]\d|^ *\[\[|: [WIEF] "
)


class Words(NamedTuple):
    """The end of the sentence about a rank, and what to do first."""

    found: str
    fix: str


def words_of(places: Places, rank: int, end: int, telling: bool = False) -> Optional[Words]:
    """What a rank printed last before a line; where it must tell, only a line about data or work that it does alone."""
    nan = not_a_number(places, rank, end) if not telling else None
    if nan:
        return nan
    own = [line.text for line in places.lines[:end] if rank_of(line) == rank and not AFTERWARDS.search(line.text[:400])]
    alone = [text for text in own[-20:] if ALONE.search(text) or EXHAUSTED.search(text)]
    if not own or (telling and not alone):
        return None
    text = (alone or own)[-1 if not telling else 0]
    fix = ""
    if EXHAUSTED.search(text):
        fix = (
            "give every rank the same number of steps: equal parts of the data, drop the last batches, or hvd.join() or DDP's "
            "join() for the ranks that end early; "
        )
    elif ALONE.search(text):
        fix = (
            "let all ranks share this work or wait for it outside of collective operations, make it shorter, or raise the timeout of the "
            "process group (init_process_group(timeout=...)) above it; "
        )
    return Words(f"; its last line before: '{quoted(text)}'", fix)


def not_a_number(places: Places, rank: int, end: int) -> Optional[Words]:
    """That the loss of a rank, or of one that is not known, was no number before a line."""
    before = (line.text for line in places.lines[:end] if rank_of(line) in (None, rank))
    text = next((text for text in before if NAN.search(text[:400])), None)
    if text is None:
        return None
    fix = (
        "a rank that leaves out a step, as scaling of the loss does for NaN, leaves the others waiting: let all ranks agree on it "
        "(allreduce of the flag), and find why the loss is NaN (learning rate, data, mixed precision); "
    )
    return Words(f"; before, the loss is no number: '{quoted(text)}'", fix)


def without_timeout(places: Places, fix: str) -> Optional[Blamed]:
    """The only rank without a timeout of PyTorch's watchdog, where it prints of work that it does alone."""
    lines = places.lines
    timeouts: List[int] = [number for number, line in enumerate(lines) if TIMEOUT.search(line.text[:400])]
    waiting = {rank for rank in (rank_of(lines[number]) for number in timeouts) if rank is not None}
    known = {rank for rank in map(rank_of, lines) if rank is not None}
    absent: Sequence[int] = sorted(known - waiting)
    if len(absent) != 1 or len(waiting) < 2 or known != set(range(len(known))):
        return None
    words = words_of(places, absent[0], timeouts[0], telling=True)
    found = f"the other ranks wait for it in a collective operation until their timeout{words.found}" if words else ""
    return Blamed(absent, None, found, words.fix + fix) if words else None


# Fewer hosts that print than these don't make the others conspicuous.
LEAST_THAT_PRINT = 2


def silent_hosts(places: Places, hosts: Sequence[str]) -> List[str]:
    """The few hosts of the run, or of the launcher's command, without a line where most others have one."""
    command = in_order(places.lines)
    expected = list(hosts) or list(dict.fromkeys(command.values()))
    ranks = {line.rank for line in places.lines if line.rank is not None}
    ranks.update(places.ranks.values())
    printing = {line.host for line in places.lines if line.host}
    printing.update(host for host, _process in places.ranks)
    printing.update(places.headers)
    printing.update(places.hosts[rank] for rank in ranks if rank in places.hosts)
    short = {host.partition(".")[0] for host in printing}
    silent = [host for host in expected if host.partition(".")[0] not in short]
    those = len(expected) - len(silent)
    return silent if LEAST_THAT_PRINT <= those > len(silent) else []

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a line shows of a cause: the sentence, the host and the rank, and which other hosts and ranks print the same."""

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import DIGITS, MOST_CHARACTERS, context_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import (
    AFTER_LOSS,
    CAUSES,
    CRASHES,
    ENDS,
    OF_ALL,
    OF_KERNEL,
    OF_LOSS,
    OF_MPI,
    OF_NCCL,
    OF_OTHERS,
    OF_PROCESS,
    OF_REMOTE,
    OF_RESULT,
    OF_START,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import NEAR, groups_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import inventory_name, refusing_host
from ansible_collections.taco.train.plugins.plugin_utils.failure.odd_one import ranks_with
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import (
    LOCAL_RANK,
    Places,
    located,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.pods import pod_at
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import named, same_host
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import reported_by, sentence
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# One of so many lines with the same error names the host or the rank, or none does.
MOST_REPEATS = 20
# What a line begins with that has the host: NCCL's header, that of MPI, srun's. Another host prints the same behind it.
BEGIN = re.compile(r"^(?:srun: error: )?\[?[A-Za-z0-9][\w.-]{0,252}(?=:)")
# An address of IPv6, as the adapters have it: fe80::966d:ae03:8b:df78%ib0
GID = re.compile(r"(?<![\w:])(?=[\da-f]{0,4}:)(?:[\da-f]{0,4}:){3,7}[\da-f]{1,4}(?:%[\w.-]{1,16})?")
# What stands further behind are details, such as those of the operation that was under way.
MOST_ALIKE = 120
# The ranks in Horovod's report of a stall.
MISSING = re.compile(r"missing ranks: ([\d, ]{1,400})|Ranks (?P<barrier>[\d, ]{1,400}) failed to pass monitoredBarrier")
# Older versions list the others: of the ranks up to the highest, the rest is missing.
READY = re.compile(r"(?:\[ready|^) ranks: ([\d, ]{1,400})\]")
READY_FOR = re.compile(r"([\w./:-]{1,200}) \[ready ranks: ([\d, ]{1,400})\]")
MISSING_BELOW = re.compile(r"(?:Missing|Stalled) ranks:\s*$")
MOST_READY = 10_000
MOST_OF_A_NAME = 300
MOST_OF_A_REPORT = 20_000
MISSING_RANK = re.compile(r"(\d{1,7}): \[([^\]]{0,2000})")
TENSOR = re.compile(r"([\w./:-]{1,200}) $")


# A task ended with an error of its own, and srun then kills the others.
TASK_FAILED = re.compile(r"srun: error: \S+: tasks? [\d,-]+: Exited with exit code")
TERMINATING = re.compile(r"srun: .{0,60}Terminating (?:Step|job step)|DUE TO TASK FAILURE")
KILLED_TASK = re.compile(r"srun: error: \S+: tasks? [\d,-]+: Killed")


class Match(NamedTuple):
    """What a line shows of a cause: the sentence without a place, and the place."""

    text: str
    host: Optional[str]
    rank: Optional[int]
    reporter: bool
    """Whether the place is that of the process that printed the line, and not one that the line names."""
    values: Mapping[str, str] = {}
    """What the line and those around it name."""
    ranks: Sequence[int] = ()
    """Several ranks with the same error, where the line has none of its own."""


def match_at(places: Places, place: int, cause: Cause, hosts: Sequence[str]) -> Match:
    """What a line shows of a cause. Hosts are those of the run."""
    lines = places.lines
    line = lines[place]
    match = cause.pattern.search(line.text[:MOST_CHARACTERS])
    groups: Dict[str, Optional[str]] = {**match.groupdict()} if match else {}
    if cause.near:
        around = "\n".join(near.text for near in lines[place : place + NEAR])
        before = "\n".join(near.text for near in lines[max(place - NEAR, 0) : place])
        more = cause.near.search(around) or cause.near.search(before)
        groups.update({name: value for name, value in more.groupdict().items() if value} if more else {})
    more = context_of(cause, lines)
    known = {**(more.groupdict() if more else {}), **groups_of(cause.fields, lines, place)}
    for name, value in known.items():
        groups[name] = groups.get(name) or value
    host, number = named(groups, "host"), named(groups, "rank")
    rank = int(number) if number is not None else None
    reporter = host is None and rank is None
    own_host, own_rank = located(
        places,
        place,
        host or (line.host if rank in (None, line.rank) or cause.name in OF_OTHERS else None),
        line.rank if rank is None else rank,
        cause.name in ENDS or "host" not in groups,
    )
    if host and number is None and own_rank is not None and not same_host(places.hosts.get(own_rank), own_host):
        # The rank that prints the line runs elsewhere.
        own_rank = None if own_rank in places.hosts else own_rank
    several: Sequence[int] = ()
    if reporter and line.rank is None and cause.name in OF_PROCESS | {"gpu_broken"}:
        own = located(places, place, line.host, None, False)
        # A header is that of a process, which may be another one than those with ranks.
        showing = ranks_with(places, place, cause) if own[1] is None and own[0] in (None, line.host) else []
        if showing and own_rank not in showing:
            own_rank = showing[0] if len(showing) == 1 else None
            several = showing if own_rank is None else ()
            shown = {places.hosts.get(rank) for rank in showing}
            own_host = own[0] or (shown.pop() if len(shown) == 1 else None)
    if own_host is None and own_rank is None and cause.name in OF_REMOTE:
        own_host = places.remote(place) or (hosts[0] if len(hosts) == 1 else None)
    elif own_host is None and cause.name in ENDS:
        own_host = places.blacklisted
    names = {*groups, *(name.rstrip("0123456789") for name in groups)}
    values = {name: (named(groups, name) or "").strip() for name in names}
    text = places.with_hosts(sentence(cause.found, values, line.text, match.end() if match else 0))
    refusing = refusing_host(lines, values)
    if cause.name in OF_ALL:
        of_ranks = {*places.hosts.values()} if cause.name in OF_RESULT else set()
        host, rank, reporter = of_ranks.pop() if len(of_ranks) == 1 else None, None, False
    elif refusing and own_host:
        text += reported_by(own_host, own_rank)
        host, rank, reporter = refusing, None, False
    elif cause.name in OF_OTHERS:
        peer = host or places.hosts.get(-1 if rank is None else rank) or places.of_peer(values.get("peer", ""))
        host, reporter = own_host if same_host(peer, own_host) else peer, False
        if rank is None and (host is None or own_host != host):
            text += reported_by(own_host, own_rank)
        if host is None and rank is None:
            host, rank = not_reporting(places, cause, own_rank)
    else:
        host, rank = own_host, own_rank
        if cause.name in OF_START and rank is None:
            rank = places.not_started
    if host is None and rank is not None and len(hosts) == 1:
        host = hosts[0]
    if host is None and cause.name in OF_NCCL and {*places.hosts.values()} <= {places.of_nccl}:
        host = places.of_nccl
        # The lines of other processes do not tell where this one runs, and they have the value.
        rank = rank if places.with_nccl & {None, rank} or host is None else None
    if rank is None and cause.name in ENDS | CRASHES:
        local = LOCAL_RANK.search(line.text)
        rank = int(local[1]) if local and places.one_host else None
        text += f"; it is local rank {local[1]} of its host" if local and rank is None else ""
    if host is None and rank is None and cause.name in OF_MPI:
        host = places.around(place)
    if host is None and rank is None and not several and cause.name not in OF_ALL | OF_OTHERS:
        rank = places.local_first
    if (
        rank is None
        and cause.name in OF_PROCESS
        and not OF_KERNEL.search(line.text)
        and places.headers <= {host or places.of_nccl}
    ):
        rank = places.only
    if host is None and rank is None:
        host = pod_at(cause.name, lines, place)
    host = inventory_name(host, hosts, line.text, lines)
    return Match(text, host, rank, reporter, values, several if rank is None else ())


def not_reporting(places: Places, cause: Cause, rank: Optional[int]) -> Tuple[Optional[str], Optional[int]]:
    """Host and rank of the first process that ended, where it is not one of those that report another's end."""
    host, first = places.first_to_end
    if first is None or rank is None:
        return None, None
    own = (line.text for line in places.lines if line.rank == first)
    if first == rank or any(cause.pattern.search(text[:MOST_CHARACTERS]) for text in own):
        return None, None
    return host or places.hosts.get(first), first


def again(lines: Sequence[Line], place: int, cause: Cause) -> List[int]:
    """The next lines that show a cause once more."""
    numbers: List[int] = []
    for number in range(place + 1, len(lines)):
        if cause.pattern.search(lines[number].text[:MOST_CHARACTERS]):
            numbers.append(number)
            if len(numbers) == MOST_REPEATS:
                break
    return numbers


def first_causes(places: Places, found: Mapping[int, int]) -> Dict[int, int]:
    """The causes without those of a process that had lost another one before."""
    lost = [
        number
        for index, place in found.items()
        if CAUSES[index].name in OF_LOSS
        for number in [place, *again(places.lines, place, CAUSES[index])]
    ]
    failed = next(
        (number for number, line in enumerate(places.lines) if TASK_FAILED.search(line.text)), len(places.lines)
    )
    ended = next(
        (number for number in range(failed, len(places.lines)) if TERMINATING.search(places.lines[number].text)), None
    )
    return {
        index: place
        for index, place in found.items()
        if not (ended is not None and ended < place and KILLED_TASK.search(places.lines[place].text))
        if CAUSES[index].name not in AFTER_LOSS
        or OF_KERNEL.search(places.lines[place].text)
        or not any(number < place and may_be_of_one(places, number, place) for number in lost)
    }


def may_be_of_one(places: Places, number: int, other: int) -> bool:
    """Whether two lines can be those of one process: of one rank, else of one host, as far as they are known."""
    lines = places.lines
    host, rank = located(places, number, lines[number].host, lines[number].rank, False)
    other_host, other_rank = located(places, other, lines[other].host, lines[other].rank, False)
    if rank is not None and other_rank is not None:
        return rank == other_rank
    return host is None or other_host is None or same_host(host, other_host)


def masked(line: Line) -> str:
    """The begin of a line without its host, its addresses and its numbers."""
    return DIGITS.sub("0", GID.sub("0", BEGIN.sub("", line.text[:MOST_CHARACTERS])))[:MOST_ALIKE]


def missing_ranks(lines: Sequence[Line], place: int) -> List[int]:
    """The ranks in Horovod's first report of a stall: in its line, or in the lines below it."""
    ranks: List[int] = []
    for number in range(place, min(place + NEAR, len(lines))):
        match = MISSING.search(lines[number].text)
        if match:
            return [int(rank) for rank in re.findall(r"\d+", match[1] or match["barrier"])]
        match = READY.search(lines[number].text)
        if match:
            ready = [int(rank) for rank in re.findall(r"\d+", match[1])]
            return sorted({*range(min(max(ready, default=0), MOST_READY))} - {*ready})
        if MISSING_BELOW.match(lines[number].text):
            rows = [line.text for line in lines[number + 1 : number + 1 + MOST_REPEATS] if line.text.strip()]
            below = [MISSING_RANK.match(row) for row in rows]
            for row in below:
                if not row:
                    break
                ranks.append(int(row[1]))
            return ranks
    return ranks


def differ(lines: Sequence[Line], place: int) -> bool:
    """Whether ranks miss different tensors in Horovod's report of a stall: each submits some that others do not."""
    missing: Dict[int, Set[str]] = {}
    # Older versions list who is ready: the ranks of one tensor are then not ready for another.
    ready = {
        frozenset(re.findall(r"\d+", ranks))
        for line in lines[place : place + MOST_REPEATS]
        if "[ready ranks: " in line.text
        for _tensor, ranks in READY_FOR.findall(line.text[:MOST_OF_A_REPORT])
    }
    if any(one - other and other - one for one in ready for other in ready):
        return True
    for line in lines[place : place + MOST_REPEATS]:
        row, match = MISSING_RANK.match(line.text), MISSING.search(line.text)
        tensor = TENSOR.search(line.text[: match.start() - 1][-MOST_OF_A_NAME:]) if match else None
        if row:
            missing.setdefault(int(row[1]), set()).update(re.findall(r"[^,\s]+", row[2]))
        elif match and tensor:
            for rank in re.findall(r"\d+", match[1] or ""):
                missing.setdefault(int(rank), set()).add(tensor[1])
    sets = list(missing.values())
    return any(one - other and other - one for one in sets for other in sets)


def reporters(places: Places, place: int, cause: Cause, hosts: Sequence[str]) -> Tuple[Set[str], Set[int]]:
    """The hosts and the ranks that print the same line but for its numbers: none of them is more to blame than another."""
    lines = places.lines
    words = masked(lines[place])
    same = [
        number
        for number in range(place, len(lines))
        if masked(lines[number]) == words and cause.pattern.search(lines[number].text[:MOST_CHARACTERS])
    ]
    matches = [match_at(places, number, cause, hosts) for number in same[:MOST_REPEATS]]
    ranks = {match.rank for match in matches if match.rank is not None}
    ranks.update(rank for rank in (lines[number].rank for number in same) if rank is not None)
    shown = {match.host for match in matches if match.host}
    return {
        name for name in shown if not any(same_host(name, other) for other in shown if len(other) < len(name))
    }, ranks

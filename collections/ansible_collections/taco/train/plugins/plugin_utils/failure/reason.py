# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find in the output of a failed run its cause, the host and the rank, and what to do. The table of causes is in causes.py."""

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.advice import fix_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import (
    DIGITS,
    MOST_CHARACTERS,
    causes_in,
    context_of,
    unwrapped,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import (
    CAUSES,
    ENDS,
    EXPLAINED_BY,
    FIRST_COUNTS,
    FOLLOWS,
    FROM_OUTSIDE,
    LISTED,
    LOST,
    OF_ALL,
    OF_EACH,
    OF_LOGIN,
    OF_ONE,
    OF_OTHERS,
    OF_REMOTE,
    OF_RESULT,
    OF_TWO,
    OF_TWO_AFTERWARDS,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.ending import (
    OF_STATUS,
    TRY,
    WITHOUT_CAUSE,
    last_line,
    launcher_text,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import NEAR, groups_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import (
    Places,
    inventory_name,
    located,
)

from ansible_collections.taco.train.plugins.plugin_utils.failure.problems import fix_of_problem
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import named
from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import secondary
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import (
    quoted,
    reported_by,
    sentence,
    with_place,
    with_places,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, tagged_lines

# One of so many lines with the same error names the host or the rank, or none does.
MOST_REPEATS = 20


class Reason(NamedTuple):
    """What was found, and what to change."""

    found: str
    fix: str
    cause: str = ""
    """The cause's name in the table, empty for one that isn't there."""
    host: Optional[str] = None
    rank: Optional[int] = None


class Match(NamedTuple):
    """What a line shows of a cause: the sentence without a place, and the place."""

    text: str
    host: Optional[str]
    rank: Optional[int]
    reporter: bool
    """Whether the place is that of the process that printed the line, and not one that the line names."""


def known_reason(text: str, hosts: Sequence[str] = ()) -> Optional[Reason]:
    """The cause of highest priority that the text shows, its first line of several. Hosts are those of the run."""
    lines = unwrapped(tagged_lines(text))
    found = causes_in(lines, secondary(lines)) or causes_in(lines)
    if not found:
        return None
    best = the_first(found, lines)
    cause, place, places = CAUSES[best], found[best], Places(lines)
    first = match_at(places, place, cause, hosts)
    first = first._replace(text=first.text + also(found, best, lines))
    fix = fix_of(cause, lines, place)
    if first.host is None and first.rank is None and cause.name not in FROM_OUTSIDE:
        # A process repeats its error, and only one of the lines may have a header.
        later = (match_at(places, number, cause, hosts) for number in again(lines, place, cause))
        other = next((match for match in later if match.host or match.rank is not None), first)
        first = first._replace(host=other.host, rank=other.rank)
    elif first.reporter or cause.name in OF_EACH:
        of_hosts, of_ranks = reporters(places, place, cause, hosts)
        if len(of_ranks) > 1 or len(of_hosts) > 1:
            host = next(iter(of_hosts)) if len(of_hosts) == 1 else None
            return Reason(with_places(first.text, of_hosts, of_ranks), fix, cause.name, host)
    return Reason(with_place(first.text, first.host, first.rank), fix, cause.name, first.host, first.rank)


def also(found: Mapping[int, int], best: int, lines: Sequence[Line]) -> str:
    """The line of a second failure to log in or to find a host, which is another than the first."""
    if CAUSES[best].name not in OF_LOGIN:
        return ""
    others = sorted(index for index in found if CAUSES[index].name in OF_LOGIN - {CAUSES[best].name})
    return f"; also: '{quoted(lines[found[others[0]]].text)}'" if others else ""


def again(lines: Sequence[Line], place: int, cause: Cause) -> List[int]:
    """The next lines that show a cause once more."""
    numbers: List[int] = []
    for number in range(place + 1, len(lines)):
        if cause.pattern.search(lines[number].text[:MOST_CHARACTERS]):
            numbers.append(number)
            if len(numbers) == MOST_REPEATS:
                break
    return numbers


def reporters(places: Places, place: int, cause: Cause, hosts: Sequence[str]) -> Tuple[Set[str], Set[int]]:
    """The hosts and the ranks that print the same line but for its numbers: none of them is more to blame than another."""
    lines = places.lines
    words = DIGITS.sub("0", lines[place].text)
    same = [number for number in range(place, len(lines)) if DIGITS.sub("0", lines[number].text) == words]
    matches = [match_at(places, number, cause, hosts) for number in same[:MOST_REPEATS]]
    ranks = {match.rank for match in matches if match.rank is not None}
    ranks.update(rank for rank in (lines[number].rank for number in same) if rank is not None)
    return {match.host for match in matches if match.host}, ranks


def the_first(places: Mapping[int, int], lines: Sequence[Line]) -> int:
    """The cause of highest priority, and not what follows from the end of another process."""
    best = min(places)
    name = CAUSES[best].name
    outside = [index for index in places if CAUSES[index].name in FROM_OUTSIDE and places[index] < places[best]]
    if outside and name in FOLLOWS - FROM_OUTSIDE:
        return min(outside, key=lambda index: places[index])
    explained = [index for index in places if CAUSES[index].name == EXPLAINED_BY.get(name)]
    if explained:
        return explained[0]
    if name in FIRST_COUNTS and LISTED.match(lines[places[best]].text):
        listed = [
            index for index in places if CAUSES[index].name in FIRST_COUNTS and LISTED.match(lines[places[index]].text)
        ]
        return min(listed, key=lambda index: places[index])
    if name in OF_TWO or name in OF_TWO_AFTERWARDS:
        of_one = [index for index in places if CAUSES[index].name in OF_ONE]
        return min((index for index in of_one if places[index] < places[best] or decides(index, name)), default=best)
    return best


def decides(index: int, name: str) -> bool:
    """Whether the cause of one process comes before another between processes wherever it stands: launchers say it at their end."""
    return name in OF_TWO and (CAUSES[index].name == "killed" or name == "stalled")


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
        host or line.host,
        line.rank if rank is None else rank,
        cause.name in ENDS or "host" not in groups,
    )
    if own_host is None and own_rank is None and cause.name in OF_REMOTE:
        own_host = places.remote(place)
    elif own_host is None and cause.name in ENDS:
        own_host = places.blacklisted
    values = {name: (named(groups, name) or "").strip() for name in groups}
    text = places.with_hosts(sentence(cause.found, values, line.text, match.end() if match else 0))
    if cause.name in OF_ALL:
        host, rank = None, None
    elif cause.name in OF_OTHERS:
        host, reporter = (
            host or places.hosts.get(-1 if rank is None else rank) or places.of_peer(values.get("peer", "")),
            False,
        )
        if host is None and rank is None:
            text += reported_by(own_host, own_rank)
            host, rank = not_reporting(places, cause, own_rank)
    else:
        host, rank = own_host, own_rank
    host = inventory_name(host, hosts, line.text)
    return Match(text, host, rank, reporter)


def not_reporting(places: Places, cause: Cause, rank: Optional[int]) -> Tuple[Optional[str], Optional[int]]:
    """Host and rank of the first process that ended, where it is not one of those that report another's end."""
    host, first = places.first_to_end
    if first is None or rank is None:
        return None, None
    own = (line.text for line in places.lines if line.rank == first)
    if first == rank or any(cause.pattern.search(text[:MOST_CHARACTERS]) for text in own):
        return None, None
    return host or places.hosts.get(first), first


def reason(
    text: str, rc: Optional[int], timed_out: bool, timeout: int, problems: List[str], hosts: Sequence[str] = ()
) -> Optional[Reason]:
    """Why a run failed, or None when it didn't."""
    if timed_out:
        still = f"it was still running after {timeout} s and was ended"
        known = known_reason(text, hosts)
        if known and known.cause not in ENDS:
            # Ranks that are being ended lose each other, too.
            more = (
                "; if iterations went on until the end, set benchmark_timeout higher" if known.cause in OF_TWO else ""
            )
            return known._replace(found=f"{still}; {known.found}", fix=known.fix + more)
        words = last_line(text)
        still += f"; its last line: '{words}'" if words else ""
        return Reason(still, "look at the log for what it waits for, or set benchmark_timeout higher", "timeout")
    if rc:
        return reason_of_status(text, rc, hosts)
    if problems:
        known = known_reason(text, hosts)
        if known and known.cause in OF_RESULT:
            return known._replace(found=" ".join(problems).rstrip("."))
        problem = " ".join(problems).rstrip(".")
        if known and known.cause in LOST and "counted" in problem:
            # Horovod goes on with fewer ranks.
            return known._replace(found=f"{problem}: {known.found}")
        return Reason(problem, fix_of_problem(problem))
    return None


def reason_of_status(text: str, rc: int, hosts: Sequence[str]) -> Reason:
    """Why a run ended with a status other than 0."""
    known = known_reason(text, hosts)
    if known and known.cause != "exit_code":
        return known
    printed = None if known else launcher_text(text)
    if printed:
        host = inventory_name(printed.host, hosts, printed.text)
        return Reason(f"mpirun reports: {printed.text}", TRY, "launcher", host)
    words = last_line(text, known.rank if known else None)
    if known:
        where = known.found.split(":")[0]
        return known._replace(found=f"{where} failed, its last line: '{words}'" if words else known.found)
    found = f"mpirun ended with status {rc}" + (f" and '{words}'" if words else "")
    status = rc if rc > 0 else 128 - rc
    ended = next((cause for cause in reversed(CAUSES) if cause.name == OF_STATUS.get(status)), None)
    if ended:
        return Reason(f"{found}: {sentence(ended.found, {}, '')}", ended.fix, ended.name)
    return Reason(found, WITHOUT_CAUSE.get(status, TRY))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find in the output of a failed run its cause, the host and the rank, and what to do. The table of causes is in causes.py."""

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.failure.advice import fix_of, fix_of_problem
from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import (
    causes_of,
    unwrapped,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import (
    CAUSES,
    ENDS,
    FIRST_OF_NAME,
    FROM_OUTSIDE,
    LOST,
    OF_EACH,
    OF_LOGIN,
    OF_OTHERS,
    OF_REMOTE,
    OF_RESULT,
    OF_TWO,
    the_first,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.ending import (
    ITERATION,
    OF_PROGRAM,
    OF_STATUS,
    OWN_ERROR,
    TRY,
    WITHOUT_CAUSE,
    last_line,
    launcher_text,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.hosts import inventory_name
from ansible_collections.taco.train.plugins.plugin_utils.failure.late import SAME_ORDER, late, silent_hosts, words_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.matches import (
    Match,
    again,
    differ,
    first_causes,
    match_at,
    missing_ranks,
    reporters,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.odd_one import odd_one
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import Places, located
from ansible_collections.taco.train.plugins.plugin_utils.failure.rank_map import same_host
from ansible_collections.taco.train.plugins.plugin_utils.failure.rendezvous import TOO_MANY, too_many
from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import secondary
from ansible_collections.taco.train.plugins.plugin_utils.failure.wording import (
    listed,
    quoted,
    sentence,
    with_place,
    with_places,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines


class Reason(NamedTuple):
    """What was found, and what to change."""

    found: str
    fix: str
    cause: str = ""
    """The cause's name in the table, empty for one that isn't there."""
    host: Optional[str] = None
    rank: Optional[int] = None


def known_reason(text: str, hosts: Sequence[str] = ()) -> Optional[Reason]:
    """The cause of highest priority that the text shows, its first line of several. Hosts are those of the run."""
    lines = unwrapped(tagged_lines(text))
    found = causes_of(lines, secondary(lines))
    if not found:
        return None
    places = Places(lines)
    found = first_causes(places, found)
    best = the_first(found, lines)
    cause, place = CAUSES[best], found[best]
    cause = TOO_MANY if too_many(lines[place].text) else cause
    if cause.name == "stalled" and differ(lines, place):
        return Reason("the ranks submit different tensors, and each waits for the others", SAME_ORDER, cause.name)
    first = match_at(places, place, cause, hosts)
    fix = fix_of(cause, lines, place, first.values)
    compared = of_the_others(places, place, cause, first, fix, hosts)
    if compared:
        return compared
    together = of_one_line(places, place, cause, first) or list(first.ranks)
    if cause.name in OF_LOGIN:
        more, other_fix = also(places, found, best, first, hosts)
        first, fix = first._replace(text=first.text + more), fix + other_fix
    elif len(together) == 1 and first.rank in (None, together[0]):
        host = first.host if first.rank is not None else inventory_name(places.hosts.get(together[0]), hosts, "")
        words = words_of(places, together[0], place) if cause.name == "stalled" else None
        first = first._replace(host=host, rank=together[0], text=first.text + (words.found if words else ""))
        fix = words.fix + fix if words else fix
    elif len(together) > 1:
        of_hosts = [first.host] if first.host else []
        return Reason(with_places(first.text, of_hosts, together), fix, cause.name, first.host)
    if first.host is None and first.rank is None and cause.name not in FROM_OUTSIDE:
        # A process repeats its error, and only one of the lines may have a header.
        later = (match_at(places, number, cause, hosts) for number in again(lines, place, cause))
        own = (
            located(places, place, lines[place].host, lines[place].rank, False)[0] if cause.name in OF_OTHERS else None
        )
        # Behind the loss of a peer, a process also loses the connections to itself.
        other = next(
            (
                match
                for match in later
                if (match.host or match.rank is not None) and not (own and same_host(own, match.host))
            ),
            first,
        )
        first = first._replace(host=other.host, rank=other.rank)
    elif first.reporter or cause.name in OF_EACH:
        hosts_of, ranks_of = reporters(places, place, cause, hosts)
        if len(ranks_of) > 1 or len(hosts_of) > 1:
            host = next(iter(hosts_of)) if len(hosts_of) == 1 else None
            return Reason(with_places(first.text, hosts_of, ranks_of), fix, cause.name, host)
        if first.rank is None and first.host and cause.name not in OF_REMOTE:
            first = first._replace(rank=rank_at_end(places, place, cause, hosts))
    elsewhere = (
        cause.name in FROM_OUTSIDE | OF_LOGIN | OF_OTHERS or first.rank is not None or "local rank" in first.text
    )
    local = (
        ""
        if elsewhere or not places.local
        else f"; torchrun names local rank {places.local} of its host as the first that ended"
    )
    return Reason(with_place(first.text + local, first.host, first.rank), fix, cause.name, first.host, first.rank)


def of_the_others(
    places: Places, place: int, cause: Cause, first: Match, fix: str, hosts: Sequence[str]
) -> Optional[Reason]:
    """The reason where lines of several ranks, compared with each other, show which of them is to blame; None where they do not."""
    if cause.name == "nccl_watchdog":
        blamed = late(places, place, fix)
    else:
        odd = odd_one(places, place, cause, hosts)
        blamed = odd and odd._replace(found=first.text + odd.found, fix=odd.fix + fix)
    if not blamed:
        return None
    rank = blamed.ranks[0] if len(blamed.ranks) == 1 else None
    host = blamed.host
    if host is None and rank is not None:
        host = places.hosts.get(rank) or (first.host if places.one_host or len(hosts) == 1 else None)
    host = inventory_name(host, hosts, "", places.lines)
    text = with_places(blamed.found, [host] if host else [], blamed.ranks)
    return Reason(text, blamed.fix, cause.name, host, rank)


def rank_at_end(places: Places, place: int, cause: Cause, hosts: Sequence[str]) -> Optional[int]:
    """The rank that the launcher says ended first, where one host only shows the cause and the lines have no ranks."""
    numbers = [place, *again(places.lines, place, cause)]
    shown = {match_at(places, number, cause, hosts).host for number in numbers}
    host, rank = places.first_to_end
    if host or rank is None or len(shown) > 1 or any(places.lines[number].rank is not None for number in numbers):
        return None
    return rank if places.hosts.get(rank) in {None, *shown} else None


def of_one_line(places: Places, place: int, cause: Cause, match: Match) -> List[int]:
    """The several ranks that a line names together: Slurm's tasks of a host, those that Horovod waits for."""
    if cause.name == "stalled":
        return missing_ranks(places.lines, place)
    return places.tasks(place, match.host) if match.host and match.rank is None else []


def also(places: Places, found: Mapping[int, int], best: int, first: Match, hosts: Sequence[str]) -> Tuple[str, str]:
    """The other hosts that could not be reached or found, and the line of another failure to log in, with what to do about it."""
    lines, cause = places.lines, CAUSES[best]
    matches = (match_at(places, number, cause, hosts) for number in again(lines, found[best], cause))
    others = list(dict.fromkeys(match.host for match in matches if match.host and match.host != first.host))
    text = f"; the same for {listed(others, 'hosts')}" if others and first.host else ""
    same = {cause.name} - FIRST_OF_NAME
    causes = sorted(index for index in found if index != best and CAUSES[index].name in OF_LOGIN - same)
    if not causes:
        return text, ""
    place = found[causes[0]]
    return f"{text}; also: '{quoted(lines[place].text)}'", f"; then {fix_of(CAUSES[causes[0]], lines, place, {})}"


def reason_of_end(
    text: str, rc: Optional[int], timed_out: bool, timeout: int, problems: List[str], hosts: Sequence[str] = ()
) -> Optional[Reason]:
    """Why a run failed by how it ended, or None when it didn't."""
    if timed_out:
        still = f"it was still running after {timeout} s and was ended"
        known = known_reason(text, hosts)
        if known and known.cause not in ENDS:
            # Ranks that are being ended lose each other, too.
            higher = known.cause in OF_TWO and ITERATION.search(text)
            more = "; if iterations went on until the end, set benchmark_timeout higher" if higher else ""
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


def reason(
    text: str, rc: Optional[int], timed_out: bool, timeout: int, problems: List[str], hosts: Sequence[str] = ()
) -> Optional[Reason]:
    """Why a run failed, with the hosts that print nothing where ranks waited for others; None when it didn't."""
    why = reason_of_end(text, rc, timed_out, timeout, problems, hosts)
    if why is None or why.cause not in OF_TWO | {"timeout"}:
        return why
    silent = silent_hosts(Places(tagged_lines(text)), hosts)
    if not silent:
        return why
    names = listed(silent, "hosts")
    host = why.host or (silent[0] if len(silent) == 1 else None)
    return why._replace(
        found=f"{why.found}; the log has no line of {names}",
        fix=f"check the processes and the network of {names} first; {why.fix}",
        host=host,
    )


def reason_of_status(text: str, rc: int, hosts: Sequence[str]) -> Reason:
    """Why a run ended with a status other than 0."""
    known = known_reason(text, hosts)
    if known and known.cause != "exit_code":
        return known
    printed = None if known else launcher_text(text)
    if printed:
        host = inventory_name(printed.host, hosts, printed.text)
        return Reason(f"mpirun reports: {printed.text}", TRY, "launcher", host)
    words = last_line(text, known.rank if known else None, frames=known is None)
    if known:
        where = known.found.partition(":")[0] if known.host or known.rank is not None else "a rank"
        return known._replace(found=f"{where} failed, its last line: '{words}'" if words else known.found)
    found = f"mpirun ended with status {rc}" + (f" and '{words}'" if words else "")
    status = rc if rc > 0 else 128 - rc
    ended = next((cause for cause in reversed(CAUSES) if cause.name == OF_STATUS.get(status)), None)
    if ended:
        return Reason(f"{found}: {sentence(ended.found, {}, '')}", ended.fix, ended.name)
    return Reason(found, WITHOUT_CAUSE.get(status, OWN_ERROR if OF_PROGRAM.match(words) else TRY))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Explain the log of a failed run by the table of symptoms (symptoms.yml): what was found, the fix, the place and lines of the log."""

import os
import re
from functools import lru_cache
from typing import Dict, Mapping, NamedTuple, Optional, Pattern, Sequence, Tuple

import yaml

from ansible_collections.taco.train.plugins.plugin_utils.explain.log import (
    Candidate,
    before_epilogue,
    candidates,
    cut,
    help_texts,
    last_complaint,
    last_line,
    shown_lines,
    told_lines,
    unexplained_text,
)
from ansible_collections.taco.train.plugins.plugin_utils.explain.where import (
    Place,
    Places,
    host_of_fields,
    listed,
    words,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

TABLE = os.path.join(os.path.dirname(__file__), "symptoms.yml")
# The strongest first.
SCOPES = ("api", "pod", "before_ranks", "own_error", "of_another_rank", "launcher_end")
# What the end of a time limit causes itself.
OF_THE_LIMIT = ("killed", "aborted", "interrupted", "terminated", "signal", "exit_code", "lost_node", "daemon")
TEMPLATE = re.compile(r"\{(\w+)\}")
# Parentheses in a sentence, which go with the values in them.
PARENTHESES = re.compile(r" ?\([^()]*\)")
# The groups of a pattern that name another process than the one that prints the line.
OF_A_PEER = {"rank", "host", "peer"}
MOST_OF_A_SENTENCE = 400
UNNAMED = "a host"
# A shorter line, such as Killed, adds nothing to the sentence.
LEAST_OF_A_LINE = 12
# What ssh prints of one failure.
LINES_OF_SSH = 15


class Symptom(NamedTuple):
    """A row of the table."""

    name: str
    scope: str
    pattern: Pattern[str]
    found: str
    fix: str
    example: str


class Explanation(NamedTuple):
    """What was found and what to change, the place, and lines of the log."""

    found: str
    fix: str
    name: str = ""
    host: Optional[str] = None
    rank: Optional[int] = None
    lines: Sequence[str] = ()

    def shown(self) -> str:
        """The lines of the log in a sentence, empty without a log."""
        return f" The log has: {' | '.join(self.lines)}." if self.lines else ""


# What a status says where no line does. A shell adds 128 to the number of a signal.
STATUSES = {
    126: ("the program can't be executed", "make it executable in taco_image (chmod +x), for the CPU of the hosts"),
    127: (
        "a program was not found",
        "set benchmark_mpirun, benchmark_options.script or benchmark_options.binary to a program that taco_image has (a whole path)",
    ),
    132: (
        "mpirun could not start the program, or a rank used an instruction that its CPU lacks",
        "run the program alone on one host: check its path in taco_image, and that the image is built for this CPU",
    ),
    135: (
        "a rank ended with a bus error",
        "set training_container_shm_size to a larger size, and look at HugePages_Free",
    ),
    137: ("a process was killed", "look for oom-kill in the dmesg of the hosts"),
    139: (
        "a rank crashed (segmentation fault)",
        "set PYTHONFAULTHANDLER: 1 in benchmark_env to see which library crashed",
    ),
    143: ("the run was ended from outside", "look for who ended it, such as an eviction or a user"),
    255: ("ssh or mpirun failed", "run the ssh_trust role, and ssh HOST true from the launcher"),
}
TRY = (
    "run the command with hostname in place of the script: if that fails too, mpirun or a host is at fault, else the script: run it on "
    "one host"
)
SILENT = (
    "open all TCP ports between the hosts in their firewalls and security groups, because Open MPI 5 waits without a word when its "
    "daemons can't connect back to the launcher; check taco_interface, then ssh and hostname on each host, or set benchmark_timeout higher"
)
WENT_ON = "where iterations went on, set benchmark_timeout higher"
WAITS = f"look at what its last line waits for: data, a host or a rank; {WENT_ON}"


@lru_cache(maxsize=1)
def table() -> Tuple[Symptom, ...]:
    """The rows of the table."""
    with open(TABLE, encoding="utf-8") as stream:
        rows = yaml.load(stream, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return tuple(Symptom(**dict(row, pattern=compiled(row["pattern"]))) for row in rows)


def compiled(pattern: object) -> Pattern[str]:
    """A pattern, or several of which one must match; a long one is a list of its parts."""
    several = pattern if isinstance(pattern, list) else [pattern]
    return re.compile("|".join("".join(one) if isinstance(one, list) else str(one) for one in several))


def explain(
    text: str, rc: Optional[int] = 1, timed_out: bool = False, seconds: Optional[int] = None, hosts: Sequence[str] = ()
) -> Explanation:
    """Why a run failed. Hosts are those of the inventory."""
    lines = told_lines(text)
    places = Places([*lines, *(candidate.line for candidate in help_texts(lines).values())], hosts)
    known = known_symptom(lines, places, timed_out)
    if timed_out:
        return at_the_limit(known, lines, places, seconds)
    if known:
        return with_last_line(known, lines) if known.name == "exit_code" else known
    return of_status(rc, lines, places)


def with_last_line(known: Explanation, lines: Sequence[Line]) -> Explanation:
    """What mpirun reports of a rank, with what this rank printed before, or where no line has its tag, what any one printed."""
    before = before_epilogue(lines)
    own = [line for line in before if line.rank is not None and line.rank == known.rank]
    last = last_line(own or before)
    if not last:
        return known
    found = f"{known.found}; {'its last line' if own else 'the last line before that'}: '{last}'"
    return known._replace(found=found, lines=[*shown_lines(own or before)[-2:], *known.lines[-1:]])


def known_explanation(text: str, hosts: Sequence[str] = ()) -> Optional[Explanation]:
    """What the log shows by the table alone, None where it has no symptom."""
    lines = told_lines(text)
    return known_symptom(lines, Places(lines, hosts), False)


def of_status(rc: Optional[int], lines: Sequence[Line], places: Places) -> Explanation:
    """How a run ended whose log has no symptom: a text of mpirun that no row knows, else its status and its last lines."""
    shown = shown_lines(lines)
    text = unexplained_text(lines)
    if text:
        host = places.inventory_name(host_of_fields(text.fields))
        return Explanation(f"mpirun reports: {cut(text.line.text)}", TRY, "launcher", host, lines=shown)
    status = 0 if rc is None else rc
    why, fix = STATUSES.get(status if status >= 0 else 128 - status, ("", TRY))
    last, complaint = last_line(lines), last_complaint(lines)
    found = f"mpirun ended with status {rc}" + (f": {why}" if why else "")
    found += f"; the log reports '{complaint}'" if complaint and complaint != last else ""
    return Explanation(found + (f"; its last line: '{last}'" if last else ", without output"), fix, lines=shown)


def at_the_limit(
    known: Optional[Explanation], lines: Sequence[Line], places: Places, seconds: Optional[int]
) -> Explanation:
    """Why a run did not end in its time."""
    still = "it was still running " + (f"after {seconds} s" if seconds else "at its time limit") + " and was ended"
    last = last_line(lines)
    silent = places.silent(lines)
    missing = f"; the log has no line of {listed(silent, 'hosts')}" if silent else ""
    if known:
        # Ranks that had started may have gone on in spite of what the log reports.
        started = any(row.name == known.name and row.scope != "before_ranks" for row in table())
        fix = f"{known.fix}; {WENT_ON}" if started and "benchmark_timeout" not in known.fix else known.fix
        return known._replace(found=f"{still}; {known.found}{missing}", fix=fix)
    if not last:
        return Explanation(f"{still}, and it printed nothing", SILENT, "timeout")
    fix = f"check the processes and the network of {listed(silent, 'hosts')} first; {WAITS}" if silent else WAITS
    host = silent[0] if len(silent) == 1 else None
    return Explanation(f"{still}; its last line: '{last}'{missing}", fix, "timeout", host, lines=shown_lines(lines))


def known_symptom(lines: Sequence[Line], places: Places, timed_out: bool) -> Optional[Explanation]:
    """The earliest line of the strongest scope, and of one line the first row."""
    rows = [(SCOPES.index(row.scope), row) for row in table() if not (timed_out and row.name in OF_THE_LIMIT)]
    found = candidates(lines)
    best: Optional[Tuple[int, int, Symptom]] = None
    for position, candidate in found.items():
        text = candidate.line.text
        for strength, row in rows:
            if (best is None or strength < best[0]) and row.pattern.search(text):
                best = (strength, position, row)
    return explanation(best[2], best[1], found[best[1]], lines, places) if best else None


def explanation(
    row: Symptom, position: int, candidate: Candidate, lines: Sequence[Line], places: Places
) -> Explanation:
    """What a line shows of a symptom."""
    text = candidate.line.text
    match = row.pattern.search(text)
    below = lines[position + 1 : position + LINES_OF_SSH] if row.name.startswith("ssh_") else []
    groups = {**host_below(row, below), **named_groups(match)}
    values = {**candidate.fields, "match": cut(match[0].strip()) if match else "", **groups}
    blames = row.scope == "of_another_rank" and OF_A_PEER & {
        name.rstrip("0123456789") for name in row.pattern.groupindex
    }
    place = places.named(values) if blames else places.found(candidate.line, values, row.scope)
    values["host"] = place.host or UNNAMED
    found = filled(row.found, values)[:MOST_OF_A_SENTENCE]
    where = words(place, found)
    found = with_place(found, place, where)
    reporter = words(places.of_line(candidate.line), found) if blames else ""
    found += f", as {reporter} reports" if reporter and reporter != where else ""
    named = any(values.get(name) for name in TEMPLATE.findall(row.found) if name != "host")
    if not named and len(text.strip()) >= LEAST_OF_A_LINE:
        found += f": '{cut(text, match.end() if match else 0)}'"
    shown = shown_lines(lines, position, candidate.below)
    return Explanation(found, filled(row.fix, values), row.name, place.host, place.rank, shown)


def named_groups(match: Optional[re.Match[str]]) -> Dict[str, str]:
    """The values of a pattern's groups by their names without the digits behind them."""
    groups = match.groupdict() if match else {}
    return {name.rstrip("0123456789"): value.strip() for name, value in groups.items() if value}


def host_below(row: Symptom, lines: Sequence[Line]) -> Dict[str, str]:
    """The host that one of the next lines with the same symptom names: ssh reports a failure in several lines."""
    hosts = (named_groups(row.pattern.search(line.text)).get("host") for line in lines)
    return next(({"host": host} for host in hosts if host), {})


def with_place(found: str, place: Place, where: str) -> str:
    """A sentence with its place as its subject, else behind it."""
    subject = "a host " if place.rank is None else "a rank "
    if not where:
        return found
    return f"{where} {found[len(subject) :]}" if found.startswith(subject) else f"{where}: {found}"


def filled(template: str, values: Mapping[str, str]) -> str:
    """A text of the table with its values, without the parentheses in which none is known."""

    def known(match: re.Match[str]) -> str:
        names = TEMPLATE.findall(match[0])
        return match[0] if not names or any(values.get(name, "") not in ("", UNNAMED) for name in names) else ""

    text = TEMPLATE.sub(lambda match: values.get(match[1], ""), PARENTHESES.sub(known, template))
    return re.sub(r" (?=[,)])|(?<=\() ", "", " ".join(text.split()))

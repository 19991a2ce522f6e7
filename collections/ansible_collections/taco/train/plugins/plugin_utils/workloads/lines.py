# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Split a benchmark's output into lines, and remove what launchers, containers and terminals add to each line.

Known are the prefixes of mpirun 4 and 5 (all tags and timestamps of --output), horovodrun, kubectl logs and docker logs, and the rank
that PyTorch puts before its errors. Any other prefix is removed where most lines have it.
"""

import re
from collections import Counter
from typing import Any, Iterable, NamedTuple, Optional, Pattern


class Line(NamedTuple):
    """A line without its prefixes, and the rank and the host (or pod) that the prefixes name. The launcher's pod prints for all ranks."""

    text: str
    rank: Optional[int] = None
    host: Optional[str] = None


ENDS = re.compile(r"\r\n|\n|\r|\x08+")
ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|[()][0-9A-B]|[=>@-Z\\^_])")
STREAM = r"<std(?:out|err|diag)>:"
# Open MPI 4: [1,0]<stdout>:  Open MPI 5: [1,0][gpu1:4711]<stdout>:  with full names: [prterun-gpu1-99@1,0]<stdout>:
# Ranks alone, and horovodrun: [0]<stdout>:
TAG = rf"\[(?:[^\[\]\s,]{{1,80}},)?(?P<tag>\d{{1,7}})\](?:\[(?P<host>[^\[\]\s:]{{1,253}}):\w{{1,10}}\])?{STREAM} ?"
CTIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
KNOWN = re.compile(
    "|".join(
        [
            TAG,
            # Open MPI's timestamps
            rf"(?:\[{CTIME}\]|{CTIME})(?:{STREAM})? ?",
            # those of docker logs and of kubectl logs --timestamps, with the stream of containerd's files, and NCCL's own
            r" ?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| UTC|[+-]\d\d:?\d\d)?\]? (?:std(?:out|err) [FP] )?",
            # kubectl logs --prefix
            r"\[pod/(?P<pod>[^/\]\s]{1,253})/[^\]\s]{1,253}\] ",
            # PyTorch
            r"\[rank(?P<torch>\d{1,7})\]: ?",
        ]
    )
)
INNER_TAG = re.compile(TAG)
# What others put before each line: a process in parentheses, a name in brackets or before | or a colon, a quotation.
FOREIGN = re.compile(
    r"\([^()\n]{1,160}\) |\[[^\[\]\n]{1,160}\](?:: ?| )|[\w./@=-]{1,160}(?: \[[^\[\]\s]{1,40}\])? {0,60}(?:\|{1,2}|:|--)(?: |$)|"
    r" {0,6}\d{1,6}: |> ?|[a-z0-9.]{1,200}-[a-z0-9.-]{1,200} [a-z0-9-]{1,63} "
)
RANK = re.compile(r"\[?(?:rank[= ]?)?(\d{1,7})[\]:]* $|.*\brank=(\d{1,7})\b")
DIGITS = re.compile(r"\d+")
SAMPLE = 400
LEAST_LINES = 3
MOST_KINDS = 4
# More prefixes than these stand before no line.
MOST_PREFIXES = 6


def raw_lines(text: Any) -> list[str]:
    """The lines of a text, or of the text form of another value. After a last newline comes an empty line."""
    return ENDS.split(text if isinstance(text, str) else "" if text is None else str(text))


def foreign(lines: list[str]) -> frozenset[str]:
    """The prefixes, without their numbers, that most lines have one of; none where lines begin in several ways."""
    sample = [line for line in lines[:SAMPLE] if line.strip()]
    found = Counter(
        DIGITS.sub("0", match[0])
        for match in (FOREIGN.match(line) for line in sample if not KNOWN.match(line))
        if match
    )
    often = {prefix: count for prefix, count in found.most_common(MOST_KINDS) if count >= LEAST_LINES}
    return frozenset(often) if sum(often.values()) >= 0.7 * len(sample) and sample else frozenset()


def clean(raw: str, shared: frozenset[str] = frozenset()) -> Line:
    """A line without terminal control sequences and prefixes."""
    if "\x1b" in raw:
        raw = ANSI.sub("", raw)
    rank: Optional[int] = None
    host: Optional[str] = None
    place = 0
    match = FOREIGN.match(raw) if shared else None
    if match and DIGITS.sub("0", match[0]) in shared:
        place = match.end()
        number = RANK.match(match[0])
        rank = int(number[1] or number[2]) if number else None
    told = False
    for _count in range(MOST_PREFIXES):
        match = KNOWN.match(raw, place)
        if not match or match.end() == place:
            break
        place = match.end()
        own = match["torch"] or (None if told else match["tag"])
        rank, told = (int(own), True) if own else (rank, told)
        pod = match["pod"] if "-launcher" not in (match["pod"] or "") else None
        host = match["host"] or pod or host
    return Line(raw[place:], rank, host)


def tagged_lines(output: Any, any_prefix: bool = True) -> list[Line]:
    """The lines of a text with rank and host. A line that mpirun cut is joined with its rest, which comes later under the same tag.

    any_prefix removes what most lines begin with, too, which in a log of errors can be the program that reports them.
    """
    lines: list[Line] = []
    begun: dict[Optional[int], list[str]] = {}
    raws = raw_lines(output)
    shared = foreign(raws) if any_prefix else frozenset()
    for raw in raws:
        line = clean(raw, shared)
        if "<std" not in line.text and not begun:
            lines.append(line)
            continue
        # A tag behind text begins another rank's piece.
        cuts = [match.start() for match in INNER_TAG.finditer(line.text) if match.start()]
        if cuts and line.rank is not None:
            begun.setdefault(line.rank, []).append(line.text[: cuts[0]])
        elif cuts:
            lines.append(line._replace(text=line.text[: cuts[0]]))
        for begin, end in zip(cuts, cuts[1:]):
            piece = clean(line.text[begin:end])
            begun.setdefault(piece.rank, []).append(piece.text)
        last = clean(line.text[cuts[-1] :]) if cuts else line
        lines.append(last._replace(text="".join(begun.pop(last.rank, [])) + last.text) if begun else last)
    return lines


def lines_of(text: Any) -> list[str]:
    """The lines of a text without prefixes. After a last newline comes an empty line."""
    return [line.text for line in tagged_lines(text)]


def values(pattern: Pattern[str], lines: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the groups of each line that matches."""
    return [match.groups() for match in map(pattern.match, lines) if match]

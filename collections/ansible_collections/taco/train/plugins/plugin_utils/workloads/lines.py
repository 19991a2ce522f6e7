# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Split a benchmark's output into lines, and remove what launchers, containers and terminals add to each line.

Launchers: Open MPI 4 and 5 (all tags and timestamps of --output), horovodrun, srun --label, Hydra's -prepend-rank, torchrun.
Containers: the prefixes and timestamps of kubectl logs, docker compose logs and journald.
"""

import json
import re
from functools import lru_cache
from typing import Any, Iterable, NamedTuple, Optional, Pattern, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.labels import without_line_numbers, without_tasks


class Line(NamedTuple):
    """A line without its prefixes, and the rank and the host (or pod) that the prefixes name."""

    text: str
    rank: Optional[int] = None
    host: Optional[str] = None


ENDS = re.compile(r"\r\n|\n|\r|\x08+")
ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|[()][0-9A-B]|[=>@-Z\\^_])")
# Open MPI 4: [1,0]<stdout>:  Open MPI 5: [1,0][gpu1:4711]<stdout>:  with full names: [prterun-gpu1-99@1,0]<stdout>:
# Ranks alone, and horovodrun: [0]<stdout>:
# SageMaker: [1,mpirank:0,algo-1]<stdout>:
TAG = (
    r"(?:\[\d{1,10},mpirank:(?P<mpirank>\d{1,7}),(?P<algo>[^\[\]\s,]{1,253})\]"
    r"|\[(?:[^\[\]\s,]{1,80},)?(?P<tag>\d{1,7})\](?:\[(?P<taghost>[^\[\]\s:]{1,253}):\w{1,10}\])?)<std(?:out|err|diag)>: ?"
)
# What begins with a bracket.
BRACKET = re.compile(
    "|".join(
        [
            # ctime and ISO 8601, the latter NCCL's own
            r"\[(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\](?:<std(?:out|err|diag)>:)? ?"
            r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\] )",
            # UCX: seconds since 1970
            r"\[\d{9,11}\.\d{1,9}\] +",
            # kubectl logs --prefix
            r"\[pod/(?P<pod>[^/\]\s]{1,253})/[^\]\s]{1,253}\] ",
            # PyTorch; torchrun, whose number is that of a rank on its host
            r"\[rank(?P<torch>\d{1,7})\]: ?",
            # and where the format has it that of the run; trainer and worker are usual names of a role
            r"\[(?:default|trainer|worker)(?P<local>\d{1,7})(?:\|(?P<role>\d{1,7}))?\]: ?",
            # PyTorch Lightning and others
            r"\[(?:rank|RANK)[:= ] ?(?P<lightning>\d{1,7})\]:? ?",
            # The time alone.
            r"\[\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\] ",
            # Hydra's -prepend-rank, and Intel MPI's -l; not a device number of NCCL whose host was cut off. Without a blank only
            # before a line of NCCL.
            r"\[(?P<hydra>\d{1,7})\](?: (?!NCCL |tcpx|[\d:]{8} \[[SF]|\S{1,200}:\d{1,6} NCCL )|(?=[\w.-]{1,253}:\d{1,10}:\d{1,10} \[\d))",
        ]
    )
)
# ISO 8601 of docker logs and of kubectl logs --timestamps, with a name behind it that collectors separate with dashes, with the stream
# of containerd's files, or with journald's host and unit; srun --label, and not a rank in Horovod's list of missing ones
# nor the host of nccl-tests, whose name may be a number.
NUMBER = re.compile(
    r" ?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?(?:Z| UTC| GMT|[+-]\d\d:?\d\d)?)? "
    r"(?:[\w.-]{1,253} -- |std(?:out|err) [FP] |(?P<isojournal>[A-Za-z][\w.-]{0,252}) (?:[\w.@/-]{1,63}\[\d{1,10}\]|kernel): )?"
    r"| {0,6}(?P<srun>\d{1,6}): (?!\[[A-Za-z_]{5}|Test (?:NCCL|CUDA|HIP) failure )"
)
# ctime of Open MPI 4 and horovodrun; journald.
DATE = re.compile(
    r"[A-Z][a-z]{2} (?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}(?:<std(?:out|err|diag)>:)? ?"
    r"|[ \d]\d \d\d:\d\d:\d\d (?P<journal>[\w.-]{1,253}) [\w.@/-]{1,63}(?:\[\d+\])?: )"
)
# stern: the pod and the container, with nothing around them.
STERN = re.compile(
    r"(?P<sternpod>[a-z0-9](?:[a-z0-9.]{0,250}-[a-z0-9.-]{1,250})) (?P<container>[a-z0-9-]{1,63})(?: |$)"
)
STERN_SAMPLE = 200
# launcher.py of the Training Operator: level, time, program and line.
OPERATOR = re.compile(r" {0,16}[A-Z]{4,8}\|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\|[^|\n]{1,200}\|\d{1,6}\| ?")
# pdsh: the host or its address.
PDSH = re.compile(r"(?P<pdsh>[A-Za-z][A-Za-z0-9.]{0,250}[0-9-][A-Za-z0-9.-]{0,250}|\d{1,3}(?:\.\d{1,3}){3}): ")
# Names without a number, which differ in their last letter only.
PDSH_LETTER = re.compile(r"(?P<pdsh>[a-z][a-z-]{1,61}[a-z]): ")
# Other tools for commands on several hosts.
IN_BRACKETS = re.compile(
    r"\[(?P<inner>[A-Za-z](?=[A-Za-z.]{0,250}-?\d)[A-Za-z0-9.-]{0,252})\](?: (?:out|err|stdout|stderr):)? "
)
# Ray and SkyPilot: the process, and its host by its address or as the head or a worker.
RAY = re.compile(
    r"\((?:(?P<sky>head|worker\d{0,5}), )?(?:[\w.:<>=, -]{1,120}?[ ,])?pid=\d{1,10}(?:, ip=(?P<rayip>\d{1,3}(?:\.\d{1,3}){3}))?\) "
)
# Determined: the container, and the rank where it's known.
DETERMINED = re.compile(r"(?:[0-9a-f]{8}(?:-[0-9a-f-]{4,40})?) (?:\[rank=(?P<determined>\d{1,7})\] )?\|\| ?")
# What collectors put before PyTorch's rank: marks of a quote or of an absent container, and a name, which may be that of a host.
BEFORE_RANK = re.compile(
    r"(?:[>:]{1,4} ?|\[\] ?){1,4}(?=\[(?:rank|RANK)[:= ]?\d{1,7}\][: ])|(?:(?P<collector>(?!(?i:rank|proc|step|epoch|level|python|v\d))"
    r"[A-Za-z](?=[\w.-]{0,252}\d)[\w.-]{0,251}\w)|[\w./@:-]{1,253}?)(?: ?[:|] ?| )(?:\[?std(?:err|out)\]?[:|]? )?"
    r"(?=\[(?:rank|RANK)[:= ]?\d{1,7}\][: ])"
)
# milabench: the benchmark, the host where there are several, the device, and the stream.
MILABENCH = re.compile(
    r"[\w+-]{1,63}\.(?:(?P<milabench>[A-Za-z][\w-]{0,62}(?:\.[A-Za-z][\w-]{0,62}){0,6})\.)?(?:nolog|D?\d{1,3}) \[std(?:err|out)\](?: |$)"
)
QUOTE = re.compile(r"> ?")
NUMBERS = re.compile(r"\d+")
COUNTED = re.compile(
    r"(?i)(?:rank|gpus?|cuda|epoch|step|iter(?:ation)?|layer|batch|process|proc|thread|test|line|level|stage|part|file|error)$"
)
DOCKER_JSON = re.compile(r'\{"log":"(?P<text>(?:[^"\\]|\\.){0,20000})","stream":"std(?:out|err)".*')
# docker compose logs
SERVICE = re.compile(r"(?P<service>[\w.-]{1,63}) {1,63}\| ")
# Open MPI 5 with XML.
XML = re.compile(r'<std(?:out|err|diag)(?: \w+="[^"]{0,80}")*? rank="(?P<xml>\d{1,7})"[^>]{0,200}>')
RANKS = ("xml", "torch", "role", "local", "lightning", "determined", "hydra", "srun")
INNER_TAG = re.compile(TAG)
XML_END = re.compile(r"</std(?:out|err|diag)>\s*$")
# A line in a frame, as the package rich draws it around tracebacks.
BOX = re.compile(r"\u2502 ?([^\u2502]{0,2000}[^\u2502\s])?[^\S\u2502]{0,400}\u2502?\s*$")
# More than these stand before no line.
MOST_PREFIXES = 6
MOST_OF_A_TAG = 400


def raw_lines(text: Any) -> list[str]:
    """The lines of a text, or of the text form of another value. After a last newline comes an empty line."""
    return ENDS.split(text if isinstance(text, str) else "" if text is None else str(text))


@lru_cache(maxsize=4096)
def of_tag(text: str) -> Optional[tuple[int, Optional[str]]]:
    """The rank and the host in a tag, None for a text that is none. A log has few tags and many lines."""
    match = INNER_TAG.fullmatch(text)
    return (int(match["tag"] or match["mpirank"]), match["taghost"] or match["algo"]) if match else None


def few(names: Sequence[tuple[str, ...]]) -> bool:
    """Whether the lines have few names, each of them often."""
    return len(names) >= 3 and len(set(names)) <= len(names) / 2


def alike(names: Sequence[tuple[str, ...]]) -> bool:
    """Whether several names differ in their numbers only, as those of hosts do, and those of steps and devices."""
    stems = {NUMBERS.sub("", name[0]) for name in names}
    return len(names) > 1 and len(stems) == 1 and not COUNTED.match(stems.pop())


def as_kubectl_has_it(lines: list[str], prefix: Pattern[str], form: str) -> list[str]:
    """The lines with a prefix in kubectl's form, where nearly all lines begin with one of few such prefixes."""
    sample = [line for line in lines[:STERN_SAMPLE] if line.strip()]
    if not any(prefix.match(ANSI.sub("", line)) for line in sample[-3:]):
        return lines
    found = [match.groups() for match in (prefix.match(ANSI.sub("", line)) for line in sample) if match]
    if len(found) < 0.9 * len(sample) or not (few(found) or alike(found)):
        return lines
    return [prefix.sub(form, ANSI.sub("", line), count=1) for line in lines]


def without_hosts(lines: list[str]) -> list[str]:
    """The lines with what stern and pdsh put before each in kubectl's form: alone, such a prefix could be text."""
    lines = as_kubectl_has_it(lines, STERN, r"[pod/\g<sternpod>/\g<container>] ")
    lines = as_kubectl_has_it(lines, IN_BRACKETS, r"[pod/\g<inner>/-] ")
    lines = as_kubectl_has_it(lines, PDSH, r"[pod/\g<pdsh>/-] ")
    return as_kubectl_has_it(lines, PDSH_LETTER, r"[pod/\g<pdsh>/-] ") if differ_in_a_letter(lines) else lines


def differ_in_a_letter(lines: list[str]) -> bool:
    """Whether the lines begin with several names that differ in their last letter only."""
    found = {match["pdsh"] for match in map(PDSH_LETTER.match, lines[:STERN_SAMPLE]) if match}
    return len(found) > 1 and len({name[:-1] for name in found}) == 1


def without_quotes(lines: list[str]) -> list[str]:
    """The lines without the mark of a quotation, where each has it."""
    if not all(QUOTE.match(line) or not line.strip() for line in lines[:STERN_SAMPLE]):
        return lines
    return [QUOTE.sub("", line, count=1) if QUOTE.match(line) else line for line in lines]


def without_json(lines: list[str]) -> list[str]:
    """The lines in the files of Docker's driver json-file, which has each as an object."""
    return [DOCKER_JSON.sub(of_json, line, count=1) if line.startswith('{"log":"') else line for line in lines]


def of_json(match: re.Match[str]) -> str:
    """The text in an object of Docker's file, as it is where it has an unknown escape."""
    try:
        return str(json.loads(f'"{match["text"]}"')).rstrip("\r\n")
    except ValueError:
        return match["text"]


def prefix_at(raw: str, place: int) -> Optional[re.Match[str]]:
    """One prefix that begins there: most lines have none."""
    found = usual_prefix(raw, place)
    if found:
        return found
    begin = raw[place : place + 300]
    if "[std" in begin:
        found = MILABENCH.match(raw, place)
    if not found and ("[rank" in begin or "[RANK" in begin):
        found = BEFORE_RANK.match(raw, place)
    return found if found and found.end() > place else None


def usual_prefix(raw: str, place: int) -> Optional[re.Match[str]]:
    """A prefix that a launcher or an engine puts there. The first character says which it can be."""
    first = raw[place : place + 1]
    if first == "[":
        return BRACKET.match(raw, place)
    if first == " " or first.isdecimal():
        operator = OPERATOR.match(raw, place) if first == " " and "|" in raw[place : place + 32] else None
        return (
            operator
            or NUMBER.match(raw, place)
            or (DETERMINED.match(raw, place) if " || " in raw[place : place + 80] else None)
        )
    if first == "<":
        return XML.match(raw, place)
    if first == "(":
        return RAY.match(raw, place)
    found = DATE.match(raw, place) if raw[place + 3 : place + 4] == " " else None
    if not found and "|" in raw[place : place + 240]:
        return DETERMINED.match(raw, place) or OPERATOR.match(raw, place) or SERVICE.match(raw, place)
    return found


def prefix_of(raw: str) -> tuple[int, Optional[int], Optional[str]]:
    """Where the text of a line begins, and the rank and the host that the prefixes before it name."""
    rank: Optional[int] = None
    host: Optional[str] = None
    place = 0
    for _count in range(MOST_PREFIXES):
        end = raw.find(">:", place, place + MOST_OF_A_TAG) + 2 if raw.startswith("[", place) else 0
        known = of_tag(raw[place:end]) if end > 1 else None
        if known:
            place = end + raw.startswith(" ", end)
            rank, host = known[0] if rank is None else rank, known[1] or host
            continue
        match = prefix_at(raw, place)
        # Behind a rank, a number and a colon are text, such as those of Horovod's list of missing ranks.
        if not match or (rank is not None and match.lastgroup == "srun"):
            break
        place, name = match.end(), match.lastgroup
        if name in RANKS:
            rank = int(match[name]) if rank is None or name == "torch" else rank
        elif name:
            host = match[name]
    return place, rank, host


def clean(raw: str) -> Line:
    """A line without terminal control sequences and prefixes."""
    if "\x1b" in raw:
        raw = ANSI.sub("", raw)
    place, rank, host = prefix_of(raw)
    text = raw[place:] if place else raw
    box = BOX.match(text) if text.startswith("\u2502") else None
    return Line((box[1] or "") if box else XML_END.sub("", text) if "</std" in text else text, rank, host)


def tagged_lines(output: Any) -> list[Line]:
    """The lines of a text with rank and host. A line that mpirun cut is joined with its rest, which comes later under the same tag."""
    lines: list[Line] = []
    begun: dict[Optional[int], list[str]] = {}
    for raw in without_tasks(without_line_numbers(without_hosts(without_json(without_quotes(raw_lines(output)))))):
        if "<std" not in raw:
            lines.append(clean(raw))
            continue
        raw = ANSI.sub("", raw) if "\x1b" in raw else raw
        begin, rank, host = prefix_of(raw)
        if not begun and raw.find("<std", begin) < 0:
            text = raw[begin:]
            lines.append(Line(XML_END.sub("", text) if "</std" in text else text, rank, host))
            continue
        # A tag among the prefixes belongs to the first piece; one behind text begins another rank's piece.
        cuts = [match.start() for match in INNER_TAG.finditer(raw, begin) if match.start()]
        pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)])]
        for piece in pieces[:-1]:
            line = clean(piece)
            if line.rank is None:
                lines.append(line)
            else:
                begun.setdefault(line.rank, []).append(line.text)
        line = clean(pieces[-1])
        lines.append(line._replace(text="".join(begun.pop(line.rank, [])) + line.text) if begun else line)
    return lines


def lines_of(text: Any) -> list[str]:
    """The lines of a text without prefixes. After a last newline comes an empty line."""
    return [line.text for line in tagged_lines(text)]


def values(pattern: Pattern[str], lines: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the groups of each line that matches."""
    return [match.groups() for match in map(pattern.match, lines) if match]

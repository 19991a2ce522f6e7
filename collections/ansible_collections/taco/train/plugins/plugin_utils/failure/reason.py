# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find in the output of a failed run its cause, the host and the rank, and what to do. The causes are in run_causes."""

import itertools
import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import NODE, Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import (
    CAUSES,
    ENDS,
    FIRST_COUNTS,
    LISTED,
    OF_ONE,
    OF_OTHERS,
    OF_TWO,
    OF_TWO_AFTERWARDS,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.place import host_of, located, named
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, tagged_lines


class Reason(NamedTuple):
    """What was found, and what to change."""

    found: str
    fix: str
    cause: str = ""
    """The cause's name in the table, empty for one that isn't there."""
    host: Optional[str] = None
    rank: Optional[int] = None


# A help text of mpirun is shorter than this many lines.
NEAR = 14
# No cause stands further behind in a line.
MOST_CHARACTERS = 2000
# What fails in the end stands at the beginning of a log or at its end.
MOST_LINES = 20_000
# One of so many lines with the same error names the host or the rank, or none does.
MOST_REPEATS = 20
DIGITS = re.compile(r"0x[0-9a-f]+|\d+")
# A warning of TensorFlow and of PyTorch's socket, after which they try again, and of DPDK about pages of 1 GiB.
# NCCL's lines with NCCL_DEBUG=INFO tell what it tries; what fails in the end is a WARN or an error.
NOT_A_CAUSE = re.compile(
    r"NCCL (?:INFO|TRACE) |^I0 |: I tensorflow/|Could not load dynamic library '|this is not a failure|EAL: No "
    r"(?:available|free) .{0,60}1048576|\[W[ \d].{0,40}socket\.cpp"
)
RULE = re.compile(r"^\s*-{40,}\s*$")
# A line of a text, which is neither empty nor of a list nor a name and its value.
PROSE = re.compile(r"(?!\s*$|\s*[*-]|\s*\w[\w #]{0,30}:\s|.{1,80}: \S+\s*$)\s*\S")
MOST_OF_A_PARAGRAPH = 8
# The words of mpirun's help texts, which explain what often goes wrong and not what did.
HELP = re.compile(
    r"^(?:\* |- |  [*-] |There may be more information|This may be because|location of the shared libraries|Please (?:check|verify))"
)


def known_reason(text: str) -> Optional[Reason]:
    """The cause of highest priority that the text shows, its first line of several."""
    lines = unwrapped(tagged_lines(text))
    found = causes_in(lines)
    if not found:
        return None
    best = the_first(found, lines)
    first = reason_at(lines, found[best], CAUSES[best])
    if first.host is None and first.rank is None:
        # A process repeats its error, and only one of the lines may have a header.
        later = (reason_at(lines, place, CAUSES[best]) for place in again(lines, found[best], CAUSES[best]))
        place = next((one for one in later if one.host or one.rank is not None), first)
        return first._replace(found=with_place(first.found, place.host, place.rank), host=place.host, rank=place.rank)
    return first


def again(lines: Sequence[Line], place: int, cause: Cause) -> List[int]:
    """The next lines that show a cause once more."""
    found = (
        number for number in range(place + 1, len(lines)) if cause.pattern.search(lines[number].text[:MOST_CHARACTERS])
    )
    return list(itertools.islice(found, MOST_REPEATS))


def causes_in(lines: Sequence[Line]) -> Dict[int, int]:
    """The causes that the lines show, by their place in the table, with the first line of each. A line shows one only."""
    found: Dict[int, int] = {}
    for number in worth_a_look(lines):
        words = lines[number].text[:MOST_CHARACTERS]
        best = next((index for index, cause in enumerate(CAUSES) if cause.pattern.search(words)), None)
        if best is not None:
            found[best] = min(number, found.get(best, number))
    return found


def the_first(found: Mapping[int, int], lines: Sequence[Line]) -> int:
    """The cause of highest priority, and not what follows from the end of another process."""
    best = min(found)
    name = CAUSES[best].name
    if name in FIRST_COUNTS and LISTED.match(lines[found[best]].text):
        listed = [
            index for index in found if CAUSES[index].name in FIRST_COUNTS and LISTED.match(lines[found[index]].text)
        ]
        return min(listed, key=lambda index: found[index])
    if name in OF_TWO or name in OF_TWO_AFTERWARDS:
        of_one = [index for index in found if CAUSES[index].name in OF_ONE]
        return min((index for index in of_one if found[index] < found[best] or decides(index, name)), default=best)
    return best


def decides(index: int, name: str) -> bool:
    """Whether the cause of one process comes before another between processes wherever it stands: launchers say it at their end."""
    return name in OF_TWO and (CAUSES[index].name == "killed" or name == "stalled")


def worth_a_look(lines: Sequence[Line]) -> List[int]:
    """The numbers of the lines that may show a cause: one of those that only differ in numbers, the first and last of very many."""
    seen: Dict[str, int] = {}
    for number, line in enumerate(lines):
        words = line.text[:MOST_CHARACTERS]
        if words and " NCCL INFO " not in words:
            # The size of a huge page is a number that counts.
            seen.setdefault(words if words.startswith("EAL: ") else DIGITS.sub("0", words), number)
    found = [number for words, number in seen.items() if not NOT_A_CAUSE.search(words) and not HELP.match(words)]
    return found if len(found) <= 2 * MOST_LINES else found[:MOST_LINES] + found[-MOST_LINES:]


def unwrapped(lines: List[Line]) -> List[Line]:
    """The lines, where each sentence of mpirun's texts, which stand between rules, begins in a line that holds it, "
    "however it was wrapped."""
    rules = [number for number, line in enumerate(lines) if RULE.match(line.text)]
    for begin, end in zip(rules, rules[1:]):
        for place in range(begin + 1, min(end, begin + 2 * NEAR)):
            if PROSE.match(lines[place].text) and not (lines[place - 1].text.strip() and place - 1 > begin):
                lines[place] = lines[place]._replace(text=paragraph(lines, place, end))
    for place, line in enumerate(lines[:-1]):
        # The line of the script above says of which list.
        if lines[place + 1].text.startswith("IndexError: list index out of range") and "local_rank()" in line.text:
            lines[place + 1] = lines[place + 1]._replace(
                text=f"{lines[place + 1].text.rstrip()} at {line.text.strip()}"
            )
        if lines[place + 1].text.startswith("OSError: [Errno 28]") and "SemLock(" in line.text:
            lines[place + 1] = lines[place + 1]._replace(
                text=f"{lines[place + 1].text.rstrip()} at {line.text.strip()}"
            )
        if line.text.endswith("root error(s) found.") and lines[place + 1].text.lstrip().startswith("(0) "):
            lines[place] = line._replace(text=line.text.rpartition(":")[0] + ": " + lines[place + 1].text.strip()[4:])
        if " process rank " in line.text and " noticed " in line.text and not line.text.rstrip().endswith("."):
            lines[place] = line._replace(text=line.text.rstrip() + " " + lines[place + 1].text.strip())
    return lines


def paragraph(lines: Sequence[Line], begin: int, end: int) -> str:
    """The lines from one on, up to an empty line or one that names a value."""
    taken = []
    for line in lines[begin : min(end, begin + MOST_OF_A_PARAGRAPH)]:
        if not PROSE.match(line.text):
            break
        taken.append(line.text.strip())
    return " ".join(taken)


def reason_at(lines: Sequence[Line], place: int, cause: Cause) -> Reason:
    line = lines[place]
    match = cause.pattern.search(line.text[:MOST_CHARACTERS])
    groups: Dict[str, Optional[str]] = {**match.groupdict()} if match else {}
    if cause.near:
        around = "\n".join(near.text for near in lines[place : place + NEAR])
        before = "\n".join(near.text for near in lines[max(place - NEAR, 0) : place])
        more = cause.near.search(around) or cause.near.search(before)
        groups.update({name: value for name, value in more.groupdict().items() if value} if more else {})
    host, number = named(groups, "host"), named(groups, "rank")
    rank = int(number) if number is not None else None
    if cause.name in OF_OTHERS:
        host = host or host_of(lines, rank)
    else:
        rank = line.rank if rank is None else rank
        host, rank = located(lines, place, host or line.host, rank, cause.name in ENDS or "host" not in groups)
    values = {name: value.strip() if value else "" for name, value in groups.items()}
    values.update({template: values.get(template, "") for template in re.findall(r"\{(\w+)\}", cause.found)})
    values = {name: value or named(groups, name) or "" for name, value in values.items()}
    found = tidy(cause.found.format(**values))
    return Reason(with_place(found, host, rank), cause.fix, cause.name, host, rank)


def with_place(found: str, host: Optional[str], rank: Optional[int]) -> str:
    """A sentence after the rank and the host that it is about."""
    where = " on ".join(([f"rank {rank}"] if rank is not None else []) + ([host] if host and host not in found else []))
    return f"{where}: {found}" if where else found


def tidy(text: str) -> str:
    """A sentence without what its absent parts leave."""
    text = re.sub(
        r" ?\((?:found , built for |rank  and |[^()\w]* requested, [^()\w]*found|found , built for \w*)?\s*\)", "", text
    )
    return re.sub(r"\s{2,}", " ", text).strip(" ,:")[:400]


# Lines that frame or follow what a program prints last.
FRAME = re.compile(
    r"^[\s=*_.-]*$|non-zero|Primary job|per user-direction|Process name:|Exit code:|the job to be terminated|noticed that process"
    r"|Terminating remaining workers|srun: |Process \d+ exit with|(?:orte|prte)_base_help_aggregate|sent help message|NCCL INFO"
)


# What says that something is wrong.
COMPLAINT = re.compile(
    r"(?i)\b(?:errors?|fatal|fail(?:ed|ure)?|can(?:not|'t)|could not|unable|denied|not found|invalid|abort(?:ed|ing)?|refused)\b"
)
LAST_LINES = 30
EPILOGUE_TEXT = re.compile(r"^(?:Primary job|\S*(?:mpirun|prterun|mpiexec)\S* (?:detected|noticed|has exited))")


def launcher_says(text: str) -> Optional[Reason]:
    """What mpirun says first between two rules, of which no cause is known."""
    lines = [line.text.rstrip() for line in tagged_lines(text)]
    rules = [number for number, line in enumerate(lines) if RULE.match(line)]
    for begin, end in zip(rules, rules[1:]):
        block = "\n".join(lines[begin + 1 : min(end, begin + 1 + 2 * NEAR)]).strip()
        if not block or EPILOGUE_TEXT.match(block) or block.startswith("WARNING: A deprecated"):
            continue
        said = " ".join(block.partition("\n\n")[0].split())[:300].rstrip(".:")
        node = re.search(NODE, block, re.MULTILINE)
        return Reason(
            f"mpirun says: {said}", "look at the lines around it in the log", "launcher", node["host"] if node else None
        )
    return None


def last_line(text: str, rank: Optional[int] = None) -> str:
    """Return the last line that says something, of a rank where its lines are tagged; mpirun frames its messages with rules."""
    tagged = tagged_lines(text)
    own = [line for line in tagged if line.rank == rank and line.text.strip()] if rank is not None else []
    lines = [line.text.strip() for line in own or tagged]
    said = [line for line in lines if line and not FRAME.search(line)] or [
        line for line in lines if line.strip(" \t-=*")
    ]
    complaints = [line for line in said[-LAST_LINES:] if COMPLAINT.search(line)]
    return (complaints or said)[-1][:200] if said else ""


def reason(text: str, rc: Optional[int], timed_out: bool, timeout: int, problems: List[str]) -> Optional[Reason]:
    """Return why a run failed, or None when it didn't."""
    if timed_out:
        still = f"it was still running after {timeout} s and was ended"
        known = known_reason(text)
        if known and known.cause not in ENDS:
            # Ranks that are being ended lose each other, too.
            more = (
                "; if iterations went on until the end, set benchmark_timeout higher" if known.cause in OF_TWO else ""
            )
            return known._replace(found=f"{still}; {known.found}", fix=known.fix + more)
        return Reason(still, "look at the log for what it waits for, or set benchmark_timeout higher", "timeout")
    if rc:
        known = known_reason(text)
        known = known if known else launcher_says(text)
        if known and known.cause != "exit_code":
            return known
        said = last_line(text, known.rank if known else None)
        found = f"mpirun ended with status {rc}" + (f" and '{said}'" if said else "")
        if known:
            where = known.found.split(":")[0]
            return known._replace(found=f"{where} failed, its last line: '{said}'" if said else known.found)
        return Reason(found, "look at the log")
    if problems:
        return Reason(" ".join(problems).rstrip("."), "look at the log")
    return None

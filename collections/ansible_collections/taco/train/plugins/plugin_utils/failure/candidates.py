# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring each sentence and each error of a log into a line of its own, and choose the lines that may show a cause."""

import re
from typing import AbstractSet, Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause
from ansible_collections.taco.train.plugins.plugin_utils.failure.causes import CAUSES
from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import NEAR, RULE
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

# No cause stands further behind in a line.
MOST_CHARACTERS = 2000
# What fails in the end stands at the beginning of a log or at its end.
MOST_LINES = 20_000
DIGITS = re.compile(r"0x[0-9a-f]+|\d+")
# A warning of TensorFlow and of PyTorch's socket, after which they try again, and of DPDK about pages of 1 GiB.
# NCCL's lines with NCCL_DEBUG=INFO tell what it tries; what fails in the end is a WARN or an error.
NOT_A_CAUSE = re.compile(
    r"NCCL (?:INFO|TRACE) |^(?:INFO|TRACE): Function: |^I0 |: I tensorflow/|Could not load dynamic library '|this is not a failure|EAL: No "
    r"(?:available|free) .{0,60}1048576|\[W[ \d].{0,40}socket\.cpp"
)
# Such lines tell of a failure also where no warning follows: the log ends before NCCL gives up.
RETRIES = re.compile(
    r"NCCL INFO .{0,80}(?:connect returned .{1,80}, retrying|Call to (?:recv|send|connect)\b.{0,80} failed :)|"
    r"\[W[ \d].{0,60}socket\.cpp.{0,20}\[c10d\] The (?:client socket has (?:failed|timed)|IPv[46] network addresses)"
)
# A name that is not known is more than a late answer, where no later line shows an address.
NO_NAME = re.compile(r"network addresses of \([^)]{1,120}\) cannot be retrieved \(gai error: -[235]\b")
HAS_ADDRESS = re.compile(r"client socket has (?:successfully )?connected|client socket has failed to connect to \[")
# An agent of torchrun that finds the port taken goes on as a client of who has it: the line counts where the log ends with it.
PORT_TAKEN = re.compile(
    r"\[W[ \d].{0,60}socket\.cpp.{0,20}server socket has failed to bind .{1,80}(?:ddress already in use|EADDRINUSE)"
)
MOST_BEHIND = 5
# Where nothing else tells more than that a process ended, they count.
SAY_LITTLE = {"exit_code", "cancelled", "slurm"}
# nccl-tests' row of a size that isn't complete. What its processes print stands behind it.
ROW = re.compile(
    r"^ {1,16}\d{1,20} {1,16}\d{1,20} {1,16}(?:float|double|half|bfloat16|fp8\w{0,6}|u?int\d{1,2}|f8e\w{2,4}) {1,16}"
    r"(?:none|sum|prod|min|max|avg|mulsum|all)(?: {1,16}(?:-?[\d.]{1,12}(?:e[+-]\d\d)?|N/A)){0,9}(?=[A-Za-z\[])"
)
# What torchrun prints of the file in which a process leaves its exception: the exception, and its traceback in one line.
ERROR_FILE = re.compile(
    r'^ {2,8}"(?:message": "(?P<error>(?:\w+\.){0,8}\w{1,80}(?:Error|Exception|Exit|Interrupt)\b[^"\n\\]{0,600})|py_callstack": ")'
)
# A line of a text, which is neither empty nor of a list nor a name and its value.
PROSE = re.compile(r"(?!\s*$|\s*[*-]|\s*\w[\w #]{0,30}:\s|.{1,80}: \S+\s*$)\s*\S")
MOST_OF_A_PARAGRAPH = 8
# The words of mpirun's help texts, which explain what often goes wrong and not what did.
HELP = re.compile(
    r"^(?:\* |- |  [*-] |There may be more information|This may be because|location of the shared libraries|Please (?:check|verify))"
)


def causes_of(lines: Sequence[Line], without: AbstractSet[int]) -> Dict[int, int]:
    """The causes, without lines that follow from others where some are left, and those of new tries where these tell more."""
    found = causes_in(lines, worth_a_look(lines, without)) or causes_in(lines, worth_a_look(lines, frozenset()))
    if any(CAUSES[index].name not in SAY_LITTLE for index in found):
        return {**causes_in(lines, without_name(lines)), **found}
    tries = [number for number, line in enumerate(lines) if RETRIES.search(line.text[:MOST_CHARACTERS])]
    return {**found, **causes_in(lines, tries or at_end(lines))}


def without_name(lines: Sequence[Line]) -> List[int]:
    """The lines of names that can't be resolved, where the last of them is not followed by one with an address."""
    numbers = [number for number, line in enumerate(lines) if NO_NAME.search(line.text[:MOST_CHARACTERS])]
    later = lines[numbers[-1] :] if numbers else ()
    return [] if any(HAS_ADDRESS.search(line.text[:MOST_CHARACTERS]) for line in later) else numbers


def at_end(lines: Sequence[Line]) -> List[int]:
    """The lines of a port that is taken, where few others follow."""
    last = [number for number, line in enumerate(lines) if line.text.strip()][-MOST_BEHIND - 1 :]
    return [number for number in last if PORT_TAKEN.search(lines[number].text[:MOST_CHARACTERS])]


def causes_in(lines: Sequence[Line], numbers: Sequence[int]) -> Dict[int, int]:
    """The causes that some lines show, by their place in the table, with the first line of each. A line shows one only."""
    places: Dict[int, int] = {}
    contexts = (
        {index: bool(context_of(cause, lines)) for index, cause in enumerate(CAUSES) if cause.context}
        if numbers
        else {}
    )
    for number in numbers:
        words = lines[number].text[:MOST_CHARACTERS]
        best = next(
            (index for index, cause in enumerate(CAUSES) if contexts.get(index, True) and cause.pattern.search(words)),
            None,
        )
        if best is not None:
            places[best] = min(number, places.get(best, number))
    return places


def context_of(cause: Cause, lines: Sequence[Line]) -> Optional["re.Match[str]"]:
    """The first line that has the context of a cause, None without one."""
    if cause.context is None:
        return None
    return next(
        (match for match in (cause.context.search(line.text[:MOST_CHARACTERS]) for line in lines) if match), None
    )


def worth_a_look(lines: Sequence[Line], without: AbstractSet[int]) -> List[int]:
    """The numbers of the lines that may show a cause: one of those that only differ in numbers, the first and last of very many."""
    seen: Dict[str, int] = {}
    for number, line in enumerate(lines):
        words = line.text[:MOST_CHARACTERS]
        if words and " NCCL INFO " not in words and number not in without:
            # The size of a huge page is a number that counts.
            seen.setdefault(words if words.startswith("EAL: ") else DIGITS.sub("0", words), number)
    numbers = [number for words, number in seen.items() if not NOT_A_CAUSE.search(words) and not HELP.match(words)]
    return numbers if len(numbers) <= 2 * MOST_LINES else numbers[:MOST_LINES] + numbers[-MOST_LINES:]


def unwrapped(lines: List[Line]) -> List[Line]:
    """The lines, where each sentence of mpirun's texts, which stand between rules, begins in a line that holds it,
    however it was wrapped."""
    rules = [number for number, line in enumerate(lines) if RULE.match(line.text)]
    for begin, end in zip(rules, rules[1:]):
        for place in range(begin + 1, min(end, begin + 2 * NEAR)):
            if PROSE.match(lines[place].text) and not (lines[place - 1].text.strip() and place - 1 > begin):
                lines[place] = lines[place]._replace(text=paragraph(lines, place, end))
    for place, line in enumerate(lines):
        error = ERROR_FILE.match(line.text)
        if error:
            lines[place] = line._replace(text=error["error"] or "")
    for place, line in enumerate(lines):
        row = ROW.match(line.text) if line.text.startswith(" ") else None
        if row:
            lines[place] = line._replace(text=line.text[row.end() :])
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
    in_one_line(lines)
    return lines


def paragraph(lines: Sequence[Line], begin: int, end: int) -> str:
    """The lines from one on, up to an empty line or one that names a value."""
    taken = []
    for line in lines[begin : min(end, begin + MOST_OF_A_PARAGRAPH)]:
        if not PROSE.match(line.text):
            break
        taken.append(line.text.strip())
    return " ".join(taken)


# TensorFlow prints the error of a function that it compiled below such a header, indented, with the user's own frames above it.
IN_USER_CODE = re.compile(r"^(?:[\w.]+\.)?\w+(?:Error|Exception): in user code:\s*$")
INDENTED_ERROR = re.compile(r"^\s{1,8}(?P<error>(?:[\w.]+\.)?\w+(?:Error|Exception): \S.*)")
MOST_OF_A_HEADER = 60
# Python's own frame of a program that it starts, and the program in the call above it.
NOT_STARTED = re.compile(
    r"^(?:FileNotFoundError|OSError): \[Errno 2\] No such file or directory(?:: '(?P<name>[^'/\n]{1,100})')?\s*$"
)
STARTS = re.compile(r'File "[^"\n]{1,300}subprocess\.py", line \d+, in _execute_child')
PROGRAM = re.compile(r"[\[(]{1,2}['\"](?P<name>[\w.+-]{1,80})['\" ]")
MOST_FRAMES = 40
# Mail programs and terminals break lines there. A log with a longer line was not wrapped.
MOST_WRAPPED = 132
LEAST_WRAPPED = 40
MOST_LINES_OF_A_MAIL = 400
# What programs print in one line: where a break may be, any blanks may be.
PHRASES = [
    re.compile(re.escape(phrase).replace(r"\ ", r"\s+"))
    for phrase in (
        "error while loading shared libraries:",
        "cannot open shared object file: No such file or directory",
        "Could not resolve hostname",
        "Name or service not known",
        "Permission denied (publickey",
        "Host key verification failed",
        "There are not enough slots available",
        "CUDA out of memory",
        "CUDA error: out of memory",
        "CUDA driver version is insufficient for CUDA runtime version",
        "no kernel image is available for execution",
        "an illegal memory access was encountered",
        "Address already in use",
        "Connection refused",
        "Connection timed out",
        "No route to host",
        "No such file or directory",
        "No space left on device",
        "Cannot allocate memory",
        "command not found",
        "undefined symbol:",
        "Segmentation fault",
        "Illegal instruction",
        "No module named",
        "unhandled system error",
        "unhandled cuda error",
        "Watchdog caught collective operation timeout",
    )
]


def in_one_line(lines: List[Line]) -> None:
    """Rewrite the lines of such errors in place."""
    for place, line in enumerate(lines):
        if IN_USER_CODE.match(line.text):
            below_header(lines, place)
        elif "[Errno 2]" in line.text:
            match = NOT_STARTED.match(line.text)
            name = program_of(lines, place, match) if match else None
            if name:
                lines[place] = line._replace(text=f"{line.text.rstrip()} when it started the program '{name}'")
    if len(lines) <= MOST_LINES_OF_A_MAIL and all(len(line.text) <= MOST_WRAPPED for line in lines):
        join_wrapped(lines)


def below_header(lines: List[Line], place: int) -> None:
    """Move the error below a header to the begin of its line, and take the header away."""
    rank = lines[place].rank
    for number in range(place + 1, min(place + MOST_OF_A_HEADER, len(lines))):
        line = lines[number]
        if line.rank != rank:
            continue
        if line.text.strip() and not line.text[0].isspace():
            return
        match = INDENTED_ERROR.match(line.text)
        if match:
            lines[number] = line._replace(text=match["error"])
            lines[place] = lines[place]._replace(text="")
            return


def program_of(lines: Sequence[Line], place: int, error: "re.Match[str]") -> Optional[str]:
    """The program that Python could not start, None where the error is about another file."""
    above = [line.text for line in lines[max(place - MOST_FRAMES, 0) : place] if line.rank == lines[place].rank]
    begin = next((number for number in reversed(range(len(above))) if above[number].startswith("Traceback ")), 0)
    starts = any(STARTS.search(text) for text in above[begin:])
    if not starts or error["name"]:
        return error["name"] if starts else None
    calls = (PROGRAM.search(text) for text in above[begin:] if not text.lstrip().startswith("File "))
    return next((match["name"] for match in calls if match), None)


def join_wrapped(lines: List[Line]) -> None:
    """Join a line with those behind it, where a phrase of a program goes over the break and each part has it not."""
    for place in reversed(range(len(lines) - 1)):
        first, second = lines[place].text.rstrip(), lines[place + 1].text.strip()
        if len(first) < LEAST_WRAPPED or not second or lines[place].rank != lines[place + 1].rank:
            continue
        if goes_over(f"{first} {second}", len(first)):
            lines[place] = lines[place]._replace(text=f"{first} {second}")
            lines[place + 1] = lines[place + 1]._replace(text="")


def goes_over(text: str, place: int) -> bool:
    """Whether a phrase goes over a place of a text."""
    matches = (match for phrase in PHRASES for match in phrase.finditer(text))
    return any(match.start() < place < match.end() - 1 for match in matches)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring the words of an error into one line: those below a header, of a program that Python can't start, and of a line that was wrapped."""

import re
from typing import List, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

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

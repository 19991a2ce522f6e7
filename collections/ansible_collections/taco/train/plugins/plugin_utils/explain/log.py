# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the log of a failed run: its lines without chatter, mpirun's help texts in one line each, and the lines that a message shows."""

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, tagged_lines

# mpirun prints its help texts between two rules.
RULE = re.compile(r"\s*-{40,}\s*$")
RULE_BEGIN = "-" * 40
MOST_OF_A_TEXT = 40
LEAST_OF_A_TEXT = 60
FIELD = re.compile(r"\s{0,12}([A-Za-z][\w #-]{0,30}?)\s{0,12}: {0,30}(\S.{0,300}?)\s*$")
# The stack of a process that Open MPI ends.
STACK = re.compile(r"\*\*\* (?P<begin>Process received signal)|\*\*\* End of error message")
# Horovod names the ranks that others wait for some lines below.
STALLED = "by subset of ranks"
LINES_OF_A_STALL = 6
# Lines that tell nothing of a failure.
CHATTER = re.compile(
    r"NCCL INFO|[Hh]col\b|HCOLL|LOG_CAT_ML|libibverbs|libnuma|Authorization required|No protocol specified|\(ignored\)$|"
    r"Permanently added|/proc/mounts line|\bras/\w+\.cc|Could not find real path of /sys/|"
    r"(?:orte|prte)_base_help_aggregate|has sent help message|DeprecationWarning|FutureWarning|deprecated|"
    r"Linux kernel CMA support was requested|can only test a child process|driver shutting down|"
    r"^debug\d: |^\[W[^\]]{0,80}socket\.cpp|This is a warning|this is not a failure|only a warning|silence this warning|OMP_NUM_THREADS"
)
KEPT = re.compile(r"INFO (?:NET/Socket ?: Using|Bootstrap ?: Using)|INFO .{0,80}(?: nranks |connect returned )")
# A help text of mpirun that is about the end of a process, or of something that did not end the run.
EPILOGUE = re.compile(r"Primary job|\S*(?:mpirun|prterun|mpiexec)\S* (?:detected|noticed|has exited)")
NO_CAUSE = re.compile(
    rf"WARNING: |{EPILOGUE.pattern}|[^A-Z]|Traceback|By default, for Open MPI|A deprecated MCA|No OpenFabrics|"
    r"There was an error initializing an OpenF|A process has executed an operation involving|"
    r".*(?:will be (?:used instead|ignored|disabled)|[Ww]e will continue|job will continue|"
    r"(?:adversely|negatively) impact|have been deprecated)"
)
COMPLAINT = re.compile(
    r"(?i)\b(?:errors?|fatal|fail(?:ed|ure)?|can(?:not|'t)|could not|unable|denied|not found|invalid|abort(?:ed|ing)?|refused|"
    r"timed out|killed|exception|warn(?:ing)?|fault|out of memory)\b|Error\b"
)
FRAME = re.compile(r"[\s=*_.#-]*$")
# Control characters without those of terminals, and bytes that are no UTF-8.
UNPRINTABLE = re.compile(r"[\x01-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\ud800-\udfff]")
DIGITS = re.compile(r"\d+")
MOST_CHARACTERS = 4000
MOST_LINES = 6000
MOST_OF_A_LINE = 200
BEHIND = 40
LINES_SHOWN = 3


class Candidate(NamedTuple):
    """A line of the log, or a text that mpirun printed over several, with the values of its fields and where they stand in it."""

    line: Line
    fields: Mapping[str, str] = {}
    below: Sequence[int] = ()


def told_lines(text: str) -> List[Line]:
    """The lines of a log without what NCCL prints of itself, which can be nearly all of it, and without the middle of long lines."""
    # Open MPI 5 prints NUL characters.
    text = UNPRINTABLE.sub("\ufffd", text.replace("\0", ""))
    if " NCCL INFO " in text:
        lines = text.rstrip().splitlines()
        kept = [line for line in lines[:-LINES_SHOWN] if " NCCL INFO " not in line or KEPT.search(line)]
        text = "\n".join(kept + lines[-LINES_SHOWN:])
    return [line._replace(text=shortened(line.text)) for line in tagged_lines(text, any_prefix=False)]


def shortened(text: str) -> str:
    """A line without its middle where it is long: a cause can stand behind what a program printed without an end of line."""
    # What is left of a control sequence that is none.
    text = text.replace("\x1b", "")
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]} ... {text[-half:]}"


def candidates(lines: Sequence[Line]) -> Dict[int, Candidate]:
    """The lines that may show a symptom by their positions: one of those that only differ in numbers, of many those that complain."""
    found: Dict[int, Candidate] = {}
    seen: set[str] = set()
    whole = help_texts(lines)
    for position, line in enumerate(lines):
        candidate = whole.get(position) or Candidate(line)
        masked = DIGITS.sub("0", candidate.line.text).strip()
        if not masked or masked in seen or is_chatter(candidate.line.text):
            continue
        seen.add(masked)
        found[position] = candidate
    if len(found) <= MOST_LINES:
        return found
    third, positions = MOST_LINES // 3, list(found)
    middle = [position for position in positions[third:-third] if is_complaint(found[position].line)]
    return {position: found[position] for position in [*positions[:third], *middle[:third], *positions[-third:]]}


def is_chatter(text: str) -> bool:
    return bool(CHATTER.search(text)) and not KEPT.search(text)


def is_complaint(line: Line) -> bool:
    return bool(COMPLAINT.search(line.text)) and not is_chatter(line.text)


def help_texts(lines: Sequence[Line]) -> Dict[int, Candidate]:
    """The texts that mpirun prints between two rules, stacks of processes and Horovod's stalls, each in one line, by their begin."""
    found: Dict[int, Candidate] = {}
    rules = [number for number, line in enumerate(lines) if RULE_BEGIN in line.text and RULE.match(line.text)]
    for begin, end in zip(rules, [*rules[1:], len(lines)]):
        block = [number for number in range(begin + 1, end) if lines[number].rank == lines[begin].rank]
        first = next((number for number in block if lines[number].text.strip()), end)
        if first < end:
            found[first] = joined(lines[first : min(end, first + MOST_OF_A_TEXT)])
    stack: Optional[int] = None
    for number, line in enumerate(lines):
        if STALLED in line.text:
            found[number] = joined(lines[number : number + LINES_OF_A_STALL])
        mark = STACK.search(line.text) if "*** " in line.text else None
        if mark and mark["begin"]:
            stack = number
        elif mark and stack is not None:
            found[stack] = joined(lines[stack : min(number, stack + MOST_OF_A_TEXT)])
            stack = None
    return found


def joined(lines: Sequence[Line]) -> Candidate:
    """Several lines in one, without those of other ranks between them, with the values of their fields by names such as local_host."""
    own = {number: line for number, line in enumerate(lines) if line.rank == lines[0].rank}
    matches = {number: FIELD.match(line.text) for number, line in own.items()}
    fields: Dict[str, str] = {}
    for match in matches.values():
        if match:
            fields.setdefault(match[1].lower().replace(" ", "_").replace("#", ""), match[2])
    text = shortened(" ".join(" ".join(line.text for line in own.values()).split()))
    return Candidate(lines[0]._replace(text=text), fields, [number for number, match in matches.items() if match])


def unexplained_text(lines: Sequence[Line]) -> Optional[Candidate]:
    """The first help text of mpirun that may have the cause."""
    found = (text for text in help_texts(lines).values() if len(text.line.text) > LEAST_OF_A_TEXT)
    return next((text for text in found if not NO_CAUSE.match(text.line.text)), None)


def cut(text: str, end: int = 0) -> str:
    """A line, cut so that it has what ends there."""
    words = " ".join(text.split())
    begin = max(min(end, len(words)) + BEHIND - MOST_OF_A_LINE, 0)
    behind = "..." if len(words) > begin + MOST_OF_A_LINE else ""
    return ("... " if begin else "") + words[begin : begin + MOST_OF_A_LINE] + behind


def before_epilogue(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines before mpirun reports how the run ended."""
    end = next((number for number, line in enumerate(lines) if EPILOGUE.match(line.text)), len(lines))
    return lines[:end]


def last_line(lines: Sequence[Line]) -> str:
    """The last line that has words."""
    return next((cut(line.text) for line in reversed(lines) if not FRAME.match(line.text)), "")


def last_complaint(lines: Sequence[Line]) -> str:
    """The last line that reports an error."""
    return next((cut(line.text) for line in reversed(lines) if is_complaint(line)), "")


def shown_lines(lines: Sequence[Line], position: Optional[int] = None, below: Sequence[int] = ()) -> List[str]:
    """Two or three lines of the log: the one that tells with the values below it, the next that complains, and the last."""
    first = [] if position is None else [position, *(position + number for number in below[: LINES_SHOWN - 1])]
    begin = 0 if position is None else position + 1
    complaints = [number for number in range(begin, len(lines)) if is_complaint(lines[number])]
    every = [number for number, line in enumerate(lines) if not FRAME.match(line.text)]
    worded = [number for number in every if number in first or not is_chatter(lines[number].text)]
    # Chatter is better than nothing beside the line that tells.
    worded = worded if len(worded) > 1 else sorted({*worded, *every[-LINES_SHOWN + 1 :]})
    chosen = set(first if len(first) > 1 else [*first, *(complaints[:1] if first else complaints[-2:]), *worded[-1:]])
    others = [number for number in reversed(worded) if number not in chosen]
    chosen.update(others[: max(LINES_SHOWN - len(chosen), 0)])
    return list(dict.fromkeys(cut(lines[number].text) for number in sorted(chosen)))[:LINES_SHOWN]

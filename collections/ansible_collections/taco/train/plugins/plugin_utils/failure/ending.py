# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describe an end whose cause isn't in the table: what mpirun prints between two rules, or the last line of a rank."""

import re
from typing import NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.failure.candidates import in_one_line
from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import NODE, fields_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.fields import NEAR, RULE, fields_near, groups_of
from ansible_collections.taco.train.plugins.plugin_utils.failure.tracebacks import of_launcher
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import tagged_lines

# Lines that frame or follow what a program prints last.
FRAME = re.compile(
    r"^[\s=*_.-]*$|non-zero|Primary job|per user-direction|Process name:|Exit code:|the job to be terminated|noticed that process|"
    r"Terminating remaining workers|srun: |Process \d+ exit with|^(?:traceback|error_file|exitcode|time|host|rank) *: |^\"(?:py_callstack|"
    r"extraInfo|timestamp)\": |<NO_OTHER_FAILURES>|^Root Cause|^\[\d+\]:$|ChildFailedError:?$|^\S+ FAILED$|failed \(exitcode: -?\d+\) "
    r"local_rank|slurmstepd: error: \*\*\*|command terminated with exit code|(?:orte|prte)_base_help_aggregate|sent help message|NCCL INFO|"
    # Headers, and lines of wrappers and loggers.
    r"^aborting job:$|Error: in user code:$|^\S{0,30}wandb\S{0,8}: |^\S*CalledProcessError: |^File \"[^\"]{1,400}\", line \d|"
    r"Sending process \d+ closing signal|^Traceback \(most recent call last\):$"
)
# What says that something is wrong.
COMPLAINT = re.compile(
    r"(?i)\b(?:errors?|fatal|fail(?:ed|ure)?|can(?:not|'t)|could not|unable|denied|not found|invalid|abort(?:ed|ing)?|refused|"
    r"doesn't (?:contain|exist)|no [\w -]{1,40} (?:was|were|could be) found)\b"
)
LAST_LINES = 30
# A program's own word of what is wrong.
OF_PROGRAM = re.compile(r"(?i)(?:[\w./+-]{1,80}: )?(?:fatal )?error: \S|fatal: \S")
# What benchmarks print of an iteration.
ITERATION = re.compile(
    r"\bIter #\d|\d (?:images|img|examples|samples|tokens)/sec|images/sec: \d|\b[Ss]tep[s:= #]{1,3}\d|\b[Ii]ter(?:ation)?[:= #]{1,3}\d|"
    r"\b[Ee]poch[:= #\[]{1,3}\d|\d +(?:float|half|double|bfloat16|u?int\d*) +(?:sum|none)\b"
)
# Fields of mpirun's texts that say what it is about.
DECISIVE = (
    "application name",
    "executable",
    "application",
    "file",
    "directory",
    "interface",
    "value",
    "message",
    "error message",
    "error",
)
EPILOGUE_TEXT = re.compile(
    r"^(?:WARNING: |A deprecated MCA|By default, for Open MPI|A process has executed an operation involving|"
    r"The call to cu\w+ failed\. This is a warning|Primary job|Failures:|\S*(?:mpirun|prterun): Forwarding signal|Root Cause|\S+ FAILED|"
    r"\S*(?:mpirun|prterun|mpiexec)\S* (?:detected|noticed|has exited))"
)

# A text of something that did not end the run.
NOTICE = re.compile(
    r"will\s+be\s+(?:used\s+instead|ignored|disabled|deactivated)|[Ww]e\s+will\s+continue|job\s+will\s+continue|only\s+a\s+warning|"
    r"(?:adversely|negatively)\s+impact|silence\s+this\s+warning|have\s+been\s+deprecated|will\s+proceed"
)


class LauncherText(NamedTuple):
    """The first paragraph of a text of mpirun, and the host in it."""

    text: str
    host: Optional[str]


def launcher_text(text: str) -> Optional[LauncherText]:
    """The first text of mpirun between two rules that isn't about the end of a process, None without one."""
    lines = tagged_lines(text)
    rules = [number for number, line in enumerate(lines) if RULE.match(line.text)]
    for begin, end in zip(rules, rules[1:]):
        block = "\n".join(line.text.rstrip() for line in lines[begin + 1 : min(end, begin + 1 + 2 * NEAR)]).strip()
        if not block or EPILOGUE_TEXT.match(block) or NOTICE.search(block):
            continue
        paragraph = " ".join(block.partition("\n\n")[0].split())[:300].rstrip(".:")
        values = fields_near(lines, begin + 1)
        more = ", ".join(f"{name}: {values[name]}" for name in DECISIVE if name in values)
        paragraph += f" ({more})" if more and more not in paragraph else ""
        return LauncherText(paragraph, groups_of(fields_of(NODE), lines, begin + 1).get("host"))
    return None


def last_line(text: str, rank: Optional[int] = None, frames: bool = True) -> str:
    """The last line that reports an error, of a rank where its lines are tagged; mpirun frames its messages with rules.

    Where there is nothing else, the frames' lines count.
    """
    everything = tagged_lines(text)
    in_one_line(everything)
    of_wrapper = of_launcher(everything)
    tagged = [line for number, line in enumerate(everything) if number not in of_wrapper] or everything
    own = [line for line in tagged if line.rank == rank and line.text.strip()] if rank is not None else []
    lines = [line.text.strip() for line in own or tagged]
    words = [line for line in lines if line and not FRAME.search(line)]
    if frames and not words:
        words = [line for line in lines if line.strip(" \t-=*")]
    complaints = [line for line in words[-LAST_LINES:] if COMPLAINT.search(line)]
    if not words:
        return ""
    last = (complaints or words)[-1]
    # A list stands below it.
    below = words[words.index(last) + 1 :] if last.endswith(":") else []
    return (f"{last} {below[0]}" if below else last)[:200]


# What a status says of the end: causes by their names. A shell adds 128 to the number of a signal.
OF_STATUS = {
    129: "hangup",
    130: "interrupted",
    132: "instruction",
    135: "bus_error",
    137: "killed",
    139: "segfault",
    143: "terminated",
}
WITHOUT_CAUSE = {
    126: "make the program executable in taco_image (chmod +x), for the CPU of the hosts",
    127: "set benchmark_mpirun, benchmark_options.script or benchmark_options.binary to a program that taco_image has (a whole path)",
    255: "look at ssh between the hosts: run the ssh_trust role, and ssh HOST true from the launcher",
}
TRY = (
    "run the command with hostname in place of the script: if that fails too, mpirun or a host is at fault, else the script: run it on "
    "one host"
)
OWN_ERROR = "correct what this message of the program names; the lines above it have more, and the program run alone prints the same"

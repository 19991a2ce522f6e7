# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers at the start of lines that are not those of ranks: the numbers of lines, and of tasks that have several ranks each."""

import re

# The number of the line in a log that was copied from a viewer. A rank is not as high, and ranks don't only rise.
LINE_NUMBER = re.compile(r"\[(\d{4,9})\] ")
LEAST_LINE_NUMBERS = 5
# srun --label: the task, and behind it PyTorch's rank of the run, or the process of NCCL.
TASK = re.compile(
    r" {0,6}(?P<task>\d{1,6}): (?:\[rank(?P<rank>\d{1,7})\]|(?P<process>[\w.-]{1,253}:\d{1,10}):\d{1,10} (?:\[\d{1,3}\] )?NCCL )"
)
LABEL = re.compile(r"^ {0,6}\d{1,6}: ")
TASK_END = re.compile(r"(srun: error: [\w.-]{1,253}: )task (?=\d{1,7}: )")
FIRST = tuple(" 0123456789")


def without_line_numbers(lines: list[str]) -> list[str]:
    """The lines without their numbers, where nearly all have one and the numbers only rise."""
    if not any(LINE_NUMBER.match(line) for line in lines[:2]):
        return lines
    numbers = [int(match[1]) for match in map(LINE_NUMBER.match, lines) if match]
    rising = all(one < other for one, other in zip(numbers, numbers[1:]))
    if not rising or len(numbers) < max(LEAST_LINE_NUMBERS, 0.9 * sum(bool(line.strip()) for line in lines)):
        return lines
    return [LINE_NUMBER.sub("", line, count=1) for line in lines]


def without_tasks(lines: list[str]) -> list[str]:
    """The lines without the labels of srun, where a task is not a rank: it starts the ranks of its host, as torchrun does."""
    if not of_launchers(lines):
        return lines
    # srun lists several tasks so, which are not one rank.
    return [TASK_END.sub(r"\1tasks ", LABEL.sub("", line, count=1)) for line in lines]


def of_launchers(lines: list[str]) -> bool:
    """Whether a line of a task names another rank, or two processes of NCCL have one task."""
    processes: dict[str, str] = {}
    for line in lines:
        match = TASK.match(line) if line.startswith(FIRST) else None
        if match and match["rank"] and int(match["rank"]) != int(match["task"]):
            return True
        if match and match["process"] and processes.setdefault(match["task"], match["process"]) != match["process"]:
            return True
    return False

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `command`, any program of the user's, into what is run.

Read what a user's program prints, by the user's regular expressions.

`pattern` finds one number for each iteration. The run is judged by their median, or by the last number that
`total_pattern` finds. Either is taken as a number of the whole job: nothing is multiplied. A group named `ranks` in
either is the number of ranks that took part, which is compared with the number of ranks that were started.
"""

import re
from pathlib import PurePosixPath
from typing import Any, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import option, pattern, result, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import TOTAL, IterationOf, WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, raw_lines
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

OPTIONS = {
    "command": Option("list", "The command, as a list of arguments.", []),
    "model": Option("str", "What the command trains, for the reports."),
    "mpi": Option(
        "bool", "Whether the command is started by ``mpirun``, once for each slot, or once on the launcher.", True
    ),
    "chdir": Option("str", "The working directory of the command."),
    "cleanup": Option("list", "Files to remove before the command runs.", []),
    **option.PATTERNS,
    **option.TENSORFLOW,
    **option.EXTRA_ARGS,
}


def words_of(options: Options, name: str) -> list[str]:
    """Return an option's list of words as texts."""
    given = options.get(name) or []
    if not isinstance(given, (list, tuple)) or not all(isinstance(word, (str, int, float)) for word in given):
        raise InvalidValueError(f"benchmark_options.{name} is {given!r}; it must be a list of words.")
    return [str(word) for word in given]


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    command = words_of(options, "command")
    if not command or not command[0]:
        raise InvalidValueError("benchmark_options.command is empty; it must be a list of words, the program first.")
    if pattern.compiled(options, "pattern") is None:
        raise InvalidValueError(
            "benchmark_options.pattern is not set; it must be a regular expression that finds one number of an iteration in a "
            "line, in a group named value."
        )
    pattern.compiled(options, "total_pattern")
    mpi = options.get("mpi", True)
    env = workload.environment(options, slots, workload.switches(options))
    if not mpi:
        env = workload.without_exports(env)
    return Workload(
        env,
        workload.mca_parameters(options) if mpi else {},
        command + workload.extra_args(options),
        workload.notes_of(env, options),
        mpi=bool(mpi),
        chdir=options.get("chdir") or None,
        cleanup=tuple(words_of(options, "cleanup")),
    )


UNIT = "units/s"


def parse(
    text: Any, expected_ranks: Any = None, device: str | None = "GPU", options: Options | None = None
) -> result.Result:
    """Return the numbers in the text and everything that is wrong with them, as parsed.result describes."""
    options = options or {}
    lines = lines_of(text)
    told: dict[str, Any] = {
        "model": options.get("model"),
        "higher_is_better": options.get("higher_is_better") is not False,
    }
    unit = options.get("unit") or UNIT
    try:
        each_pattern = pattern.compiled(options, "pattern")
        total_pattern = pattern.compiled(options, "total_pattern")
    except InvalidValueError as error:
        return result.result(lines, unit, [str(error)], **told)
    if each_pattern is None:
        return result.result(lines, unit, ["benchmark_options.pattern is not set, so nothing can be read."], **told)
    raw = raw_lines(text)
    each = pattern.find(each_pattern, raw)
    problems = pattern.problems(each, "pattern", each_pattern.pattern)
    value, ranks = result.middle(each.numbers), each.ranks
    if total_pattern:
        total = pattern.find(total_pattern, raw)
        problems += pattern.problems(total, "total_pattern", total_pattern.pattern)
        value = total.numbers[-1] if total.numbers else None
        ranks = total.ranks if total.ranks is not None else ranks
    problems += result.rank_problems(expected_ranks, ranks)
    return result.result(
        lines,
        unit,
        problems,
        value=value,
        ranks=ranks,
        iterations=each.numbers,
        # What an iteration's number is to the total, only the user knows.
        series=[] if total_pattern else result.scaled(each.numbers, 1),
        **told,
    )


def iteration_of(options: Options) -> Optional[IterationOf]:
    """The function that finds the value of an iteration by the user's pattern; None without one."""
    if not options.get("pattern"):
        return None
    expression = re.compile(options["pattern"])

    def value(line: str) -> Optional[float]:
        match = pattern.found_in(expression, line)
        return pattern.value_of(match) if match else None

    return value


WORKLOAD = WorkloadKind(
    "your own program",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the median of the numbers that benchmark_options.pattern finds",
    lambda parameters: PurePosixPath(str((parameters.get("command") or ["command"])[0])).name,
    lambda options: {},
    TOTAL,
    asked="run faster",
    mpi=None,
    iteration_of=iteration_of,
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `nccl_tests` into environment, MCA parameters and command.

The arguments are those of https://github.com/NVIDIA/nccl-tests, README.md (section Arguments). One rank drives one GPU.

Read what nccl-tests print: a table of sizes with the bandwidth of each, and their average. Versions with the argument -J also
write a JSON document; where the text holds one, or the option `json` does, its numbers are read, because they are not rounded
for a table.
"""

import re
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import (
    nccl_json,
    nccl_sizes,
    nccl_table,
    option,
    result,
    workload,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_json import Read
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_table import finished_lines, read_table
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import of_all_reduce_tests
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

OPTIONS = {
    "binary": Option("str", "The program.", "all_reduce_perf"),
    "min_bytes": Option("str", "The smallest message size, in bytes or with K, M or G.", "8"),
    "max_bytes": Option("str", "The largest message size, in bytes or with K, M or G.", "128M"),
    "step_factor": Option("int", "The factor from one size to the next.", 2),
    "iters": Option("int", "Iterations at each size.", 20),
    "warmup": Option("int", "Iterations before those.", 5),
    "json_path": Option(
        "str",
        "File in the container for the results as JSON, which newer versions can write. Not set means that the printed table is parsed.",
        affects_value=False,
    ),
    **option.EXTRA_ARGS,
}
# How nccl-tests reads a size: a number and one letter, of 1024.
SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?) ?([KMG]?)", re.IGNORECASE)
SUFFIXES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def size_of(options: Options, name: str) -> int:
    """Return the bytes of a size such as 1048576, "1M" or "8G"."""
    text = str(options[name]).strip()
    match = SIZE.fullmatch(text)
    count = int(Decimal(match.group(1)) * SUFFIXES[match.group(2).upper()]) if match else 0
    if isinstance(options[name], bool) or count < 1:
        raise InvalidValueError(
            f"benchmark_options.{name} is {options[name]!r}; it must be a number of bytes, 1 or more, or one with K, M or G."
        )
    return count


NO_HOROVOD = "nccl_tests use no Horovod, so LightCC has no part in this number: arm {} differs only by its plugin."


def binary_of(options: Options | None) -> str:
    """The program, as the command line has it."""
    return str((options or {}).get("binary") or OPTIONS["binary"].default)


def program_name(options: Options | None) -> str:
    """The name of the test that the program is."""
    return PurePosixPath(binary_of(options)).name


def check(options: Options) -> None:
    workload.require_words(options, "binary")
    workload.require_at_least(options, 1, "iters")
    workload.require_at_least(options, 2, "step_factor")
    workload.require_at_least(options, 0, "warmup")
    if size_of(options, "min_bytes") > size_of(options, "max_bytes"):
        raise InvalidValueError(
            f"benchmark_options.min_bytes is {options['min_bytes']}, more than benchmark_options.max_bytes, {options['max_bytes']}."
        )
    if options.get("device", "GPU") != "GPU":
        raise InvalidValueError("Workload nccl_tests runs on GPUs only: set benchmark_device to GPU.")


def command(options: Options) -> list[str]:
    words = [options["binary"], "-b", str(options["min_bytes"]).strip(), "-e", str(options["max_bytes"]).strip()]
    words += ["-f", str(options["step_factor"]), "-n", str(options["iters"]), "-w", str(options["warmup"]), "-g", "1"]
    if options.get("json_path"):
        words += ["-J", options["json_path"]]
    return words + workload.extra_args(options)


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    options = option.with_defaults(OPTIONS, options)
    check(options)
    # A file that is there already is left alone, and the JSON goes into another beside it.
    cleanup: tuple[str, ...] = ()
    if options.get("json_path"):
        workload.require_words(options, "json_path")
        cleanup = (options["json_path"],)
    mca = workload.mca_parameters(options)
    arm = options["arm"]
    env = workload.environment(dict(options, arm=workload.without_horovod(arm), lightcc=None), slots)
    notes = [NO_HOROVOD.format(arm.name)] if workload.has_lightcc(arm) else []
    return Workload(env, mca, command(options), notes, cleanup=cleanup)


UNIT = "GB/s"


def parse(
    text: Any, expected_ranks: Any = None, device: str | None = "GPU", options: Mapping[str, Any] | None = None
) -> Result:
    """Return the numbers in the text and everything that is wrong with them, as parsed.result describes.

    The value is the bus bandwidth at the largest size; details.average is the printed average over all sizes. A size is no
    iteration, so iterations and series are empty; details.rows holds what was printed for each size, times in microseconds and
    bandwidths in GB/s.
    """
    lines = lines_of(text)
    table = read_table(finished_lines(lines))
    document = nccl_json.read(lines, (options or {}).get("json"))
    read = document or table
    ranks = nccl_table.count(read["ranks"] or table["ranks"], lines)
    read = {**read, "rows": nccl_sizes.with_small_rates(read["rows"], program_name(options), ranks)}
    problems = problems_of(read, table, expected_ranks, ranks)
    problems += result.device_problems(device, ["GPU"])
    return result.result(
        lines,
        UNIT,
        problems,
        value=None if problems else nccl_sizes.at_largest(read["rows"]),
        ranks=ranks,
        device="GPU" if ranks else None,
        details={
            "rows": read["rows"],
            "out_of_bounds": read["out_of_bounds"][-1][0] if read["out_of_bounds"] else None,
            "from_json": bool(document),
            "average": read["averages"][-1][0] if read["averages"] else None,
        },
    )


def problems_of(read: Read, table: Read, expected_ranks: Any, ranks: int | None) -> list[str]:
    """Return a sentence for each reason not to use the numbers."""
    if not read["averages"]:
        return [result.unfinished("Avg bus bandwidth", "size", len(read["rows"]))]
    if len(read["averages"]) > 1:
        several = f"There are {len(read['averages'])} lines 'Avg bus bandwidth' where one is expected."
        return [nccl_table.ALONE.format(len(read["averages"])) if table["ranks"] == {0} else several]
    said = []
    average, good = read["averages"][0]
    if not average and len(set(table["sizes"])) < len(table["sizes"]):
        return [nccl_table.ALONE.format("Several")]
    if ranks == 1 and not average:
        said.append("One rank exchanges no data with another, so it has no bus bandwidth.")
    elif result.unusable([average]) and not (average == 0 and nccl_sizes.are_small(read["rows"])):
        said.append("The average bus bandwidth is not a usable number.")
    if not good:
        said.append("The average bus bandwidth is below what NCCL_TESTS_MIN_BW asks for (FAILED).")
    if not read["rows"]:
        said.append(f"The output holds an average and no {'head of the table' if table['sizes'] else 'size'}.")
    said += wrong_values(read)
    said += result.rank_problems(expected_ranks, ranks)
    if expected_ranks is not None and ranks is None:
        said.append("The output doesn't say which ranks took part, so they can't be checked.")
    return said


def wrong_values(read: Read) -> list[str]:
    """Return what the test says about the data that came back."""
    if not read["out_of_bounds"]:
        return ["The line 'Out of bounds values' is missing."]
    count, good = read["out_of_bounds"][-1]
    if count or not good:
        return [f"NCCL returned wrong data: {count} values are out of bounds."]
    return []


def subject(parameters: Options) -> str:
    """The test and its message sizes, in words."""
    chosen = option.with_defaults(OPTIONS, parameters)
    return f"{program_name(chosen)}, {chosen['min_bytes']} to {chosen['max_bytes']} bytes"


def sent(parameters: Options, found: Result, ranks: int) -> float | None:
    """The bytes that each host sends in the test of all-reduce; of other collectives they are not computed."""
    rows = found["details"]["rows"] if program_name(parameters) == OPTIONS["binary"].default else []
    return of_all_reduce_tests(parameters, rows, ranks, int(option.with_defaults(OPTIONS, parameters)["iters"]))


WORKLOAD = WorkloadKind(
    "NVIDIA's test of NCCL alone, nccl-tests",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the bus bandwidth at the largest message size",
    subject,
    lambda options: {"benchmark_options.binary": binary_of(options)},
    asked="transfer data faster",
    unread=("lightcc",),
    iteration=None,
    sent=sent,
)

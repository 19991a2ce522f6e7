# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `nccl_tests` into environment, MCA parameters and command.

The arguments are those of https://github.com/NVIDIA/nccl-tests, README.md (section Arguments). One rank drives one GPU.

Read what nccl-tests print: a table of sizes with the bandwidth of each, and their average.

The lines are those of https://github.com/NVIDIA/nccl-tests (src/common.cu and src/util.cu, v2.9 to v2.18): 12 columns up to
v2.12 and 13 from v2.13, of which the header line tells, and a timestamp after them where that was asked for. Versions with
the argument -J also write a JSON document; where the text holds one, or the option `json` does, its numbers are read,
because they are not rounded for a table.
"""

import re
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import (
    nccl_json,
    nccl_ranks,
    nccl_sizes,
    option,
    result,
    workload,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_json import Read
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result, finite
from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import of_all_reduce_tests
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload, WorkloadError

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
        raise WorkloadError(
            f"benchmark_options.{name} is {options[name]!r}; it must be a number of bytes, 1 or more, or one with K, M or G."
        )
    return count


NO_HOROVOD = "nccl_tests use no Horovod, so LightCC has no part in this number: arm {} differs only by its plugin."


def needs(options: Options) -> dict[str, str]:
    """The program, by the variable that names it."""
    return {"benchmark_options.binary": str(options.get("binary") or OPTIONS["binary"].default)}


def check(options: Options) -> None:
    workload.require_words(options, "binary")
    workload.require_at_least(options, 1, "iters")
    workload.require_at_least(options, 2, "step_factor")
    workload.require_at_least(options, 0, "warmup")
    if size_of(options, "min_bytes") > size_of(options, "max_bytes"):
        raise WorkloadError(
            f"benchmark_options.min_bytes is {options['min_bytes']}, more than benchmark_options.max_bytes, {options['max_bytes']}."
        )
    if options.get("device", "GPU") != "GPU":
        raise WorkloadError("Workload nccl_tests runs on GPUs only: set benchmark_device to GPU.")


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
HEADER = re.compile(r"#? *((?:size|bytes) +(?:count|N) +type .*\bbusbw\b.*)$")
ROW = re.compile(r" *(\d{1,18} +\d{1,18} +[a-z]\S* .*)$")
# NCCL's line of any rank, printed into a row: the words before it are the row's, and its rest follows in a later line.
CUT = re.compile(r"(?P<last>-1|\d|)(?=[A-Za-z0-9][\w.-]{0,252}:\d{1,10}:\d{1,10} \[).*$")
REST = re.compile(r" *(?:-?\d[\d.e+-]*|N/A|-?nan|-?inf)(?: +(?:-?\d[\d.e+-]*|N/A|-?nan|-?inf))* *$")
STAMP = re.compile(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
OUT_OF_BOUNDS = re.compile(r"#? *Out of bounds values +: (\d{1,18}) (OK|FAILED)\s*$")
# The number has no fixed length, so one at the very end of the text may have been cut: see finished_lines.
AVERAGE = re.compile(r"#? *Avg bus bandwidth +: (\S+)\s*(OK|FAILED)?\s*$")


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
    ranks = nccl_ranks.count(read["ranks"] or table["ranks"], lines)
    problems = problems_of(read, table, expected_ranks, ranks)
    if device and device != "GPU":
        problems.append(f"The test runs on GPUs where {device} was expected.")
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


def finished_lines(lines: list[str]) -> list[str]:
    """Return the lines that were printed to their end. Text ends with a newline, so its last line is an empty one."""
    return lines[:-1]


def read_table(lines: list[str]) -> Read:
    headers = [words.split() for (words,) in values(HEADER, lines)]
    rows = []
    for words in row_words(lines, headers[-1]) if headers else []:
        row = read_row(words, headers[-1])
        if row:
            rows.append(row)
    return {
        "ranks": nccl_ranks.listed(lines),
        "sizes": nccl_ranks.sizes(lines),
        "rows": rows,
        "out_of_bounds": [(int(count), said == "OK") for count, said in values(OUT_OF_BOUNDS, lines)],
        "averages": [(finite(number), said != "FAILED") for number, said in values(AVERAGE, lines)],
    }


def row_words(lines: list[str], header: list[str]) -> list[list[str]]:
    """The words of each size's row. A row that another rank's NCCL line cut is joined with the numbers that follow."""
    rows: list[list[str]] = []
    begun: list[str] | None = None
    for line in lines:
        cut = "NCCL " in line
        text = CUT.sub(r"\g<last>", line, count=1) if cut else STAMP.sub("", line)
        if ROW.match(text + " "):
            begun = text.split()
            rows.append(begun)
        elif begun is not None and len(begun) < len(header) and REST.match(text):
            begun += text.split()
    return rows


def read_row(words: list[str], header: list[str]) -> dict[str, Any] | None:
    """Return one size's numbers, by the columns that the header names, or None for a line that doesn't have them.

    The columns come in two groups, out of place and in place, each from "time" to before the next group. A test that
    only runs in place leaves the first empty.
    """
    names = [name for name in header if name != "timestamp"]
    starts = [place for place, name in enumerate(names) if name in ("time", "cputime")]
    if not 1 <= len(starts) <= 2:
        return None
    width = starts[1] - starts[0] if len(starts) == 2 else len(names) - starts[0]
    # Columns of the row as a whole may follow both groups, such as algo, proto and nchannels of RCCL's tests.
    behind = max(len(names) - starts[-1] - width, 0)
    if behind and not all(REST.match(word) for word in words[-behind:]):
        words = words[:-behind]
    # A size and a count come first, then what the version has of type, operation and root.
    leading = next((rest for rest in (len(words) - 2 * width, len(words) - width) if 3 <= rest <= starts[0]), None)
    if leading is None:
        return None
    row: dict[str, Any] = {"size": int(words[0]), "count": int(words[1])}
    row.update(zip(names[2 : starts[0]], words[2:leading]))
    both = len(words) - leading > width
    row["out_of_place"] = read_group(names[starts[0] : starts[1]], words[leading:]) if both else None
    row["in_place"] = read_group(names[starts[-1] :], words[-width:])
    if len(starts) == 1:
        # The tests of NCCL 1 only run out of place.
        row["out_of_place"], row["in_place"] = row["in_place"], None
    return row


def read_group(names: Sequence[str], words: Sequence[str]) -> dict[str, float | None]:
    found = dict(zip(names, words))
    # "error" up to v2.12, the largest difference; "#wrong" since, a count. Unchecked values are N/A.
    wrong = found.get("#wrong", found.get("error"))
    return {
        "time_us": finite(found.get("time", found.get("cputime"))),
        "algbw": finite(found.get("algbw")),
        "busbw": finite(found.get("busbw")),
        "wrong": finite(wrong),
    }


def problems_of(read: Read, table: Read, expected_ranks: Any, ranks: int | None) -> list[str]:
    """Return a sentence for each reason not to use the numbers."""
    if not read["averages"]:
        reached = f"sizes printed: {len(read['rows'])}" if read["rows"] else "no size was printed"
        return [f"There is no line 'Avg bus bandwidth': the run did not finish ({reached})."]
    if len(read["averages"]) > 1:
        several = f"There are {len(read['averages'])} lines 'Avg bus bandwidth' where one is expected."
        return [nccl_ranks.ALONE.format(len(read["averages"])) if table["ranks"] == {0} else several]
    said = []
    average, good = read["averages"][0]
    if not average and len(set(table["sizes"])) < len(table["sizes"]):
        return [nccl_ranks.ALONE.format("Several")]
    if ranks == 1 and not average:
        said.append("One rank exchanges no data with another, so it has no bus bandwidth.")
    elif result.unusable([average]):
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
    return f"{PurePosixPath(str(chosen['binary'])).name}, {chosen['min_bytes']} to {chosen['max_bytes']} bytes"


def sent(parameters: Options, found: Result, ranks: int) -> float | None:
    """The bytes that each host sends in the test of all-reduce; of other collectives they are not computed."""
    chosen = option.with_defaults(OPTIONS, parameters)
    reduces = PurePosixPath(str(chosen["binary"])).name == OPTIONS["binary"].default
    return of_all_reduce_tests(parameters, found["details"]["rows"] if reduces else [], ranks, int(chosen["iters"]))


WORKLOAD = WorkloadKind(
    "NVIDIA's test of NCCL alone, nccl-tests",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the bus bandwidth at the largest message size",
    subject,
    needs,
    asked="transfer data faster",
    iteration=None,
    sent=sent,
    nccl=True,
)

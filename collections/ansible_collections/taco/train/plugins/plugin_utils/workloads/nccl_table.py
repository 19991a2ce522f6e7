# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the table that nccl-tests print, also where each rank prints one.

The lines are those of https://github.com/NVIDIA/nccl-tests (src/common.cu and src/util.cu, v2.9 to v2.18): 12 columns up to
v2.12 and 13 from v2.13, of which the header line tells, and a timestamp after them with the argument for it.
"""

import re
from typing import AbstractSet, Any, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_json import Group, Read, rates
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import finite

DEVICE = re.compile(r"#? *Rank +(\d{1,9}) .*\bdevice +\d+")
COMMUNICATOR = re.compile(r" rank \d{1,7} n[rR]anks (\d{1,7})\b")
# Size, count, type and operation, whatever columns follow.
SIZE = re.compile(r" *(\d{1,18} +\d{1,18} +[a-z]\w* +[a-z]\w*)(?: +\S+){5,}\s*$")
ALONE = "{} ranks each ran a test of their own: build nccl-tests with MPI=1."


def count(ranks: AbstractSet[int], lines: Sequence[str]) -> int | None:
    """The number of ranks, None where nothing names one. They are counted from 0, so the highest tells of those before it."""
    matches = (COMMUNICATOR.search(line) for line in lines if " NCCL INFO " in line)
    largest = max((int(match[1]) for match in matches if match), default=0)
    return max(max(ranks, default=-1) + 1, largest) or None


HEADER = re.compile(r"#? *((?:size|bytes) +(?:count|N) +type .*\bbusbw\b.*)$")
ROW = re.compile(r" *(\d{1,18} +\d{1,18} +[a-z]\S* .*)$")
# NCCL's line of any rank, printed into a row: the words before it are the row's, and its rest follows in a later line.
CUT = re.compile(r"(?P<last>-1|\d|)(?=[A-Za-z0-9][\w.-]{0,252}:\d{1,10}:\d{1,10} \[).*$")
REST = re.compile(r" *(?:-?\d[\d.e+-]*|N/A|-?nan|-?inf)(?: +(?:-?\d[\d.e+-]*|N/A|-?nan|-?inf))* *$")
STAMP = re.compile(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
OUT_OF_BOUNDS = re.compile(r"#? *Out of bounds values +: (\d{1,18}) (OK|FAILED)\s*$")
# The number has no fixed length, so one at the very end of the text may have been cut: see finished_lines.
AVERAGE = re.compile(r"#? *Avg bus bandwidth +: (\S+)\s*(OK|FAILED)?\s*$")


def finished_lines(lines: list[str]) -> list[str]:
    """Return the lines that were printed to their end. Text ends with a newline, so its last line is an empty one."""
    return lines[:-1]


def read_table(lines: list[str]) -> Read:
    headers = [words.split() for (words,) in values(HEADER, lines)]
    rows = [read_row(words, headers[-1]) for words in row_words(lines, headers[-1])] if headers else []
    return {
        "ranks": {int(rank) for (rank,) in values(DEVICE, lines)},
        # What each row begins with, also where the head of the table is missing.
        "sizes": [" ".join(words.split()) for (words,) in values(SIZE, lines)],
        "rows": [row for row in rows if row],
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


def read_group(names: Sequence[str], words: Sequence[str]) -> Group:
    found = dict(zip(names, words))
    # "error" up to v2.12, the largest difference; "#wrong" since, a count. Unchecked values are N/A.
    wrong = found.get("#wrong", found.get("error"))
    return rates(found.get("time", found.get("cputime")), found.get("algbw"), found.get("busbw"), wrong)

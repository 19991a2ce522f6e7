# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read what a user's program prints, by the user's regular expressions.

`pattern` finds one number for each iteration. The run is judged by their median, or by the last number that
`total_pattern` finds. Either is taken as a number of the whole job: nothing is multiplied. A group named `ranks` in
either says how many took part, and is then held against how many were started.
"""

from typing import Any

from ansible_collections.taco.train.plugins.plugin_utils.workloads import pattern as parse_pattern
from ansible_collections.taco.train.plugins.plugin_utils.workloads import result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, raw_lines
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, WorkloadError

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
        pattern = parse_pattern.compiled(options, "pattern")
        total_pattern = parse_pattern.compiled(options, "total_pattern")
    except WorkloadError as error:
        return result.result(lines, unit, [str(error)], **told)
    if pattern is None:
        return result.result(lines, unit, ["benchmark_pattern is not set, so nothing can be read."], **told)
    raw = raw_lines(text)
    each = parse_pattern.find(pattern, raw)
    problems = parse_pattern.problems(each, "pattern", pattern.pattern)
    value, ranks = result.middle(each.numbers), each.ranks
    if total_pattern:
        total = parse_pattern.find(total_pattern, raw)
        problems += parse_pattern.problems(total, "total_pattern", total_pattern.pattern)
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

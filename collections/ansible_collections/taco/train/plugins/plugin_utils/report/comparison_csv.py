# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the runs of a comparison as comma-separated values, for a spreadsheet or a script."""

import csv
import io
from typing import Any, Iterable, Iterator, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.rows import each_arm

RUNS = ("case", "arm", "repeat", "warmup", "value", "unit", "ranks", "nodes", "batch_size", "record", "outcome")
ITERATIONS = ("case", "arm", "repeat", "warmup", "iteration", "value", "unit", "record", "kind")
# With one of these first a spreadsheet takes a text for a formula and computes it.
FORMULA = ("=", "+", "-", "@", "\t", "\n")


def cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A lone carriage return is not quoted by every Python, and would end the line for a reader.
        value = value.replace("\r\n", "\n").replace("\r", "\n")
        return "'" + value if value.startswith(FORMULA) else value
    return "" if value is None else value


def text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([head, *([cell(value) for value in row] for row in rows)])
    return stream.getvalue()


def each_run(comparison: Part) -> Iterator[tuple[Part, Any, Part]]:
    """Yield (case, arm's name, run) for every run that has a place in a case."""
    return ((case, arm["arm"], run) for case, arm in each_arm(comparison) for run in arm.get("runs") or [])


def runs(comparison: Part) -> str:
    """Return a line for each run; those that failed have no value."""
    failures = {failure.get("record"): failure for failure in comparison.get("failures") or []}
    cases = {case["id"]: case for case in comparison.get("cases") or []}
    found = list(each_run(comparison))
    written = {run.get("record") for _case, _arm, run in found}
    for record, failure in failures.items():
        if record not in written:
            case = cases.get(failure.get("case"), {"id": failure.get("case")})
            found.append((case, failure.get("arm"), {"record": record}))
    rows = []
    for case, arm, run in found:
        good = run.get("value") is not None and run.get("record") not in failures
        place = (case["id"], arm, run.get("repeat"), run.get("warmup"), run["value"] if good else None)
        size = (case.get("unit"), case.get("ranks"), case.get("nodes"), case.get("batch_size"))
        rows.append((*place, *size, run.get("record"), "ok" if good else "failed"))
    return text(RUNS, rows)


def iterations(comparison: Part) -> str:
    """Return a line for each value of each run's series, in the order in which they were measured.

    kind tells values of single iterations from means over all steps so far, which are not independent.
    """
    rows = []
    for case, arm, run in each_run(comparison):
        place = (case["id"], arm, run.get("repeat"), run.get("warmup"))
        kind = "running mean" if case.get("running_mean") else "iteration"
        for number, value in enumerate(run.get("series") or []):
            rows.append((*place, number, value, case.get("unit"), run.get("record"), kind))
    return text(ITERATIONS, rows)

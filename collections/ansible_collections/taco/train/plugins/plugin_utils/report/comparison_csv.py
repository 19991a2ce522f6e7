# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the runs of a comparison as comma-separated values, for a spreadsheet or a script."""

import csv
import io
from typing import Any, Iterable, Iterator, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part

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


def each_run(comparison: Part) -> Iterator[tuple[Part, str, Part]]:
    """Yield (case, arm's name, run) for every run that has a place in a case."""
    for case in comparison.get("cases") or []:
        for arm in case.get("arms") or []:
            for run in arm.get("runs") or []:
                yield case, arm["arm"], run


def runs(comparison: Part) -> str:
    """Return a line for each run; those that failed have no value."""
    failures = comparison.get("failures") or []
    failed = {failure.get("record") for failure in failures}
    cases = {case["id"]: case for case in comparison.get("cases") or []}

    def row(case: Part, arm: Any, run: Part) -> tuple[Any, ...]:
        good = run.get("value") is not None and run.get("record") not in failed
        place = (case["id"], arm, run.get("repeat"), run.get("warmup"), run.get("value") if good else None)
        size = (case.get("unit"), case.get("ranks"), case.get("nodes"), case.get("batch_size"))
        return (*place, *size, run.get("record"), "ok" if good else "failed")

    rows = [row(*one) for one in each_run(comparison)]
    written = {run.get("record") for _case, _arm, run in each_run(comparison)}
    for failure in failures:
        if failure.get("record") not in written:
            case = cases.get(failure.get("case"), {"id": failure.get("case")})
            rows.append(row(case, failure.get("arm"), {"record": failure.get("record")}))
    return text(RUNS, rows)


def iterations(comparison: Part) -> str:
    """Return a line for each value of each run's series, in the order in which they were measured.

    kind tells values of single iterations from means over all steps so far, which are not independent.
    """
    return text(
        ITERATIONS,
        (
            (
                case["id"],
                arm,
                run.get("repeat"),
                run.get("warmup"),
                number,
                value,
                case.get("unit"),
                run.get("record"),
                "running mean" if case.get("running_mean") else "iteration",
            )
            for case, arm, run in each_run(comparison)
            for number, value in enumerate(run.get("series") or [])
        ),
    )

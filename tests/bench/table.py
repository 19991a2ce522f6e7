# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the command prints: Markdown that reads well as text. Values in, text out."""

from typing import Dict, List, Optional, Sequence

from bench import idle
from bench.figures import Figure, Target, growth, of, ratio, sizes

MIB = 1024**2
COLUMNS = ["hosts", "way", "wall s", "a host s", "CPU a host s", "executions", "memory MiB", "times (a)", "times (d)"]


def shown(value: Optional[float], form: str = "{:.2f}x") -> str:
    return "" if value is None else form.format(value)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """Return a table with aligned columns, the first `left` of them aligned to the left."""
    widths = [max(len(row[number]) for row in [header, *rows]) for number in range(len(header))]

    def line(cells):
        padded = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths))
        ]
        return "| " + " | ".join(padded) + " |\n"

    marks = ["-" * width if number < left else "-" * (width - 1) + ":" for number, width in enumerate(widths)]
    return line(header) + line(marks) + "".join(line(row) for row in rows)


def figure_rows(figures: Sequence[Figure]) -> List[List[str]]:
    """Return a row for each competitor on each number of hosts."""
    rows = []
    for hosts in sizes(figures):
        for one in (figure for figure in figures if figure.hosts == hosts):
            rows.append(
                [
                    str(hosts),
                    f"({one.key}) {one.name}",
                    f"{one.wall:.1f}",
                    f"{one.wall_per_host:.3f}",
                    f"{one.cpu_per_host:.3f}",
                    f"{one.executions:.1f}",
                    f"{one.memory / MIB:.0f}",
                    shown(ratio(one, of(figures, "a", hosts))),
                    shown(ratio(one, of(figures, "d", hosts))),
                ]
            )
    return rows


def growth_rows(figures: Sequence[Figure]) -> List[List[str]]:
    """Return a row for each competitor: what a host costs at the fewest and at the most hosts."""
    rows = []
    for last in (one for one in figures if one.hosts == sizes(figures)[-1]):
        wall = [shown(value, "{:.3f}") for value in (last.few_wall, last.wall_per_host)]
        cpu = [shown(value, "{:.3f}") for value in (last.few_cpu, last.cpu_per_host)]
        grown = [shown(growth(figures, last.key, what)) for what in ("wall", "cpu")]
        rows.append([f"({last.key})", *wall, grown[0], *cpu, grown[1]])
    return rows


def target_rows(targets: Sequence[Target]) -> List[List[str]]:
    return [[one.name, one.expected, one.found, "met" if one.met else "MISSED"] for one in targets]


def page(
    figures: Sequence[Figure], between: Sequence[idle.Idle], targets: Sequence[Target], setting: Dict[str, object]
) -> str:
    """Return all that the command prints."""
    counts = sizes(figures)
    repeats = ", ".join(
        f"{next(one.repeats for one in figures if one.hosts == hosts)} on {hosts} hosts" for hosts in counts
    )
    parts = [
        f"{setting['cores']} cores, {setting['forks']} forks, load {setting['load']} at the end; medians of: {repeats}.\n"
        + ", ".join(f"{name} {setting[name]}" for name in setting if name not in ("cores", "forks", "load"))
        + ".\n",
        markdown(COLUMNS, figure_rows(figures)),
    ]
    if len(counts) > 1:
        few, many = counts[0], counts[-1]
        header = [
            "way",
            f"a host s, {few}",
            f"a host s, {many}",
            "growth",
            f"CPU a host s, {few}",
            f"CPU a host s, {many}",
            "growth",
        ]
        parts.append(markdown(header, growth_rows(figures), 1))
    if between:
        header = ["hosts", "between two runs s", "with a change on the hosts s", "executions a host for a change"]
        parts.append(markdown(header, idle.rows(between), 0))
    parts.append(markdown(["target", "expected", "found", ""], target_rows(targets), 4))
    return "\n".join(parts)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the values of a comparison in the order of time as SVG, all arms in one chart and in their unit: drift becomes visible."""

import math
from typing import Any, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import (
    LEFT,
    RIGHT,
    WIDTH,
    drawing,
    level_grid,
    scale,
    text,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_marks import (
    COLOURS,
    legend,
    line,
    marker,
    titled,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.values import direction
from ansible_collections.taco.train.plugins.plugin_utils.run.spread import percentile
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

PLOT_HEIGHT = 190
COLUMN = 13
MOST_LABELS = 12
AXIS = 44
LEAST_OF_A_SPREAD = 2


class Point(NamedTuple):
    """A run at its place in time."""

    arm: str
    run: Part
    value: float
    low: Optional[float]
    high: Optional[float]


def is_running_mean(case: Part) -> bool:
    """Return whether the series of a case's runs are means over all steps so far."""
    kind = WORKLOADS.get(str(case.get("workload")))
    return bool(kind and kind.running_mean)


def spread_of(run: Part, case: Part) -> tuple[Optional[float], Optional[float]]:
    """Return the 5th and the 95th percentile of the iterations of a run, None where they are not independent."""
    series = [value for value in run.get("series") or [] if wording.finite(value)]
    if is_running_mean(case) or len(series) < LEAST_OF_A_SPREAD:
        return None, None
    return percentile(series, 5), percentile(series, 95)


def in_time_order(case: Part, times: Mapping[Any, str]) -> list[Point]:
    """Return the good runs of a case by the time at which they began; by their repeat where no time is known."""
    found = [
        Point(arm["arm"], run, run["value"], *spread_of(run, case))
        for arm in case.get("arms") or []
        for run in arm.get("runs") or []
        if wording.finite(run.get("value"))
    ]
    return sorted(found, key=lambda point: (times.get(point.run.get("record"), ""), point.run.get("repeat") or 0))


def timeline(comparison: Part, case: Part, times: Mapping[Any, str]) -> str:
    """Return a mark for each run, left to right in the order of time; the line through it is the spread of its iterations."""
    points = in_time_order(case, times)
    if not points:
        return ""
    names = wording.arm_names(comparison)
    used = [name for name in names if any(point.arm == name for point in points)]
    parts, top = legend([(names.index(name), wording.marked(comparison, name)) for name in used])
    top += 26
    bottom, width = top + PLOT_HEIGHT, max(WIDTH, LEFT + RIGHT + COLUMN * len(points))
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    low, high, ticks = scale(ends, sum(point.value for point in points) / len(points))

    def x(place: int) -> float:
        return LEFT + (width - LEFT - RIGHT) * (place + 0.5) / len(points)

    def y(value: float) -> float:
        return top + PLOT_HEIGHT * (high - value) / (high - low)

    unit = str(case.get("unit") or "")
    axis = f"{unit}; {direction(case.get('higher_is_better', True))}; the axis {'starts' if low == 0 else 'does not start'} at 0"
    parts += [*level_grid(ticks, y, LEFT, width - RIGHT), text(8, top - 12, axis, "start", "label")]
    every = max(1, math.ceil(len(points) / MOST_LABELS))
    parts += [text(x(place), bottom + 16, place + 1) for place in range(0, len(points), every)]
    for name in used:
        own = [(place, point) for place, point in enumerate(points) if point.arm == name]
        css = f"path arm-{names.index(name) % COLOURS}"
        parts += [line(css, x(one[0]), y(one[1].value), x(two[0]), y(two[1].value)) for one, two in zip(own, own[1:])]
        parts += [
            titled(
                mark(point, names.index(name), x(place), y), said(wording.marked(comparison, name), point, unit, times)
            )
            for place, point in own
        ]
    parts.append(
        text(
            LEFT + (width - LEFT - RIGHT) / 2,
            bottom + 34,
            f"run, in the order of time{when(points, times)}",
            name="label",
        )
    )
    label = (
        f"{wording.case_labels(comparison)[case['id']]}: the value of every run in {unit}, in the order of time, by arm"
    )
    return drawing(parts, label, width, bottom + AXIS)


def mark(point: Point, number: int, x: float, y: Any) -> str:
    css = "warmup" if point.run.get("warmup") else ""
    spread = ""
    if point.low is not None and point.high is not None:
        spread = line(f"whisker arm-{number % COLOURS} {css}", x, y(point.high), x, y(point.low))
    return spread + marker(number, x, y(point.value), css=css)


def said(name: str, point: Point, unit: str, times: Mapping[Any, str]) -> str:
    kind = "warm-up run" if point.run.get("warmup") else "run"
    time = times.get(point.run.get("record"))
    return f"{name}, {kind} {point.run.get('repeat')}: {wording.number(point.value)} {unit}" + (
        f" at {shown(time)}" if time else ""
    )


def shown(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def when(points: list[Point], times: Mapping[Any, str]) -> str:
    """Return from when to when the runs began, where it is known."""
    known = [times[point.run.get("record")] for point in points if point.run.get("record") in times]
    return f": {shown(known[0])} to {shown(known[-1])}" if known else ""

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw what a comparison costs and how it scales: efficiency over ranks, and time against bytes over bandwidth."""

import math
from typing import Callable, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import (
    LEFT,
    RIGHT,
    WIDTH,
    drawing,
    level_grid,
    number_text,
    scale,
    text,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_marks import (
    COLOURS,
    legend,
    line,
    marker,
    thick_line,
    titled,
)

SIDE = 16
ROW = 48
AXIS = 40
PLOT_HEIGHT = 170
MOST_NAME = 36


def scaling(comparison: Part, lines: Sequence[Part]) -> str:
    """Return the efficiency of arms that share a case over the number of ranks; 100 % is the line to reach."""
    drawn = [(one["arm"], drawable(one)) for one in lines if drawable(one)]
    if not drawn:
        return ""
    known = wording.arm_names(comparison)
    parts, top = legend([(index_of(known, arm), wording.marked(comparison, arm, MOST_NAME)) for arm, _points in drawn])
    shares = [
        point[key]
        for _arm, points in drawn
        for point in points
        for key in ("efficiency", "low", "high")
        if wording.finite(point.get(key))
    ]
    low, high, ticks = scale([100 * share for share in [*shares, 0.0, 1.0]], 100, steps=6)
    ranks = sorted({point["ranks"] for _arm, points in drawn for point in points})
    top += 20
    bottom = top + PLOT_HEIGHT

    def x(count: float) -> float:
        # As far apart as their ratio: 1, 2, 4, 8 ranks are equal steps.
        reach = math.log(ranks[-1] / ranks[0]) if len(ranks) > 1 else 1
        share = math.log(count / ranks[0]) / reach if len(ranks) > 1 else 0.5
        return LEFT + 24 + (WIDTH - RIGHT - LEFT - 48) * share

    def y(value: float) -> float:
        return top + PLOT_HEIGHT * (high - value) / (high - low)

    parts += [*level_grid(ticks, y), text(8, top - 12, "% efficiency", "start", "label")]
    parts.append(line("one", LEFT, y(100), WIDTH - RIGHT, y(100)))
    parts += [text(x(count), bottom + 16, count) for count in ranks]
    parts.append(
        text(
            WIDTH / 2,
            bottom + 33,
            f"ranks (logarithmic axis); 100 % is {lines[0].get('basis')} times their number",
            name="label",
        )
    )
    for arm, points in drawn:
        number = index_of(known, arm)
        css = f"trend arm-{number % COLOURS}"
        parts += [
            line(css, x(one["ranks"]), y(100 * one["efficiency"]), x(two["ranks"]), y(100 * two["efficiency"]))
            for one, two in zip(points, points[1:])
        ]
        for point in points:
            parts.append(scaling_point(wording.marked(comparison, arm), point, number, x(point["ranks"]), y))
    return drawing(
        parts, "Efficiency over the number of ranks, by arm; the table says the same in numbers", WIDTH, bottom + AXIS
    )


def index_of(known: Sequence[str], arm: str) -> int:
    return known.index(arm) if arm in known else len(known)


def drawable(one: Part) -> list[Part]:
    """Return the points of a line that have a place, by their ranks."""
    points = [
        point
        for point in one.get("points") or []
        if wording.finite(point.get("efficiency")) and wording.finite(point.get("ranks")) and point["ranks"] > 0
    ]
    return sorted(points, key=lambda point: point["ranks"])


def scaling_point(name: str, point: Part, number: int, x: float, y: Callable[[float], float]) -> str:
    parts = []
    if wording.finite(point.get("low")) and wording.finite(point.get("high")):
        parts.append(line(f"whisker arm-{number % COLOURS}", x, y(100 * point["low"]), x, y(100 * point["high"])))
    parts.append(marker(number, x, y(100 * point["efficiency"])))
    said = (
        f"{name}, {point['ranks']} ranks: {wording.percent(point['efficiency'])}, {wording.number(point.get('value'))}"
    )
    return titled("".join(parts), said)


def expected(comparison: Part, case: Part) -> str:
    """Return for each arm the measured time of a batch over the time its bytes need at the link's bandwidth."""
    rows = [one for one in case.get("expected") or [] if wording.finite(one.get("seconds")) and one["seconds"] >= 0]
    found = [one[key] for one in rows for key in ("seconds", "measured_seconds") if wording.finite(one.get(key))]
    if not found or max(found) <= 0:
        return ""
    _low, high, ticks = scale([0.0, *found], 0.0)
    known = wording.arm_names(comparison)

    def x(value: float) -> float:
        return SIDE + (WIDTH - 2 * SIDE) * max(value, 0) / high

    bottom = 4 + ROW * len(rows)
    parts = []
    for tick in ticks:
        parts.append(line("grid", x(tick), 4, x(tick), bottom))
        parts.append(text(x(tick), bottom + 15, f"{number_text(tick, ticks[1] - ticks[0])} s"))
    for place, one in enumerate(rows):
        y, css = 4 + ROW * place, f"arm-{known.index(one['arm']) % COLOURS if one['arm'] in known else 0}"
        name, measured = wording.marked(comparison, one["arm"], 20), one.get("measured_seconds")
        said = f"{name}: {wording.number(measured)} s, its bytes {wording.number(one['seconds'])} s"
        bars = [text(SIDE, y + 14, said, "start", "row")]
        if wording.finite(measured):
            bars.append(thick_line(f"bar {css}", x(0), y + 19, x(measured)))
        bars.append(thick_line(f"bar needed {css}", x(0), y + 31, x(one["seconds"])))
        parts.append(titled("".join(bars), said))
    parts.append(text(WIDTH / 2, bottom + 32, "seconds a batch", name="label"))
    label = f"{wording.case_labels(comparison)[case['id']]}: time of a batch, measured and as its bytes need at the bandwidth"
    return drawing(parts, label, WIDTH, bottom + AXIS)

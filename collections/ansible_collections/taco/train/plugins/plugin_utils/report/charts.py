# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lay out charts of two forms: values over an axis, as points, lines or strips of runs, and rows of intervals.

Colour is never alone: arms also differ by the shape of their points. Numbers that are not finite are left out.
"""

import math
from typing import Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import finite, shortened
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import (
    LEFT,
    RIGHT,
    WIDEST,
    WIDTH,
    Axis,
    circle,
    colour,
    group,
    labels_beneath,
    level_grid,
    line,
    linear,
    marker,
    of_axis,
    rect,
    text,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Chart, Shape

SIDE, PLOT = 16, 170
LEGEND = 16
# A run in a strip: the size of its small points, and the longest half of its line.
SMALL, HALF = 2.2, 10


class Mark(NamedTuple):
    """A value of a chart at its place along the axis."""

    x: float
    y: float
    title: str
    low: Optional[float] = None
    high: Optional[float] = None
    css: str = ""
    label: str = ""
    within: Sequence[float] = ()
    """Values of which it is the whole, drawn as small points."""


class Series(NamedTuple):
    """The marks of an arm. The number of the arm gives it its colour and shape."""

    name: str
    number: int
    marks: Sequence[Mark]
    joined: str = "trend"
    """The class of the line through the marks, empty without one."""
    style: str = "point"
    """How a mark is drawn: as a "point", as a "run", which is a short line, or not at all."""


class Band(NamedTuple):
    """A part of the chart between two values, along the whole axis or from left to right."""

    low: float
    high: float
    css: str
    title: str = ""
    left: Optional[float] = None
    right: Optional[float] = None
    name: str = ""


class Interval(NamedTuple):
    """A row of a chart: a value with its interval, or with another value to compare it with."""

    name: str
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]
    result: str
    title: str
    css: str
    other: Optional[float] = None


def legend(series: Sequence[Series], bands: Sequence[Band]) -> tuple[list[Shape], float]:
    """Return a line for each named series and band with its mark, and the height of all of them."""
    shapes, y = [], 12.0
    for one in series:
        css = one.marks[0].css if one.marks[0].css == "published" else ""
        shapes += [marker(one.number, LEFT + 8, y - 4, css=css), text(LEFT + 20, y, one.name, "start", "row")]
        y += LEGEND
    for band in bands:
        shapes += [rect(band.css, LEFT + 1, y - 9, 14, 10), text(LEFT + 20, y, band.name, "start", "row")]
        y += LEGEND
    return shapes, y


def clean(one: Series) -> Series:
    """Return a series without marks and ends of intervals that are not finite."""
    marks = []
    for mark in one.marks:
        low, high = (mark.low, mark.high) if finite(mark.low) and finite(mark.high) else (None, None)
        if finite(mark.x) and finite(mark.y):
            marks.append(mark._replace(low=low, high=high, within=list(filter(finite, mark.within))))
    return one._replace(marks=sorted(marks, key=lambda mark: mark.x))


def lines(
    series: Iterable[Series],
    over: str,
    under: str,
    caption: str,
    labels: Mapping[float, str],
    axis: Callable[[Sequence[float]], Axis] = linear,
    log: bool = False,
    level: Optional[tuple[float, str]] = None,
    bands: Sequence[Band] = (),
    room: float = 0,
) -> list[Chart]:
    """Return a chart of series over a horizontal axis, none without a value. A level is a line across it, with its name.

    Many marks need more room than most charts have; there is as much as a page has.
    """
    series = [one for one in map(clean, series) if one.marks]
    if not series:
        return []
    bands = [band for band in bands if finite(band.low) and finite(band.high)]
    marks = [mark for one in series for mark in one.marks]
    values = [value for mark in marks for value in (mark.y, mark.low, mark.high, *mark.within)]
    values += [end for band in bands for end in (band.low, band.high)] + [level and level[0]]
    ends = [mark.x for mark in marks] + [end for band in bands for end in (band.left, band.right) if finite(end)]
    upright, scale = axis(list(filter(finite, values))), math.log if log else float
    least, reach = scale(min(ends)), scale(max(ends)) - scale(min(ends))
    right = min(max(WIDTH, LEFT + RIGHT + room), WIDEST) - RIGHT
    shapes, top = legend([one for one in series if one.name], [band for band in bands if band.name])
    top += 12
    bottom = top + PLOT

    def x(value: float) -> float:
        return LEFT + 22 + (right - LEFT - 44) * ((scale(value) - least) / reach if reach else 0.5)

    def y(value: float) -> float:
        return bottom - PLOT * upright.place(value)

    over, under = of_axis(over, upright), of_axis(under, upright)
    shapes += [text(8, top - 10, over, "start", "label"), *level_grid(upright, y, right)]
    shapes += background(bands, level, x, y, right)
    shapes += [shape for one in series for shape in drawn(one, x, y)]
    names, foot = labels_beneath(labels, x, bottom, right)
    shapes += [*names, text((LEFT + right) / 2, foot + 17, under, css="label")]
    return [Chart(caption, right + RIGHT, foot + 24, shapes)]


def background(
    bands: Sequence[Band],
    level: Optional[tuple[float, str]],
    x: Callable[[float], float],
    y: Callable[[float], float],
    right: float,
) -> list[Shape]:
    """Return what lies beneath the marks: bands, and the line of the level with its name."""
    shapes = []
    for band in bands:
        left, end = (LEFT if band.left is None else x(band.left)), (right if band.right is None else x(band.right))
        shapes.append(rect(band.css, left, y(band.high), end - left, y(band.low) - y(band.high), band.title))
    if level and finite(level[0]):
        shapes.append(line("one", LEFT, y(level[0]), right, y(level[0])))
        shapes += [text(right, y(level[0]) - 5, level[1], "end", "label")] if level[1] else []
    return shapes


def drawn(one: Series, x: Callable[[float], float], y: Callable[[float], float]) -> list[Shape]:
    """Return the line and the marks of a series."""
    css, shapes = colour(one.number), []
    if one.joined:
        pairs = zip(one.marks, one.marks[1:])
        shapes += [line(f"{one.joined} {css}", x(this.x), y(this.y), x(other.x), y(other.y)) for this, other in pairs]
    for mark in one.marks if one.style else []:
        across, up = x(mark.x), y(mark.y)
        parts = [marker(one.number, across, y(value), SMALL, f"small {mark.css}".strip()) for value in mark.within]
        if mark.low is not None and mark.high is not None:
            parts.append(line(f"whisker {css} {mark.css}".strip(), across, y(mark.low), across, y(mark.high)))
        if one.style == "run":
            half = min(HALF, 0.42 * (x(mark.x + 1) - across) or HALF)
            parts.append(line(f"run {css} {mark.css}".strip(), across - half, up, across + half, up))
        else:
            parts.append(marker(one.number, across, up, css=mark.css))
        if mark.label:
            aside, anchor = (9, "start") if across < WIDTH / 2 else (-9, "end")
            parts.append(text(across + aside, up + 4, mark.label, anchor, "label"))
        shapes.append(group(parts, mark.title))
    return shapes


def intervals(
    groups: Sequence[tuple[Sequence[str], Sequence[Interval]]],
    axis: Callable[[Sequence[float]], Axis],
    under: str,
    caption: str,
    band: Optional[Band] = None,
    room: float = 150,
) -> list[Chart]:
    """Return a row for each interval, beneath the titles of its group; the room for results is right of the points."""
    rows = [row for _titles, own in groups for row in own]
    values = [value for row in rows for value in (row.value, row.low, row.high, row.other) if finite(value)]
    if not values:
        return []
    flat = axis([*values, *((band.low, band.high) if band else ())])

    def x(value: float) -> float:
        return SIDE + (WIDTH - 2 * SIDE - room) * flat.place(value)

    shapes: list[Shape] = []
    y = 6.0
    for titles, own in groups:
        for number, title in enumerate(titles):
            shapes.append(text(SIDE, y + 16, shortened(title, 62), "start", "label" if number else "group"))
            y += 20
        for row in own:
            if band:
                shapes.append(rect(band.css, x(band.low), y + 18, x(band.high) - x(band.low), 26, band.title))
                shapes.append(line("one", x(1), y + 18, x(1), y + 44))
            shapes += [line("grid", x(tick), y + 18, x(tick), y + 44) for tick, _words in flat.ticks]
            shapes.append(interval(row, x, y))
            y += 44
    shapes += [text(x(tick), y + 15, words) for tick, words in flat.ticks]
    shapes.append(text(SIDE, y + 33, of_axis(under, flat), "start", "label"))
    return [Chart(caption, WIDTH, y + 42, shapes)]


def interval(row: Interval, x: Callable[[float], float], y: float) -> Shape:
    """Return one row: its name above, its point, interval and result beneath. The other value is a hollow point."""
    middle, shapes = y + 31, [text(SIDE, y + 12, row.name, "start", "row")]
    shapes += [text(WIDTH - SIDE, middle + 4, row.result, "end", row.css)] if row.result else []
    if finite(row.low) and finite(row.high):
        shapes.append(line(row.css, x(row.low), middle, x(row.high), middle))
        shapes += [line(row.css, x(end), middle - 4, x(end), middle + 4) for end in (row.low, row.high)]
    if finite(row.other):
        shapes += [line(row.css, x(row.other), middle, x(row.value), middle)] if finite(row.value) else []
        shapes.append(circle(f"mark published {row.css}", x(row.other), middle))
    if finite(row.value):
        shapes.append(circle(row.css, x(row.value), middle))
    return group(shapes, row.title)

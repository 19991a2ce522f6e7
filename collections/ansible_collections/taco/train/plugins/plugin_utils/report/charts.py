# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lay out charts of three kinds: values over an axis as lines, ratios with their intervals, and runs as strips.

Colour is never alone: arms also differ by the shape of their points. Numbers that are not finite are left out.
"""

import math
import textwrap
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import finite, shortened
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Chart, Shape

WIDTH, LEFT, RIGHT, SIDE, PLOT = 480, 58, 12, 16, 170
LETTER, LINE, LEGEND = 6.2, 13, 16
# Arms beyond these share a colour with another arm, but not the shape: six and four have 12 combinations.
COLOURS, SHAPES = 6, 4
CORNERS = {
    1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    2: ((0, -1.2), (1.2, 1), (-1.2, 1)),
    3: ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
}
MOST_LABELS, MOST_TICKS = 10, 6
# Values that differ by a hundredth must not look wild. Of percentages the whole axis has so many.
LEAST_SPAN, LEAST_PERCENT = 0.1, 2.0
# Wider than that, equal steps would press small ratios together; beyond the ends a ratio is drawn at the edge.
WIDE, LEAST_RATIO, MOST_RATIO = 4.0, 1e-6, 1e6


class Axis(NamedTuple):
    """The ticks of an axis with their words, and where on it, from 0 to 1, a value stands."""

    ticks: Sequence[tuple[float, str]]
    place: Callable[[float], float]
    logarithmic: bool = False


class Mark(NamedTuple):
    """A value of a chart at its place along the axis."""

    x: float
    y: float
    title: str
    low: Optional[float] = None
    high: Optional[float] = None
    css: str = ""
    label: str = ""


class Series(NamedTuple):
    """The marks of an arm. The number of the arm gives it its colour and shape."""

    name: str
    number: int
    marks: Sequence[Mark]
    joined: str = "trend"
    """The class of the line through the marks, empty without one."""
    points: bool = True


class Band(NamedTuple):
    """A part of the chart between two values, along the whole axis or from left to right."""

    low: float
    high: float
    css: str
    title: str
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


class Column(NamedTuple):
    """A run in a strip: its value and the values within it, in percent of the middle of its arm."""

    value: Optional[float]
    within: Sequence[float]
    title: str
    css: str


def nice_step(span: float, steps: int) -> float:
    """Return the 1, 2 or 5 times a power of ten that divides a span into about so many steps."""
    raw = span / steps
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999999)


def linear(values: Iterable[float], middle: float = 0.0, steps: int = 4, unit: str = "") -> Axis:
    """Return an axis that holds all values, and does not blow up small differences around the middle."""
    values = [*values, middle]
    low, high = min(values), max(values)
    least = max(abs(middle) * LEAST_SPAN, 1e-9)
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    step = nice_step(high - low, steps)
    first, last = math.floor(low / step), math.ceil(high / step)
    first = max(first, 0) if low >= 0 else first
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [(number * step, f"{number * step:.{digits}f}{unit}") for number in range(first, last + 1)]
    return Axis(ticks, lambda value: (value - first * step) / ((last - first) * step))


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis: about equally far apart, and 1 among them when it is in the range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / MOST_TICKS))
    powers = [power for power in range(first, last + 1) if power % every == 0]
    ticks: list[float] = []
    for factors in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        ticks = [
            tick for power in powers for tick in (factor * 10.0**power for factor in factors) if low <= tick <= high
        ]
        if every > 1 or len(ticks) >= 4:
            break
    return ticks


def ratios(values: Iterable[float]) -> Axis:
    """Return an axis of ratios; a wide range gets a logarithmic one."""
    values = [min(max(value, 0.0 if value <= 0 else LEAST_RATIO), MOST_RATIO) for value in values]
    low, high = min(values), max(values)
    if low > 0 and high / low > WIDE:
        low, high = low / 1.1, high * 1.1
        ticks = [(tick, f"{tick:g}x") for tick in ratio_ticks(low, high)]
        return Axis(ticks, lambda value: math.log(min(max(value, low), high) / low) / math.log(high / low), True)
    axis = linear(values, 1.0)
    return Axis(
        [(tick, f"{tick:g}x") for tick, _text in axis.ticks], lambda value: axis.place(min(max(value, low), high))
    )


def line(css: str, x1: float, y1: float, x2: float, y2: float) -> Shape:
    places = {name: f"{value:.1f}" for name, value in zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2))}
    return Shape("line", {"class": css, **places})


def rect(css: str, x: float, y: float, width: float, height: float, title: str = "") -> Shape:
    places = {name: f"{value:.1f}" for name, value in zip(("x", "y", "width", "height"), (x, y, width, height))}
    return Shape("rect", {"class": css, **places}, "", title)


def text(x: float, y: float, content: Any, anchor: str = "middle", css: str = "tick") -> Shape:
    return Shape("text", {"class": css, "x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, str(content))


def group(shapes: Sequence[Shape], title: str) -> Shape:
    return Shape("g", {}, shapes, title)


def colour(number: int) -> str:
    return f"arm-{number % COLOURS}"


def marker(number: int, x: float, y: float, size: float = 4.5, css: str = "") -> Shape:
    """Return the point of the arm with that number."""
    css = f"mark {colour(number)} {css}".strip()
    if number % SHAPES == 0:
        return Shape("circle", {"class": css, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{size:.1f}"})
    points = " ".join(f"{x + size * 0.9 * dx:.1f},{y + size * 0.9 * dy:.1f}" for dx, dy in CORNERS[number % SHAPES])
    return Shape("polygon", {"class": css, "points": points})


def of_axis(words: str, axis: Axis) -> str:
    """Return words about an axis, AXIS as its kind and STARTS as whether it starts at 0."""
    words = words.replace("AXIS", "logarithmic" if axis.logarithmic else "linear")
    return words.replace("STARTS", "starts" if axis.ticks[0][0] == 0 else "does not start")


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


def level_grid(axis: Axis, y: Callable[[float], float], right: float) -> list[Shape]:
    """Return a line across the chart, and its number, for each tick of the upright axis."""
    shapes = []
    for tick, words in axis.ticks:
        shapes += [line("grid", LEFT, y(tick), right, y(tick)), text(LEFT - 8, y(tick) + 4, words, "end")]
    return shapes


def labels_beneath(
    labels: Mapping[float, str], x: Callable[[float], float], y: float, right: float
) -> tuple[list[Shape], float]:
    """Return labels beneath an axis, in as many rows as they need, and the height of the last row."""
    shapes: list[Shape] = []
    ends: list[float] = []
    every = max(1, math.ceil(len(labels) / MOST_LABELS))
    for place, words in sorted(list(labels.items())[::every]):
        half = len(words) * LETTER / 2 + 3
        across = min(x(place), right - half + RIGHT)
        row = next((number for number, end in enumerate(ends) if across - half >= end), len(ends))
        ends[row : row + 1] = [across + half]
        shapes += [line("grid", x(place), y, x(place), y + 4 + LINE * row)] if row else []
        shapes.append(text(across, y + 16 + LINE * row, words))
    return shapes, y + 16 + LINE * max(len(ends) - 1, 0)


def clean(one: Series) -> Series:
    """Return a series without marks and ends of intervals that are not finite."""
    marks = [
        mark._replace(low=mark.low if whole else None, high=mark.high if whole else None)
        for mark in one.marks
        if finite(mark.x) and finite(mark.y)
        for whole in [finite(mark.low) and finite(mark.high)]
    ]
    return one._replace(marks=sorted(marks, key=lambda mark: mark.x))


def lines(
    series: Iterable[Series],
    over: str,
    under: str,
    label: str,
    caption: str,
    labels: Mapping[float, str],
    axis: Callable[[Sequence[float]], Axis] = linear,
    log: bool = False,
    level: Optional[tuple[float, str]] = None,
    bands: Sequence[Band] = (),
    column: float = 0,
) -> list[Chart]:
    """Return a chart of series over a horizontal axis, none without a value. A level is a line across it, with its name."""
    series = [one for one in map(clean, series) if one.marks]
    if not series:
        return []
    bands = [band for band in bands if finite(band.low) and finite(band.high)]
    level = level if level and finite(level[0]) else None
    marks = [mark for one in series for mark in one.marks]
    values = [value for mark in marks for value in (mark.y, mark.low, mark.high) if value is not None]
    upright = axis([*values, *(end for band in bands for end in (band.low, band.high)), *([level[0]] if level else [])])
    ends = [mark.x for mark in marks] + [end for band in bands for end in (band.left, band.right) if end is not None]
    scale = math.log if log else float
    least, reach = scale(min(ends)), scale(max(ends)) - scale(min(ends))
    right = max(WIDTH, LEFT + RIGHT + column * len(labels)) - RIGHT
    shapes, top = legend([one for one in series if one.name], [band for band in bands if band.name])
    top += 12
    bottom = top + PLOT

    def x(value: float) -> float:
        return LEFT + 22 + (right - LEFT - 44) * ((scale(value) - least) / reach if reach else 0.5)

    def y(value: float) -> float:
        return bottom - PLOT * upright.place(value)

    over, under = of_axis(over, upright), of_axis(under, upright)
    shapes += [text(8, top - 10, over, "start", "label"), *level_grid(upright, y, right)]
    for band in bands:
        left, end = (LEFT if band.left is None else x(band.left)), (right if band.right is None else x(band.right))
        shapes.append(rect(band.css, left, y(band.high), end - left, y(band.low) - y(band.high), band.title))
    if level:
        shapes.append(line("one", LEFT, y(level[0]), right, y(level[0])))
        shapes += [text(right, y(level[0]) - 5, level[1], "end", "label")] if level[1] else []
    for one in series:
        shapes += drawn(one, x, y)
    names, foot = labels_beneath(labels, x, bottom, right)
    shapes += [*names, text((LEFT + right) / 2, foot + 17, under, css="label")]
    return [Chart(label, right + RIGHT, foot + 24, shapes, caption)]


def drawn(one: Series, x: Callable[[float], float], y: Callable[[float], float]) -> list[Shape]:
    """Return the line and the marks of a series."""
    css, shapes = colour(one.number), []
    if one.joined:
        pairs = zip(one.marks, one.marks[1:])
        shapes += [line(f"{one.joined} {css}", x(this.x), y(this.y), x(other.x), y(other.y)) for this, other in pairs]
    for mark in one.marks if one.points else []:
        parts = []
        if mark.low is not None and mark.high is not None:
            parts.append(line(f"whisker {css} {mark.css}".strip(), x(mark.x), y(mark.low), x(mark.x), y(mark.high)))
        parts.append(marker(one.number, x(mark.x), y(mark.y), css=mark.css))
        if mark.label:
            start = x(mark.x) < WIDTH / 2
            parts.append(
                text(x(mark.x) + (9 if start else -9), y(mark.y) + 4, mark.label, "start" if start else "end", "label")
            )
        shapes.append(group(parts, mark.title))
    return shapes


def intervals(
    groups: Sequence[tuple[Sequence[str], Sequence[Interval]]],
    axis: Callable[[Sequence[float]], Axis],
    under: str,
    label: str,
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
    return [Chart(label, WIDTH, y + 42, shapes, caption)]


def interval(row: Interval, x: Callable[[float], float], y: float) -> Shape:
    """Return one row: its name above, its point, interval and result beneath. The other value is a hollow point."""
    middle, shapes = y + 31, [text(SIDE, y + 12, row.name, "start", "row")]
    shapes.append(text(WIDTH - SIDE, middle + 4, row.result, "end", row.css))
    if finite(row.low) and finite(row.high):
        shapes.append(line(row.css, x(row.low), middle, x(row.high), middle))
        shapes += [line(row.css, x(end), middle - 4, x(end), middle + 4) for end in (row.low, row.high)]
    if finite(row.other):
        shapes += [line(row.css, x(row.other), middle, x(row.value), middle)] if finite(row.value) else []
        shapes.append(
            Shape(
                "circle",
                {"class": f"mark published {row.css}", "cx": f"{x(row.other):.1f}", "cy": f"{middle:.1f}", "r": "5"},
            )
        )
    if finite(row.value):
        shapes.append(Shape("circle", {"class": row.css, "cx": f"{x(row.value):.1f}", "cy": f"{middle:.1f}", "r": "5"}))
    return group(shapes, row.title)


def strips(arms: Sequence[tuple[str, int, Sequence[Column]]], label: str, caption: str) -> list[Chart]:
    """Return a group of columns for each (label, number, runs) of an arm, by the percentages of its runs."""
    values = [
        value for _name, _number, runs in arms for run in runs for value in (run.value, *run.within) if finite(value)
    ]
    if not values:
        return []
    # Many arms, or many runs of each, need more room; the page lets a wide chart scroll.
    most = max(len(runs) for _name, _number, runs in arms)
    width = max(WIDTH, LEFT + RIGHT + len(arms) * max(96, 14 * most))
    upright, room, top, depth = (
        linear([*values, -LEAST_PERCENT, LEAST_PERCENT]),
        (width - LEFT - RIGHT) / len(arms),
        30,
        1,
    )

    def y(value: float) -> float:
        return top + PLOT * (1 - upright.place(value))

    shapes = [text(8, 14, "% off the median of the arm", "start", "label"), *level_grid(upright, y, width - RIGHT)]
    for place, (name, number, runs) in enumerate(arms):
        left, step = LEFT + room * place, room * 0.8 / max(1, len(runs))
        shapes.append(line(f"median {colour(number)}", left + room * 0.04, y(0), left + room * 0.96, y(0)))
        for position, run in enumerate(runs):
            x, reach = left + room * 0.1 + step * (position + 0.5), min(step * 0.42, 10)
            parts = [
                marker(number, x, y(value), 2.2, f"small {run.css}".strip()) for value in run.within if finite(value)
            ]
            if finite(run.value):
                css = f"run {colour(number)} {run.css}".strip()
                parts.append(line(css, x - reach, y(run.value), x + reach, y(run.value)))
            shapes.append(group(parts, run.title))
        beneath = textwrap.wrap(name, max(4, int((room - 6) / LETTER))) or [""]
        depth = max(depth, len(beneath))
        shapes += [text(left + room / 2, top + PLOT + 16 + LINE * row, words) for row, words in enumerate(beneath)]
    return [Chart(label, width, top + PLOT + 12 + LINE * depth, shapes, caption)]

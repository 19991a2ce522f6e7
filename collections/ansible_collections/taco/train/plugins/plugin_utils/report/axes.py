# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Axes of charts, and the shapes that charts are made of."""

import math
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.report.document import Shape

# A chart with many runs is wider, up to what a page has room for without making its letters small.
WIDTH, WIDEST, LEFT, RIGHT = 480, 1000, 58, 12
LETTER, LINE, MOST_LABELS = 6.2, 13, 10
# Arms beyond these share a colour with another arm, but not the shape: six and four have 12 combinations.
COLOURS, SHAPES = 6, 4
CORNERS = {
    1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    2: ((0, -1.2), (1.2, 1), (-1.2, 1)),
    3: ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
}
MOST_TICKS = 6
# Values that differ by a hundredth must not look wild.
LEAST_SPAN = 0.1
# Wider than that, equal steps would press small ratios together; beyond the ends a ratio is drawn at the edge.
WIDE, LEAST_RATIO, MOST_RATIO = 4.0, 1e-6, 1e6


class Axis(NamedTuple):
    """The ticks of an axis with their words, and where on it, from 0 to 1, a value stands."""

    ticks: Sequence[tuple[float, str]]
    place: Callable[[float], float]
    logarithmic: bool = False


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
    first, last = axis.ticks[0][0], axis.ticks[-1][0]
    ticks = [(tick, f"{tick:g}x") for tick, _text in axis.ticks]
    return Axis(ticks, lambda value: axis.place(min(max(value, first), last)))


def shape(tag: str, css: str, content: str = "", title: str = "", **places: Any) -> Shape:
    """Return a shape of SVG. Its places are attributes, with an underscore for a hyphen."""
    rounded = {name: place if isinstance(place, str) else f"{place:.1f}" for name, place in places.items()}
    return Shape(
        tag, {"class": css, **{name.replace("_", "-"): place for name, place in rounded.items()}}, content, title
    )


def line(css: str, x1: float, y1: float, x2: float, y2: float) -> Shape:
    return shape("line", css, x1=x1, y1=y1, x2=x2, y2=y2)


def rect(css: str, x: float, y: float, width: float, height: float, title: str = "") -> Shape:
    return shape("rect", css, title=title, x=x, y=y, width=width, height=height)


def circle(css: str, x: float, y: float, radius: float = 5) -> Shape:
    return shape("circle", css, cx=x, cy=y, r=radius)


def text(x: float, y: float, content: Any, anchor: str = "middle", css: str = "tick") -> Shape:
    return shape("text", css, str(content), x=x, y=y, text_anchor=anchor)


def group(shapes: Sequence[Shape], title: str) -> Shape:
    return Shape("g", {}, shapes, title)


def colour(number: int) -> str:
    return f"arm-{number % COLOURS}"


def marker(number: int, x: float, y: float, size: float = 4.5, css: str = "") -> Shape:
    """Return the point of the arm with that number."""
    css = f"mark {colour(number)} {css}".strip()
    if number % SHAPES == 0:
        return circle(css, x, y, size)
    points = " ".join(f"{x + size * 0.9 * dx:.1f},{y + size * 0.9 * dy:.1f}" for dx, dy in CORNERS[number % SHAPES])
    return shape("polygon", css, points=points)


def of_axis(words: str, axis: Axis) -> str:
    """Return words about an axis, AXIS as its kind and STARTS as whether it starts at 0."""
    words = words.replace("AXIS", "logarithmic" if axis.logarithmic else "linear")
    return words.replace("STARTS", "starts" if axis.ticks[0][0] == 0 else "does not start")


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

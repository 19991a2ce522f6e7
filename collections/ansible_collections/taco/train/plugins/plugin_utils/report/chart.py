# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the iterations of a run as SVG, for a page that brings the colours."""

import math
from html import escape
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence

WIDTH, HEIGHT = 480, 210
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 14, 40
MOST_LABELS = 10
# A run whose iterations differ by a hundredth must not look like a wild one.
LEAST_SPAN = 0.1


def nice_step(span: float, steps: int = 4) -> float:
    """Return the 1, 2 or 5 times a power of ten that divides a span into about so many steps."""
    raw = span / steps
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999999)


def scale(values: Iterable[float], mean: float, steps: int = 4) -> tuple[float, float, list[float]]:
    """Return the lower end, the upper end and the ticks of an axis that holds all values."""
    values = [*values, mean]
    low, high = min(values), max(values)
    least = max(abs(mean) * LEAST_SPAN, 1e-9)
    if high - low < least:
        middle = (high + low) / 2
        low, high = middle - least / 2, middle + least / 2
    step = nice_step(high - low, steps)
    first, last = math.floor(low / step), math.ceil(high / step)
    first = max(first, 0) if low >= 0 else first
    return first * step, last * step, [number * step for number in range(first, last + 1)]


def number_text(value: float, step: float) -> str:
    return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def text(x: float, y: float, content: Any, anchor: str = "middle", name: str = "tick") -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(content))}</text>'


def level_grid(
    ticks: Sequence[float], y: Callable[[float], float], left: float = LEFT, right: float = WIDTH - RIGHT
) -> list[str]:
    """Return a line across the chart, and its number, for each tick of the upright axis."""
    parts = []
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(text(left - 8, y(tick) + 4, number_text(tick, ticks[1] - ticks[0]), "end"))
    return parts


def drawing(parts: Iterable[str], label: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    """Return the parts as one SVG that says in words what it shows."""
    css = "chart wide" if width > WIDTH else "chart"
    opening = f'<svg class="{css}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
    return opening + "".join(parts) + "</svg>"


class Level(NamedTuple):
    """A line across a chart, and the band around it where there is one."""

    value: float
    low: Optional[float] = None
    high: Optional[float] = None


def iterations_chart(
    values: Sequence[float], level: Level, unit: str, noun: str = "iteration", joined: bool = False
) -> str:
    """Return an SVG with a point for each value, the level as a line and its band; joined values are one line without points."""
    if not values:
        return ""
    ends = [end for end in (level.low, level.high) if end is not None]
    low, high, ticks = scale([*values, *ends], level.value)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(number: int) -> float:
        return LEFT + width * (number + 0.5) / len(values)

    def y(value: float) -> float:
        return TOP + height * (high - value) / (high - low)

    parts = level_grid(ticks, y)
    if level.low is not None and level.high is not None:
        upper, lower = y(level.high), y(level.low)
        parts.append(f'<rect class="band" x="{LEFT}" width="{width}" y="{upper:.1f}" height="{lower - upper:.1f}"/>')
    parts.append(
        f'<line class="mean" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(level.value):.1f}" y2="{y(level.value):.1f}"/>'
    )
    places = [(x(number), y(value)) for number, value in enumerate(values)]
    if joined:
        points = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
        parts.append(f'<polyline class="joined" points="{points}"/>')
    every = max(1, math.ceil(len(values) / MOST_LABELS))
    for number, (across, up) in enumerate(places):
        if not joined:
            title = f"<title>{escape(noun)} {number}: {values[number]:.4g} {escape(unit)}</title>"
            parts.append(f'<circle class="point" cx="{across:.1f}" cy="{up:.1f}" r="4">{title}</circle>')
        if number % every == 0:
            parts.append(text(across, HEIGHT - BOTTOM + 16, number))
    under = f"{noun}; {unit} on an axis that {'starts at 0' if low == 0 else 'does not start at 0'}"
    parts.append(text(LEFT + width / 2, HEIGHT - 6, under, name="label"))
    return drawing(parts, f"{unit} of each {noun}; the value of the run is {level.value:.4g}")

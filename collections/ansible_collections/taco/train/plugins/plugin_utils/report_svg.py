# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the iterations of a run as SVG, for a page that brings the colours."""

import math
from html import escape
from typing import Any, Callable, Iterable, Sequence

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


def iterations_chart(values: Sequence[float], mean: float, interval: float, unit: str) -> str:
    """Return an SVG with a point for each iteration, the mean as a line and its interval as a band."""
    if not values:
        return ""
    low, high, ticks = scale([*values, max(mean - interval, 0), mean + interval], mean)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(number: float) -> float:
        return LEFT + width * (number + 0.5) / len(values)

    def y(value: float) -> float:
        return TOP + height * (high - value) / (high - low)

    parts = level_grid(ticks, y)
    upper, lower = min(mean + interval, high), max(mean - interval, low)
    parts.append(
        f'<rect class="band" x="{LEFT}" width="{width}" y="{y(upper):.1f}" height="{y(lower) - y(upper):.1f}"/>'
    )
    parts.append(f'<line class="mean" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mean):.1f}" y2="{y(mean):.1f}"/>')
    every = max(1, math.ceil(len(values) / MOST_LABELS))
    for number, value in enumerate(values):
        title = f"<title>iteration {number}: {value:.1f} {escape(unit)}</title>"
        parts.append(f'<circle class="point" cx="{x(number):.1f}" cy="{y(value):.1f}" r="4">{title}</circle>')
        if number % every == 0:
            parts.append(text(x(number), HEIGHT - BOTTOM + 16, number))
    parts.append(text(LEFT + width / 2, HEIGHT - 6, "iteration", name="label"))
    label = f"{unit} of each iteration: mean {mean:.1f}, give or take {interval:.1f}"
    return drawing(parts, label)

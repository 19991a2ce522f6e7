# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw bus bandwidth by message size as SVG, a line for each arm."""

import math
from typing import Optional, Sequence

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
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_sizes import text_of

PLOT_HEIGHT = 170
MOST_LABELS = 7
AXIS = 40

Line = tuple[str, int, Sequence[tuple[int, float]]]
"""The name of an arm, its number among all arms, and (bytes, bandwidth) by size."""


def sizes_chart(lines: Sequence[Line], unit: str, line_rate: Optional[float] = None) -> str:
    """Return the bandwidth of each arm over a logarithmic axis of sizes; the upright axis starts at 0. line_rate is in unit."""
    lines = [(name, number, [(size, value) for size, value in points if size > 0]) for name, number, points in lines]
    found = [(size, value) for _name, _number, points in lines for size, value in points]
    if not found:
        return ""
    values = [value for _size, value in found] + ([line_rate] if line_rate else [])
    low, high, ticks = scale([0.0, *values], 0.0)
    parts, top = legend([(number, name) for name, number, _points in lines] if len(lines) > 1 else [])
    top += 20
    bottom = top + PLOT_HEIGHT
    sizes = sorted({size for size, _value in found})
    reach = math.log2(sizes[-1] / sizes[0]) or 1.0

    def x(size: float) -> float:
        share = math.log2(size / sizes[0]) / reach if len(sizes) > 1 else 0.5
        return LEFT + 20 + (WIDTH - LEFT - RIGHT - 44) * share

    def y(value: float) -> float:
        return top + PLOT_HEIGHT * (high - value) / (high - low)

    parts += [*level_grid(ticks, y), text(8, top - 14, f"bus bandwidth, {unit}", "start", "label")]
    if line_rate:
        parts.append(titled(line("one", LEFT, y(line_rate), WIDTH - RIGHT, y(line_rate)), "line rate of a host"))
        parts.append(text(WIDTH - RIGHT, y(line_rate) - 5, f"line rate {line_rate:.4g}", "end", "label"))
    every = max(1, math.ceil(len(sizes) / MOST_LABELS))
    # Counted from the largest, whose bandwidth is the value of the run.
    parts += [text(x(size), bottom + 16, text_of(size)) for size in sizes[::-1][::every]]
    for name, number, points in lines:
        css = f"trend arm-{number % COLOURS}"
        parts += [line(css, x(one[0]), y(one[1]), x(two[0]), y(two[1])) for one, two in zip(points, points[1:])]
        for size, value in points:
            said = f"{name}, {text_of(size)}: {value:.4g} {unit}"
            parts.append(titled(marker(number, x(size), y(value), 3.5), said))
    parts.append(text(LEFT + (WIDTH - LEFT - RIGHT) / 2, bottom + 33, "message size (logarithmic axis)", name="label"))
    label = f"Bus bandwidth in {unit} by message size, logarithmic in size; the table has the same in numbers"
    return drawing(parts, label, WIDTH, bottom + AXIS)

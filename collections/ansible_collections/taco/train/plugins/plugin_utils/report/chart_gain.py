# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the gain of arms over the parameters of the models, and what the vendor published beside it, in marks of its own."""

import math
from typing import Callable, List, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import gain as comparison_gain
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import LEFT, RIGHT, WIDTH, drawing, text
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_forest import is_logarithmic, ratio_axis
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_marks import (
    COLOURS,
    LEGEND_LINE,
    legend,
    line,
    marker,
    titled,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_scaling import MOST_NAME, index_of
from ansible_collections.taco.train.plugins.plugin_utils.report.gain import Figure, Line
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PublishedRange

HEIGHT, SIDE = 190, 30
BY_VENDOR = "published by the vendor"
NAME_WIDTH, NAME_ROW, LABEL_ROOM = 124, 13, 12
Place = Callable[[float], float]


def gain(comparison: Part, lines: Sequence[Line]) -> str:
    """Return the ratios of arms to their common baseline over the parameters; what the vendor published is hollow or dashed."""
    figures = comparison_gain.published(comparison, lines)
    ranges = comparison_gain.published_ranges(comparison, lines)
    points = [point for one in lines for point in one.points]
    effect = wording.effect(comparison)
    values = [value for one in points for value in (one.ratio, one.low, one.high) if value is not None]
    values += [figure.ratio for figure in figures] + [end for _arm, one in ranges for end in (one.low, one.high)]
    values += [1 - effect, 1 + effect]
    _low, _high, ticks, place = ratio_axis(values)
    sizes = [one.parameters for one in points] + [figure.parameters for figure in figures]
    sizes += [end for _arm, one in ranges for end in comparison_gain.span(one)]
    parts, top = _legend(comparison, lines, figures, bool(ranges))
    top += 24
    bottom = top + HEIGHT
    least, reach = min(sizes), math.log(max(sizes) / min(sizes))

    def x(size: float) -> float:
        return LEFT + SIDE + (WIDTH - RIGHT - LEFT - 2 * SIDE) * math.log(size / least) / reach

    def y(ratio: float) -> float:
        return bottom - HEIGHT * place(ratio)

    upper, lower = y(1 + effect), y(1 - effect)
    width = WIDTH - RIGHT - LEFT
    band = f'<rect class="no-effect" x="{LEFT}" y="{upper:.1f}" width="{width}" height="{lower - upper:.1f}"/>'
    parts.append(titled(band, f"too small to count: within {wording.percent(effect)} of 1"))
    for tick in ticks:
        parts += [line("grid", LEFT, y(tick), WIDTH - RIGHT, y(tick)), text(LEFT - 8, y(tick) + 4, f"{tick:g}x", "end")]
    parts.append(line("one", LEFT, y(1), WIDTH - RIGHT, y(1)))
    scale = "logarithmic" if is_logarithmic(values) else "linear"
    over = wording.marked(comparison, lines[0].baseline, MOST_NAME)
    parts.append(text(8, top - 12, f"speed-up over {over}; {scale} axis", "start", "label"))
    parts += [_range(one, x, y) for _arm, one in ranges]
    parts += _figures(comparison, figures, x, y)
    for one in lines:
        parts += _measured(comparison, one, x, y)
    names = {figure.parameters: figure.model for figure in figures}
    names.update((point.parameters, point.model) for point in points)
    under, rows = _names(names, x, bottom)
    bottom += 18 + NAME_ROW * rows
    parts += [
        *under,
        text(WIDTH / 2, bottom + 16, "parameters of the model in millions (logarithmic axis)", name="label"),
    ]
    label = f"Speed-up over {lines[0].baseline} by the parameters of the models; the table says the same in numbers"
    return drawing(parts, label, WIDTH, bottom + 24)


def _legend(
    comparison: Part, lines: Sequence[Line], figures: Sequence[Figure], ranges: bool
) -> "tuple[List[str], int]":
    known = wording.arm_names(comparison)
    named = [(index_of(known, one.arm), wording.marked(comparison, one.arm, MOST_NAME) + ", measured") for one in lines]
    parts, height = legend(named)
    for arm in dict.fromkeys(figure.arm for figure in figures):
        parts.append(marker(index_of(known, arm), LEFT + 8, height - 4, css="published"))
        parts.append(text(LEFT + 20, height, f"{arm}, {BY_VENDOR}, with its framework", "start", "row"))
        height += LEGEND_LINE
    if ranges:
        parts.append(f'<rect class="range published" x="{LEFT + 1}" y="{height - 9}" width="14" height="10"/>')
        parts.append(text(LEFT + 20, height, f"range {BY_VENDOR}, without its models", "start", "row"))
        height += LEGEND_LINE
    return parts, height


def _measured(comparison: Part, one: Line, x: Place, y: Place) -> List[str]:
    number = index_of(wording.arm_names(comparison), one.arm)
    css, name = f"arm-{number % COLOURS}", wording.marked(comparison, one.arm)
    parts = [
        line(f"trend {css}", x(this.parameters), y(this.ratio), x(other.parameters), y(other.ratio))
        for this, other in zip(one.points, one.points[1:])
    ]
    for point in one.points:
        across, drawn = x(point.parameters), []
        if point.low is not None and point.high is not None:
            drawn.append(line(f"whisker {css}", across, y(point.low), across, y(point.high)))
        drawn.append(marker(number, across, y(point.ratio)))
        said = f"{name}, {point.model}, {point.parameters:.4g} million parameters: {wording.ratio(point.ratio)}, "
        said += f"{wording.interval(point.low, point.high, wording.ratio)}, {point.verdict}"
        parts.append(titled("".join(drawn), said))
    return parts


def _figures(comparison: Part, figures: Sequence[Figure], x: Place, y: Place) -> List[str]:
    """Return the published points, each framework written beside them where there is room for it."""
    known, parts = wording.arm_names(comparison), []
    written: List[tuple[float, float]] = []
    for figure in figures:
        across, up = x(figure.parameters), y(figure.ratio)
        said = f"{figure.arm}, {figure.model}, {figure.framework}: {wording.ratio(figure.ratio)}, {BY_VENDOR}; {figure.source}"
        mark = marker(index_of(known, figure.arm), across, up, css="published")
        if all(abs(across - left) > LABEL_ROOM or abs(up - height) > LABEL_ROOM for left, height in written):
            written.append((across, up))
            start = across < WIDTH / 2
            mark += text(across + (9 if start else -9), up + 4, figure.framework, "start" if start else "end", "label")
        parts.append(titled(mark, said))
    return parts


def _range(one: PublishedRange, x: Place, y: Place) -> str:
    least, most = comparison_gain.span(one)
    left, upper = x(least), y(one.high)
    size = f'width="{x(most) - left:.1f}" height="{y(one.low) - upper:.1f}"'
    said = (
        f"{wording.ratio(one.low)} to {wording.ratio(one.high)} for {', '.join(one.models)}, {BY_VENDOR}; {one.source}"
    )
    return titled(f'<rect class="range published" x="{left:.1f}" y="{upper:.1f}" {size}/>', said)


def _names(names: "dict[float, str]", x: Place, bottom: float) -> "tuple[List[str], int]":
    """Return the models with their parameters beneath the axis, in as many rows as they need, and the number of rows."""
    parts: List[str] = []
    ends: List[float] = []
    for size, name in sorted(names.items()):
        across = min(x(size), WIDTH - RIGHT - NAME_WIDTH / 2)
        row = next((number for number, end in enumerate(ends) if across - NAME_WIDTH / 2 >= end), len(ends))
        ends[row : row + 1] = [across + NAME_WIDTH / 2]
        parts.append(line("grid", x(size), bottom, x(size), bottom + 5 + NAME_ROW * row))
        parts.append(text(across, bottom + 16 + NAME_ROW * row, f"{wording.shortened(name, 14)} {size:.4g}"))
    return parts, len(ends)

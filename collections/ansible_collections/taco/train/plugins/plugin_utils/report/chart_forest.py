# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the speed-ups of a comparison with their intervals, grouped by what was measured, as SVG."""

import math
from typing import Callable, Iterator, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import WIDTH, drawing, scale, text
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_marks import line, titled

SIDE = 16
# Of a group's title and of an arm; the axis beneath; the room for a verdict, right of the points.
TITLE, ROW, NAME, AXIS, VERDICT = 20, 44, 18, 42, 150
MOST_NAME = 36
# Wider than that, equal steps would press small ratios together.
WIDE = 4.0
MOST_TICKS = 6
# Beyond these a ratio is drawn at the edge; such a number says that something is wrong, not how fast it is.
LEAST_RATIO, MOST_RATIO = 1e-6, 1e6

Place = Callable[[float], float]
"""Where on the paper, or on an axis from 0 to 1, a value stands."""


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis: about equally far apart, and 1 among them when it is in the range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    # So many powers of ten that their labels don't run into each other.
    every = max(1, math.ceil((last - first) / MOST_TICKS))
    powers = [power for power in range(first, last + 1) if power % every == 0]
    for factors in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        ticks = [factor * 10.0**power for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if every > 1 or len(ticks) >= 4:
            break
    return ticks


def within_sense(values: Sequence[float]) -> list[float]:
    return [min(max(value, 0.0 if value <= 0 else LEAST_RATIO), MOST_RATIO) for value in values]


def is_logarithmic(values: Sequence[float]) -> bool:
    """Return whether ratios are so far apart that only a logarithmic axis shows all of them."""
    values = within_sense(values)
    return min(values) > 0 and max(values) / min(values) > WIDE


def ratio_axis(values: Sequence[float]) -> tuple[float, float, list[float], Place]:
    """Return (low, high, ticks, place): place maps a ratio to 0 (low) .. 1 (high). Wide ranges get a logarithmic axis."""
    wide, values = is_logarithmic(values), within_sense(values)
    low, high = min(values), max(values)

    def within(value: float) -> float:
        return min(max(value, low), high)

    if wide:
        low, high = low / 1.1, high * 1.1
        return low, high, ratio_ticks(low, high), lambda value: math.log(within(value) / low) / math.log(high / low)
    low, high, ticks = scale(values, 1.0)
    return low, high, ticks, lambda value: (within(value) - low) / (high - low)


def grouped(comparison: Part) -> list[tuple[Part, str, list[Part]]]:
    """Return (case, baseline, comparisons) for each case and each arm that others are compared with in it."""
    groups: dict[tuple[int, str], tuple[Part, str, list[Part]]] = {}
    for place, case in enumerate(comparison.get("cases") or []):
        for one in case.get("comparisons") or []:
            groups.setdefault((place, one["baseline"]), (case, one["baseline"], []))[2].append(one)
    return list(groups.values())


def forest(comparison: Part) -> str:
    """Return the ratio of each arm to its baseline as a point with its interval, or nothing when there is none."""
    groups = grouped(comparison)
    every = [one for _case, _baseline, rows in groups for one in rows]
    drawn = [one.get(key) for one in every for key in ("ratio", "low", "high")]
    values = [value for value in drawn if wording.finite(value)]
    if not values:
        return ""
    case_labels, effect = wording.case_labels(comparison), wording.effect(comparison)
    values += [1 - effect, 1 + effect]
    _low, _high, ticks, place = ratio_axis(values)

    def x(value: float) -> float:
        return SIDE + (WIDTH - 2 * SIDE - VERDICT) * place(value)

    # Said once beneath the axis, or above each group when there are several.
    baselines = list(dict.fromkeys(baseline for _case, baseline, _rows in groups))
    title = TITLE if len(baselines) == 1 else 2 * TITLE
    top, bottom = 6, 6 + title * len(groups) + ROW * len(every)
    parts = [text(x(tick), bottom + 15, f"{tick:g}x") for tick in ticks]
    y = top
    for case, baseline, rows in groups:
        parts.append(text(SIDE, y + 16, wording.shortened(case_labels[case["id"]], 62), "start", "group"))
        if len(baselines) > 1:
            parts.append(text(SIDE, y + 16 + TITLE, speed_up_over(comparison, baseline), "start", "label"))
        y += title
        for row in rows:
            full = f"{case_labels[case['id']]}: {wording.marked(comparison, row['arm'])}"
            full += f" against {wording.marked(comparison, baseline)}"
            # Its name stands above the lane, so that neither the band nor the grid crosses it.
            parts += background(x, ticks, effect, y + NAME, y + ROW)
            parts.append(forest_row(row, wording.marked(comparison, row["arm"], MOST_NAME), full, y, x))
            y += ROW
    under = speed_up_over(comparison, baselines[0]) if len(baselines) == 1 else "speed-up"
    under += f"; {'logarithmic' if is_logarithmic(values) else 'linear'} axis"
    parts.append(text(SIDE, bottom + 33, under, "start", "label"))
    label = f"Speed-up of {len(every)} comparisons with their intervals; the table of verdicts says the same in numbers"
    return drawing(parts, label, WIDTH, bottom + AXIS)


def speed_up_over(comparison: Part, baseline: str) -> str:
    return f"speed-up over {wording.marked(comparison, baseline, MOST_NAME)}"


def background(x: Place, ticks: Sequence[float], effect: float, top: float, bottom: float) -> Iterator[str]:
    """Return of one lane the band of differences too small to count, the grid and the line at 1."""
    left, right = x(1 - effect), x(1 + effect)
    band = f'<rect class="no-effect" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{bottom - top}"/>'
    yield titled(band, f"too small to count: within {wording.percent(effect)} of 1")
    for tick in ticks:
        yield line("grid", x(tick), top, x(tick), bottom)
    yield line("one", x(1), top, x(1), bottom)


def forest_row(one: Part, name: str, full: str, y: float, x: Place) -> str:
    """Return one comparison: its arm above, its point, interval and verdict beneath."""
    ratio, low, high = (one.get(key) for key in ("ratio", "low", "high"))
    css = f"verdict {one['verdict']}" if one["verdict"] in wording.SYMBOLS else "verdict"
    result = f"{wording.ratio(ratio) if wording.finite(ratio) else ''} {wording.verdict(one['verdict'])}".strip()
    middle = y + (NAME + ROW) / 2
    parts = [text(SIDE, y + 12, name, "start", "row"), text(WIDTH - SIDE, middle + 4, result, "end", css)]
    if wording.finite(low) and wording.finite(high):
        parts.append(line(css, x(low), middle, x(high), middle))
        parts += [line(css, x(end), middle - 4, x(end), middle + 4) for end in (low, high)]
    if wording.finite(ratio):
        parts.append(f'<circle class="{css}" cx="{x(ratio):.1f}" cy="{middle:.1f}" r="5"/>')
    return titled("".join(parts), f"{full}: {result}, {wording.interval(low, high, wording.ratio)}")

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Draw the verdicts and the runs of a comparison as SVG, for a page that brings the colours."""

import math
import textwrap
from html import escape

from ansible_collections.taco.train.plugins.plugin_utils import comparison_words as words
from ansible_collections.taco.train.plugins.plugin_utils.comparison_svg_marks import (
    COLOURS,
    line,
    marker,
    shortened,
    titled,
)
from ansible_collections.taco.train.plugins.plugin_utils.report_svg import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    drawing,
    level_grid,
    scale,
    text,
)

SIDE = 16
ROW = 44
AXIS = 40
LETTER_WIDTH = 6.2
LINE_HEIGHT = 13
PLOT_HEIGHT = 170
# Wider than that, equal steps would press small ratios together.
WIDE = 4.0


def ratio_ticks(low, high):
    """Return the ticks of a logarithmic axis: about equally far apart, and 1 among them when it is in the range."""
    for factors in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        ticks = [factor * 10.0**power for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            break
    return ticks


def ratio_axis(values):
    """Return (low, high, ticks, place): place maps a ratio to 0 (low) .. 1 (high). Wide ranges get a logarithmic axis."""
    low, high = min(values), max(values)
    if low > 0 and high / low > WIDE:
        low, high = low / 1.1, high * 1.1
        return low, high, ratio_ticks(low, high), lambda value: math.log(value / low) / math.log(high / low)
    low, high, ticks = scale(values, 1.0)
    return low, high, ticks, lambda value: (value - low) / (high - low)


def forest(comparison):
    """Return the ratio of each arm to its baseline as a point with its interval, or nothing when there is none."""
    cases, effect = words.cases(comparison), words.effect(comparison)
    rows = [(block, one) for block in comparison.get("blocks") or [] for one in block.get("comparisons") or []]
    values = [one.get(key) for _block, one in rows for key in ("ratio", "low", "high")]
    values = [value for value in values if words.finite(value)]
    if not values:
        return ""
    _low, _high, ticks, place = ratio_axis([*values, 1 - effect, 1 + effect])

    def x(value):
        return SIDE + (WIDTH - 2 * SIDE) * place(value)

    top, bottom = 6, 6 + ROW * len(rows)
    band = f'<rect class="no-effect" x="{x(1 - effect):.1f}" y="{top}" width="{x(1 + effect) - x(1 - effect):.1f}" '
    parts = [titled(f'{band}height="{bottom - top}"/>', f"too small to count: within {words.percent(effect)} of 1")]
    for tick in ticks:
        parts.append(line("grid", x(tick), top, x(tick), bottom))
        parts.append(text(x(tick), bottom + 15, f"{tick:g}x"))
    parts.append(line("one", x(1), top, x(1), bottom))
    for number, (block, one) in enumerate(rows):
        said = f"{cases[block['id']]}: {words.marked(comparison, one['arm'])} against {one['baseline']}"
        parts.append(forest_row(one, said, top + ROW * number, x))
    parts.append(
        text(WIDTH / 2, bottom + 32, "speed-up over the baseline; the line at 1 is no difference", name="label")
    )
    label = f"Speed-up of {len(rows)} comparisons with their intervals; the table of verdicts says the same in numbers"
    return drawing(parts, label, WIDTH, bottom + AXIS)


def forest_row(one, said, y, x):
    """Return one comparison: its words above, its point and interval beneath."""
    ratio, low, high = (one.get(key) for key in ("ratio", "low", "high"))
    css = f"verdict {escape(str(one['verdict']))}"
    result = f"{words.ratio(ratio) if words.finite(ratio) else ''} {words.verdict(one['verdict'])}".strip()
    parts = [
        text(SIDE, y + 14, shortened(said), "start", "row"),
        text(WIDTH - SIDE, y + 14, result, "end", css),
    ]
    middle = y + 29
    if words.finite(low) and words.finite(high):
        parts.append(line(css, x(low), middle, x(high), middle))
        parts += [line(css, x(end), middle - 4, x(end), middle + 4) for end in (low, high)]
    if words.finite(ratio):
        parts.append(f'<circle class="{css}" cx="{x(ratio):.1f}" cy="{middle}" r="5"/>')
    return titled("".join(parts), f"{said}: {result}, {words.interval(low, high, words.ratio)}")


def column_label(label, x, y, width):
    """Return a label in as many lines as a column needs."""
    lines = textwrap.wrap(label, max(4, int(width / LETTER_WIDTH))) or [""]
    return [text(x, y + LINE_HEIGHT * number, one) for number, one in enumerate(lines)], len(lines)


def strip(comparison, block):
    """Return every value of every run of a block: a column for each run, its value and the arm's median as lines."""
    arms = block.get("arms") or []
    values = [value for arm in arms for run in arm.get("runs") or [] for value in run_values(run)]
    values += [arm["median"] for arm in arms if words.finite(arm.get("median"))]
    if not values:
        return ""
    names = words.arm_names(comparison)
    # Many arms, or many runs of each, need more room; the page lets a wide chart scroll.
    most_runs = max(len(arm.get("runs") or []) for arm in arms)
    width = max(WIDTH, LEFT + RIGHT + len(arms) * max(96, 14 * most_runs))
    low, high, ticks = scale(values, sum(values) / len(values))
    column = (width - LEFT - RIGHT) / len(arms)

    def y(value):
        return TOP + 8 + PLOT_HEIGHT * (high - value) / (high - low)

    bottom, lines = TOP + 8 + PLOT_HEIGHT, 1
    unit = str(block.get("unit") or "")
    parts = [*level_grid(ticks, y, LEFT, width - RIGHT), text(LEFT, TOP, unit, "middle", "label")]
    for place, arm in enumerate(arms):
        left = LEFT + column * place
        parts += strip_arm(arm, names.index(arm["arm"]), left, column, y, unit)
        label, needed = column_label(words.marked(comparison, arm["arm"]), left + column / 2, bottom + 16, column - 6)
        parts += label
        lines = max(lines, needed)
    label = f"{words.cases(comparison)[block['id']]}: {unit} of each run, by arm"
    return drawing(parts, label, width, bottom + 12 + LINE_HEIGHT * lines)


def run_values(run):
    return [value for value in [run.get("value"), *(run.get("series") or [])] if words.finite(value)]


def strip_arm(arm, number, left, column, y, unit):
    runs = arm.get("runs") or []
    parts, step = [], column * 0.8 / max(1, len(runs))
    for place, run in enumerate(runs):
        x = left + column * 0.1 + step * (place + 0.5)
        css = "small warmup" if run.get("warmup") else "small"
        points = [marker(number, x, y(value), 2, css) for value in run.get("series") or [] if words.finite(value)]
        if words.finite(run.get("value")):
            reach = min(step * 0.4, 9)
            points.append(
                line(f"run arm-{number % COLOURS} {css}", x - reach, y(run["value"]), x + reach, y(run["value"]))
            )
        kind = "warm-up run" if run.get("warmup") else "run"
        said = f"{arm['arm']}, {kind} {run.get('repeat')}: {words.number(run.get('value'))} {unit}"
        parts.append(titled("".join(points), said))
    if words.finite(arm.get("median")):
        height = y(arm["median"])
        median = line(f"median arm-{number % COLOURS}", left + column * 0.04, height, left + column * 0.96, height)
        parts.append(titled(median, f"{arm['arm']}: median {words.number(arm['median'])} {unit}"))
    return parts

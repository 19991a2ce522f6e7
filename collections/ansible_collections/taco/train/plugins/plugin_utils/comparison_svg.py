# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Draw the verdicts and the runs of a comparison as SVG, for a page that brings the colours."""

import math
import textwrap
from statistics import median

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
# Runs that differ by less must not look wild.
LEAST_PERCENT = 2.0
# Wider than that, equal steps would press small ratios together.
WIDE = 4.0
MOST_TICKS = 8


def ratio_ticks(low, high):
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
    baselines = list(dict.fromkeys(one["baseline"] for _block, one in rows))
    for number, (block, one) in enumerate(rows):
        said = f"{cases[block['id']]}: {words.marked(comparison, one['arm'])}"
        said += f" against {words.marked(comparison, one['baseline'])}" if len(baselines) > 1 else ""
        parts.append(forest_row(one, said, top + ROW * number, x))
    over = words.marked(comparison, baselines[0]) if len(baselines) == 1 else "the baseline"
    parts.append(
        text(
            WIDTH / 2, bottom + 32, shortened(f"speed-up over {over}; the line at 1 is no difference", 76), name="label"
        )
    )
    label = f"Speed-up over {over} of {len(rows)} comparisons with their intervals; the table of verdicts says the same in numbers"
    return drawing(parts, label, WIDTH, bottom + AXIS)


def forest_row(one, said, y, x):
    """Return one comparison: its words above, its point and interval beneath."""
    ratio, low, high = (one.get(key) for key in ("ratio", "low", "high"))
    css = f"verdict {one['verdict']}" if one["verdict"] in words.SYMBOLS else "verdict"
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


def middle_of(arm):
    """Return the arm's median, or that of all its values when it has none; None when neither is above 0."""
    values = [arm["median"]] if words.finite(arm.get("median")) else []
    values = values or [value for run in arm.get("runs") or [] for value in run_values(run)]
    middle = median(values) if values else 0
    return middle if middle > 0 else None


def run_values(run):
    return [value for value in [run.get("value"), *(run.get("series") or [])] if words.finite(value)]


def strip(comparison, block):
    """Return how far each value of each run lies from its arm's median: a column for each run, a group for each arm.

    In percent, because arms can be so far apart that on one axis of speed the noise of each would be a dot.
    """
    arms = [(arm, middle_of(arm)) for arm in block.get("arms") or []]
    arms = [(arm, middle) for arm, middle in arms if middle]
    offs = [off(value, middle) for arm, middle in arms for run in arm.get("runs") or [] for value in run_values(run)]
    if not offs:
        return ""
    names = words.arm_names(comparison)
    # Many arms, or many runs of each, need more room; the page lets a wide chart scroll.
    most_runs = max(len(arm.get("runs") or []) for arm, _middle in arms)
    width = max(WIDTH, LEFT + RIGHT + len(arms) * max(96, 14 * most_runs))
    column = (width - LEFT - RIGHT) / len(arms)
    low, high, ticks = scale([*offs, -LEAST_PERCENT, LEAST_PERCENT], 0.0)
    top, bottom, lines = TOP + 16, TOP + 16 + PLOT_HEIGHT, 1

    def y(value):
        return top + PLOT_HEIGHT * (high - value) / (high - low)

    unit = str(block.get("unit") or "")
    parts = [*level_grid(ticks, y, LEFT, width - RIGHT), text(8, TOP, "% off the median of the arm", "start", "label")]
    for place, (arm, middle) in enumerate(arms):
        left = LEFT + column * place
        name = words.marked(comparison, arm["arm"])
        parts += strip_arm(arm, name, middle, names.index(arm["arm"]), (left, column), y, unit)
        said = f"{name}: {words.number(middle)} {unit}"
        label, needed = column_label(said, left + column / 2, bottom + 16, column - 6)
        parts += label
        lines = max(lines, needed)
    label = f"{words.cases(comparison)[block['id']]}: how far each run is from its arm's median"
    return drawing(parts, label, width, bottom + 12 + LINE_HEIGHT * lines)


def off(value, middle):
    """Return how far a value is from another, in percent of that."""
    return 100 * (value / middle - 1)


def strip_arm(arm, name, middle, number, place, y, unit):
    """Return one arm's group; place is its left end and its width."""
    left, column = place
    runs = arm.get("runs") or []
    colour = f"arm-{number % COLOURS}"
    parts, step = [], column * 0.8 / max(1, len(runs))
    parts.append(line(f"median {colour}", left + column * 0.04, y(0), left + column * 0.96, y(0)))
    for position, run in enumerate(runs):
        x = left + column * 0.1 + step * (position + 0.5)
        css = "small warmup" if run.get("warmup") else "small"
        series = [value for value in run.get("series") or [] if words.finite(value)]
        points = [marker(number, x, y(off(value, middle)), 2.2, css) for value in series]
        if words.finite(run.get("value")):
            height, reach = y(off(run["value"], middle)), min(step * 0.42, 10)
            points.append(line(f"run {colour} {css}", x - reach, height, x + reach, height))
        kind = "warm-up run" if run.get("warmup") else "run"
        said = f"{name}, {kind} {run.get('repeat')}: {words.number(run.get('value'))} {unit}"
        parts.append(titled("".join(points), said))
    return parts

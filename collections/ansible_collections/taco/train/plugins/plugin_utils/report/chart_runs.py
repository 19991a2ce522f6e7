# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw every run of a comparison as SVG, to show how much the runs of an arm differ."""

import textwrap
from statistics import median
from typing import Callable

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report.chart import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    drawing,
    level_grid,
    scale,
    text,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_marks import (
    COLOURS,
    line,
    marker,
    titled,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_time import is_running_mean

LETTER_WIDTH = 6.2
LINE_HEIGHT = 13
PLOT_HEIGHT = 170
# Runs that differ by less must not look wild.
LEAST_PERCENT = 2.0
# A median of nothing has no percentages.
LEAST_MIDDLE = 1e-12


def column_label(label: str, x: float, y: float, width: float) -> tuple[list[str], int]:
    """Return a label in as many lines as a column needs."""
    lines = textwrap.wrap(label, max(4, int(width / LETTER_WIDTH))) or [""]
    return [text(x, y + LINE_HEIGHT * number, one) for number, one in enumerate(lines)], len(lines)


def middle_of(arm: Part) -> float | None:
    """Return the arm's median, or that of all its values when it has none; None when neither is above 0."""
    values = [arm["median"]] if wording.finite(arm.get("median")) else []
    values = values or [value for run in arm.get("runs") or [] for value in run_values(run)]
    middle = median(values) if values else 0
    return middle if middle > LEAST_MIDDLE else None


def run_values(run: Part) -> list[float]:
    return [value for value in [run.get("value"), *(run.get("series") or [])] if wording.finite(value)]


def independent(case: Part) -> Part:
    """Return a case without iterations that are means over all steps so far: as points they would look independent."""
    if not is_running_mean(case):
        return case
    arms = [dict(arm, runs=[dict(run, series=[]) for run in arm.get("runs") or []]) for arm in case.get("arms") or []]
    return dict(case, arms=arms)


def strip(comparison: Part, case: Part) -> str:
    """The distance of each value of each run from its arm's median: a column for each run, a group for each arm.

    In percent, because arms can be so far apart that on one axis of speed the noise of each would be a dot.
    """
    case = independent(case)
    with_middles = [(arm, middle_of(arm)) for arm in case.get("arms") or []]
    arms = [(arm, middle) for arm, middle in with_middles if middle]
    offs = [off(value, middle) for arm, middle in arms for run in arm.get("runs") or [] for value in run_values(run)]
    if not offs:
        return ""
    names = wording.arm_names(comparison)
    # Many arms, or many runs of each, need more room; the page lets a wide chart scroll.
    most_runs = max(len(arm.get("runs") or []) for arm, _middle in arms)
    width = max(WIDTH, LEFT + RIGHT + len(arms) * max(96, 14 * most_runs))
    column = (width - LEFT - RIGHT) / len(arms)
    low, high, ticks = scale([*offs, -LEAST_PERCENT, LEAST_PERCENT], 0.0)
    top, bottom, lines = TOP + 16, TOP + 16 + PLOT_HEIGHT, 1

    def y(value: float) -> float:
        return top + PLOT_HEIGHT * (high - value) / (high - low)

    unit = str(case.get("unit") or "")
    parts = [*level_grid(ticks, y, LEFT, width - RIGHT), text(8, TOP, "% off the median of the arm", "start", "label")]
    for place, (arm, middle) in enumerate(arms):
        left = LEFT + column * place
        name = wording.marked(comparison, arm["arm"])
        parts += strip_arm(arm, name, middle, names.index(arm["arm"]), (left, column), y, unit)
        said = f"{name}: {wording.number(middle)} {unit}"
        beneath, needed = column_label(said, left + column / 2, bottom + 16, column - 6)
        parts += beneath
        lines = max(lines, needed)
    label = f"{wording.case_labels(comparison)[case['id']]}: how far each run is from its arm's median"
    return drawing(parts, label, width, bottom + 12 + LINE_HEIGHT * lines)


def off(value: float, middle: float) -> float:
    """The distance of a value from another one, in percent."""
    return 100 * (value / middle - 1)


def strip_arm(
    arm: Part, name: str, middle: float, number: int, place: tuple[float, float], y: Callable[[float], float], unit: str
) -> list[str]:
    """Return one arm's group; place is its left end and its width."""
    left, column = place
    runs = arm.get("runs") or []
    colour = f"arm-{number % COLOURS}"
    parts, step = [], column * 0.8 / max(1, len(runs))
    parts.append(line(f"median {colour}", left + column * 0.04, y(0), left + column * 0.96, y(0)))
    for position, run in enumerate(runs):
        x = left + column * 0.1 + step * (position + 0.5)
        css = "small warmup" if run.get("warmup") else "small"
        series = [value for value in run.get("series") or [] if wording.finite(value)]
        points = [marker(number, x, y(off(value, middle)), 2.2, css) for value in series]
        if wording.finite(run.get("value")):
            height, reach = y(off(run["value"], middle)), min(step * 0.42, 10)
            points.append(line(f"run {colour} {css}", x - reach, height, x + reach, height))
        kind = "warm-up run" if run.get("warmup") else "run"
        said = f"{name}, {kind} {run.get('repeat')}: {wording.number(run.get('value'))} {unit}"
        parts.append(titled("".join(points), said))
    return parts

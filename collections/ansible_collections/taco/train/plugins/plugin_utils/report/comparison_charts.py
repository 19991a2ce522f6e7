# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The charts of a comparison. Each function takes the comparison, or a part of it, and returns none where there is no value."""

import math
from statistics import median
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part, finite
from ansible_collections.taco.train.plugins.plugin_utils.report import charts, rows
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import colour, linear, ratios
from ansible_collections.taco.train.plugins.plugin_utils.report.charts import Band, Interval, Mark, Series
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Chart
from ansible_collections.taco.train.plugins.plugin_utils.report.run_charts import bandwidth, direction
from ansible_collections.taco.train.plugins.plugin_utils.run.spread import percentile

MOST_NAME = 36
# A median of nothing has no percentages. One iteration has no spread.
LEAST_MIDDLE, LEAST_OF_A_SPREAD = 1e-12, 2
RUN_WIDTH = 13
# Percentages that differ by less must not look wild.
LEAST_PERCENT = 2.0


def number_of(comparison: Part, arm: Any) -> int:
    names = wording.arm_names(comparison)
    return names.index(arm) if arm in names else len(names)


def runs_of(arm: Part) -> Sequence[Part]:
    return arm.get("runs") or []


def run_mark(comparison: Part, one_case: Part, arm: str, run: Part, place: int) -> Mark:
    """Return the mark of a run at its value, named as the messages of the runs name it."""
    kind, number = "warm-up run" if run.get("warmup") else "run", run.get("number")
    name = f"{kind} {number} of {comparison.get('planned')}" if number else f"{kind}, round {run.get('repeat')}"
    value = f"{wording.number(run.get('value'))} {one_case.get('unit') or ''}".rstrip()
    title = f"{wording.marked(comparison, arm)}, {name}: {value}"
    return Mark(place, run.get("value") or 0.0, title, css="warmup" if run.get("warmup") else "")


def no_effect(comparison: Part) -> Band:
    effect = wording.effect(comparison)
    return Band(1 - effect, 1 + effect, "no-effect", f"too small to count: within {wording.percent(effect)} of 1")


def forest(comparison: Part) -> list[Chart]:
    """Return the ratio of each arm to its baseline with its interval, grouped by case and baseline."""
    labels, effect = wording.case_labels(comparison), wording.effect(comparison)
    groups: dict[tuple[str, str], list[Interval]] = {}
    for one_case, one in rows.compared(comparison):
        groups.setdefault((one_case["id"], one["baseline"]), []).append(
            ratio_row(comparison, labels[one_case["id"]], one)
        )
    baselines = list(dict.fromkeys(baseline for _case, baseline in groups))
    several = len(baselines) > 1
    named = {one: f"speed-up over {wording.marked(comparison, one, MOST_NAME)}" for one in baselines}
    # Said once beneath the axis, or above each group when there are several.
    titled = [([labels[key[0]], *([named[key[1]]] if several else [])], own) for key, own in groups.items()]
    caption = "Speed-up of each arm: the point is the speed-up, the line through it its interval. The shaded band, "
    caption += f"{wording.percent(effect)} to each side of 1, holds differences too small to count."
    under = "speed-up" if several or not baselines else named[baselines[0]]
    return charts.intervals(titled, ratios, f"{under}; AXIS axis", caption, no_effect(comparison))


def ratio_row(comparison: Part, label: str, one: Part) -> Interval:
    ratio, low, high = (one.get(key) for key in ("ratio", "low", "high"))
    arm, baseline = wording.marked(comparison, one["arm"]), wording.marked(comparison, one["baseline"])
    result = f"{wording.ratio(ratio) if finite(ratio) else ''} {wording.verdict(one['verdict'])}".strip()
    title = f"{label}: {arm} against {baseline}: {result}, {wording.interval(low, high, wording.ratio)}"
    css = f"verdict {one['verdict']}" if one["verdict"] in wording.SYMBOLS else "verdict"
    return Interval(wording.marked(comparison, one["arm"], MOST_NAME), ratio, low, high, result, title, css)


def expected(comparison: Part, one_case: Part) -> list[Chart]:
    """Return for each arm the measured time of a batch beside the time that its bytes need at the link's bandwidth."""
    found = []
    for one in one_case.get("expected") or []:
        seconds, measured = one.get("seconds"), one.get("measured_seconds")
        name = wording.marked(comparison, one["arm"], 20)
        title = f"{name}: {wording.number(measured)} s, its bytes {wording.number(seconds)} s"
        if finite(seconds) and seconds >= 0:
            css = f"measured {colour(number_of(comparison, one['arm']))}"
            found.append(Interval(title, measured, None, None, "", title, css, seconds))
    label = wording.case_labels(comparison)[one_case["id"]]
    return charts.intervals(
        [((), found)],
        lambda values: linear([0.0, *values], unit=" s"),
        "seconds a batch",
        f"{label}: time of a batch, measured and as its bytes need at the bandwidth.",
        room=0,
    )


def scaling(comparison: Part, lines: Sequence[Part], name: str) -> list[Chart]:
    """Return the efficiency of arms that share a case over the number of ranks; 100 % is the line to reach."""
    series = [
        Series(
            wording.marked(comparison, one["arm"], MOST_NAME),
            number_of(comparison, one["arm"]),
            [efficiency(wording.marked(comparison, one["arm"]), point) for point in drawable(one)],
        )
        for one in lines
    ]
    return charts.lines(
        series,
        "% efficiency",
        f"ranks (logarithmic axis); 100 % is {lines[0].get('basis')} times their number",
        f"{name}: efficiency over the number of ranks.",
        {mark.x: f"{mark.x:g}" for one in series for mark in one.marks},
        axis=lambda values: linear([*values, 0.0], 100, steps=6),
        log=True,
        level=(100.0, ""),
    )


def drawable(line: Part) -> list[Part]:
    points = line.get("points") or []
    return [one for one in points if all(map(finite, (one.get("efficiency"), one.get("ranks")))) and one["ranks"] > 0]


def efficiency(name: str, point: Part) -> Mark:
    low, high = (100 * point[key] if finite(point.get(key)) else None for key in ("low", "high"))
    words = f"{wording.percent(point['efficiency'])}, {wording.number(point.get('value'))}"
    return Mark(point["ranks"], 100 * point["efficiency"], f"{name}, {point['ranks']} ranks: {words}", low, high)


def bus_bandwidth(comparison: Part) -> list[Chart]:
    """Return the bus bandwidth of each arm by message size, beside each other, for each case."""
    labels, found = wording.case_labels(comparison), comparison.get("bus_bandwidth") or []
    drawn = []
    for one_case in dict.fromkeys(one.get("case") for one in found):
        own = [one for one in found if one.get("case") == one_case]
        arms = []
        for one in own:
            sizes = [(size["size"], size["gb_per_s"]) for size in one.get("sizes") or []]
            arms.append((wording.marked(comparison, one["arm"]), number_of(comparison, one["arm"]), sizes))
        rate = own[-1].get("line_rate_gbps")
        caption = f"{labels.get(one_case, one_case)}: bus bandwidth by message size."
        drawn += bandwidth(arms, "GB/s", caption, rate / 8 if finite(rate) else None)
    return drawn


def spread_of(run: Part, one_case: Part) -> tuple[Optional[float], Optional[float]]:
    """Return the 5th and the 95th percentile of the iterations of a run, None where they are not independent."""
    series = [value for value in run.get("series") or [] if finite(value)]
    if one_case.get("running_mean") or len(series) < LEAST_OF_A_SPREAD:
        return None, None
    return percentile(series, 5), percentile(series, 95)


def shown(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def timeline(comparison: Part, one_case: Part, times: Mapping[Any, str]) -> list[Chart]:
    """Return a mark for each run in the order of time; the line through it is the spread of its iterations."""
    found = [
        (arm["arm"], run) for arm in one_case.get("arms") or [] for run in runs_of(arm) if finite(run.get("value"))
    ]
    found.sort(key=lambda one: (times.get(one[1].get("record"), ""), one[1].get("number") or one[1].get("repeat") or 0))
    marks: dict[str, list[Mark]] = {arm: [] for arm in wording.arm_names(comparison)}
    for place, (arm, run) in enumerate(found):
        mark = run_mark(comparison, one_case, arm, run, place)
        low, high = spread_of(run, one_case)
        time = times.get(run.get("record"))
        title = f"{mark.title} at {shown(time)}" if time else mark.title
        marks[arm].append(mark._replace(title=title, low=low, high=high))
    ran = [times[run["record"]] for _arm, run in found if run.get("record") in times]
    unit, label = str(one_case.get("unit") or ""), wording.case_labels(comparison)[one_case["id"]]
    return charts.lines(
        [
            Series(wording.marked(comparison, arm), number, marks[arm], "path")
            for number, arm in enumerate(wording.arm_names(comparison))
        ],
        f"{unit}; {direction(one_case.get('higher_is_better', True))}; the axis STARTS at 0",
        f"run, in the order of time{f': {shown(ran[0])} to {shown(ran[-1])}' if ran else ''}",
        f"{label}: the value of every run in {unit}, in the order of time.",
        {place: str(run.get("number") or place + 1) for place, (_arm, run) in enumerate(found)},
        axis=lambda values: linear(values, sum(run["value"] for _arm, run in found) / len(found)),
        room=RUN_WIDTH * len(found),
    )


def middle_of(arm: Part) -> Optional[float]:
    """Return the arm's median, or that of all its values when it has none; None when neither is above 0."""
    values = [value for run in runs_of(arm) for value in (run.get("value"), *(run.get("series") or []))]
    values = list(filter(finite, [arm.get("median")])) or list(filter(finite, values))
    middle = median(values) if values else 0
    return middle if middle > LEAST_MIDDLE else None


def strip(comparison: Part, one_case: Part) -> list[Chart]:
    """Return the distance of each run and of its iterations from its arm's median, arm by arm.

    In percent, because arms can be so far apart that on one axis of speed the noise of each would be a dot.
    """
    series, place = [], 0
    labels: dict[float, str] = {}
    for arm in one_case.get("arms") or []:
        middle = middle_of(arm)
        if middle is None:
            continue
        name = f"{wording.marked(comparison, arm['arm'])}: {wording.number(middle)} {one_case.get('unit') or ''}"
        marks = []
        for run in runs_of(arm):
            place += 1
            # As points, means over all steps so far would look independent.
            within = [] if one_case.get("running_mean") else run.get("series") or []
            value, *rest = (
                100 * (one / middle - 1) if finite(one) else math.nan for one in (run.get("value"), *within)
            )
            marks.append(run_mark(comparison, one_case, arm["arm"], run, place)._replace(y=value, within=rest))
            if finite(value):
                labels[place] = str(run.get("number") or place)
        # A column is free between two arms.
        place += 1
        series.append(Series(name.rstrip(), number_of(comparison, arm["arm"]), marks, "", "run"))
    return charts.lines(
        series,
        "% off the median of the arm",
        "run, arm by arm",
        f"{wording.case_labels(comparison)[one_case['id']]}: how far each run is from its arm's median.",
        labels,
        axis=lambda values: linear([*values, -LEAST_PERCENT, LEAST_PERCENT]),
        level=(0.0, ""),
        room=RUN_WIDTH * place,
    )

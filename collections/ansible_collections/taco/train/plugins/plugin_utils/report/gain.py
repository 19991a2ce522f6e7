# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gain of an arm over the parameters of the models, as measured and as the vendor published it. Values in, values out."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import charts
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import ratios
from ansible_collections.taco.train.plugins.plugin_utils.report.charts import Band, Mark, Series
from ansible_collections.taco.train.plugins.plugin_utils.report.comparison_charts import (
    MOST_NAME,
    no_effect,
    number_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Chart, Grid
from ansible_collections.taco.train.plugins.plugin_utils.report.rows import PUBLISHED, whose
from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PUBLISHED as FIGURES
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import (
    RANGES,
    PublishedRange,
    parameters_of,
)

EXPLAINED = (
    "The ratio of an arm to its baseline by the parameters of the model, in millions. What the vendor published is from its own "
    "hardware; it takes no part in a verdict, and is shown for the same two kinds of arms alone."
)
BY_VENDOR = "published by the vendor"
MILLION = 1e6


class Point(NamedTuple):
    """A model, and what an arm gained on it."""

    model: str
    parameters: float
    """In millions."""
    ratio: float
    low: Optional[float]
    high: Optional[float]
    verdict: str
    program: str
    """The workload, and its framework where one was set."""


class Line(NamedTuple):
    """The points of an arm against its baseline, over the same hosts."""

    arm: str
    baseline: str
    hosts: str
    points: Tuple[Point, ...]


class Figure(NamedTuple):
    """A ratio that the vendor published."""

    arm: str
    """The arm of the comparison that it belongs to."""
    model: str
    parameters: float
    ratio: float
    framework: str
    source: str


def _parameters(case: Part) -> Optional[float]:
    """Return the millions of parameters of a case's model: what the benchmark printed, or what is known of the model."""
    printed = case.get("parameters")
    if wording.finite(printed) and printed > 0:
        return printed / MILLION
    return parameters_of(case.get("model")) if case.get("model") else None


def _program(case: Part) -> str:
    framework = (case.get("settings") or {}).get("framework")
    named = framework if framework not in (None, "not set") else None
    return ", ".join(str(part) for part in (case.get("workload"), named) if part)


def lines(comparison: Part) -> List[Line]:
    """Return a line for each arm and baseline over the same hosts, where there are two models or more of known parameters."""
    found: Dict[Tuple[str, str, str], List[Point]] = {}
    for case in comparison.get("cases") or []:
        parameters = _parameters(case)
        hosts = f"{counted(case.get('nodes') or 0, wording.host_noun(case))}, {counted(case.get('ranks') or 0, 'rank')}"
        for one in case.get("comparisons") or [] if parameters else []:
            if wording.finite(one.get("ratio")) and one["ratio"] > 0 and one["verdict"] != "refused":
                low, high = (one.get(key) if wording.finite(one.get(key)) else None for key in ("low", "high"))
                point = Point(
                    str(case["model"]), parameters or 0.0, one["ratio"], low, high, one["verdict"], _program(case)
                )
                found.setdefault((one["arm"], one["baseline"], hosts), []).append(point)
    return [
        Line(*key, tuple(sorted(points, key=lambda point: point.parameters)))
        for key, points in found.items()
        if len({point.parameters for point in points}) > 1
    ]


def groups(comparison: Part) -> List[List[Line]]:
    """Return the lines that share a drawing: those of one baseline over the same hosts."""
    together: Dict[Tuple[str, str], List[Line]] = {}
    for line in lines(comparison):
        together.setdefault((line.baseline, line.hosts), []).append(line)
    return list(together.values())


def case(line: Line) -> str:
    return f"against {line.baseline}, {line.hosts}"


def _labels(comparison: Part) -> Dict[str, str]:
    return {arm["name"]: arm.get("label") or "" for arm in comparison.get("arms") or []}


def published(comparison: Part, drawn: Sequence[Line]) -> List[Figure]:
    """Return the vendor's figures for the arms of lines. Beside a lab's numbers they would invite a comparison that means nothing."""
    labels, found = _labels(comparison), []
    for line in drawn if not comparison.get("lab") else ():
        for figure in FIGURES:
            own, base = (figure.totals.get(labels.get(name, "")) for name in (line.arm, line.baseline))
            parameters = parameters_of(figure.model)
            if own and base and parameters:
                source = f"{figure.instances}, batch size {figure.batch_size}; {figure.source}"
                framework = figure.framework or wording.UNKNOWN
                found.append(Figure(line.arm, figure.model, parameters, own / base, framework, source))
    return list(dict.fromkeys(found))


def published_ranges(comparison: Part, drawn: Sequence[Line]) -> List[Tuple[str, PublishedRange]]:
    """Return (arm, range) of the ratios that the vendor published without the models."""
    labels = _labels(comparison)
    found = [
        (line.arm, one)
        for line in drawn
        for one in RANGES
        if not comparison.get("lab") and (labels.get(line.arm), labels.get(line.baseline)) == (one.arm, one.baseline)
    ]
    return list(dict.fromkeys(found))


def span(one: PublishedRange) -> Tuple[float, float]:
    """Return the least and the most parameters of a range's models, in millions."""
    known = [value for value in map(parameters_of, one.models) if value]
    return min(known), max(known)


def table(comparison: Part) -> Grid:
    """The measured results, followed by the vendor's published ones for the same arms."""
    head = (
        *("Model", "Parameters (M)", "Whose", "Arm", "Against", "Ratio", wording.confidence(comparison), "Verdict"),
        *("Framework or workload", "Hosts or source"),
    )
    rows: List[Tuple[str, ...]] = []
    own = whose(comparison)
    for drawn in groups(comparison):
        for line in drawn:
            names = wording.marked(comparison, line.arm), wording.marked(comparison, line.baseline)
            rows += [
                (
                    *(point.model, f"{point.parameters:.4g}", own, *names, wording.ratio(point.ratio)),
                    wording.interval(point.low, point.high, wording.ratio),
                    *(wording.verdict(point.verdict), point.program, line.hosts),
                )
                for point in line.points
            ]
        against = wording.marked(comparison, drawn[0].baseline)
        for one in published(comparison, drawn):
            names = wording.marked(comparison, one.arm), against
            shown: Tuple[Any, ...] = (one.model, f"{one.parameters:.4g}", PUBLISHED, *names, wording.ratio(one.ratio))
            rows.append((*shown, "", "", one.framework, one.source))
        for arm, spread in published_ranges(comparison, drawn):
            low, high = span(spread)
            names = wording.marked(comparison, arm), against
            shown = (", ".join(spread.models), f"{low:g} to {high:g}", PUBLISHED, *names)
            ratios = f"{wording.ratio(spread.low)} to {wording.ratio(spread.high)}"
            rows.append((*shown, ratios, "", "", wording.UNKNOWN, f"{spread.instances}; {spread.source}"))
    return Grid(head, list(dict.fromkeys(rows)))


def chart(comparison: Part, lines: Sequence[Line]) -> list[Chart]:
    """Return the ratios of arms to their common baseline over the parameters; what the vendor published is hollow or dashed."""
    series = [measured_gain(comparison, one) for one in lines]
    names: dict[float, str] = {}
    figures = published(comparison, lines)
    for arm in dict.fromkeys(one.arm for one in figures):
        marks = [
            Mark(
                one.parameters,
                one.ratio,
                f"{arm}, {one.model}, {one.framework}: {wording.ratio(one.ratio)}, {BY_VENDOR}; {one.source}",
                css="published",
                label=one.framework,
            )
            for one in figures
            if one.arm == arm
        ]
        series.append(Series(f"{arm}, {BY_VENDOR}, with its framework", number_of(comparison, arm), marks, ""))
        names.update((one.parameters, one.model) for one in figures)
    bands = [no_effect(comparison)]
    for _arm, one in published_ranges(comparison, lines):
        title = f"{wording.ratio(one.low)} to {wording.ratio(one.high)} for {', '.join(one.models)}, {BY_VENDOR}; {one.source}"
        bands.append(
            Band(one.low, one.high, "range published", title, *span(one), f"range {BY_VENDOR}, without its models")
        )
    names.update((point.parameters, point.model) for one in lines for point in one.points)
    return charts.lines(
        series,
        f"speed-up over {wording.marked(comparison, lines[0].baseline, MOST_NAME)}; AXIS axis",
        "parameters of the model in millions (logarithmic axis)",
        f"Speed-up {case(lines[0])}, by the parameters of the models.",
        {size: f"{wording.shortened(name, 14)} {size:.4g}" for size, name in names.items()},
        axis=ratios,
        log=True,
        level=(1.0, ""),
        bands=bands,
    )


def measured_gain(comparison: Part, one: Line) -> Series:
    name = wording.marked(comparison, one.arm)
    marks = [
        Mark(
            point.parameters,
            point.ratio,
            f"{name}, {point.model}, {point.parameters:.4g} million parameters: {wording.ratio(point.ratio)}, "
            f"{wording.interval(point.low, point.high, wording.ratio)}, {point.verdict}",
            point.low,
            point.high,
        )
        for point in one.points
    ]
    shown = f"{wording.marked(comparison, one.arm, MOST_NAME)}, measured"
    return Series(shown, number_of(comparison, one.arm), marks)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gain of an arm over the parameters of the models, as measured and as the vendor published it. Values in, values out."""

from typing import Iterator, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import charts, document, rows
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import ratios
from ansible_collections.taco.train.plugins.plugin_utils.report.charts import Band, Mark, Series
from ansible_collections.taco.train.plugins.plugin_utils.report.comparison_charts import MOST_NAME, no_effect, number_of
from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.workloads import published as vendor

EXPLAINED = (
    "The ratio of an arm to its baseline by the parameters of the model, in millions. What the vendor published is from its own "
    "hardware; it takes no part in a verdict, and is shown for the same two kinds of arms alone."
)
BY_VENDOR = "published by the vendor"
MILLION = 1e6


class Gain(NamedTuple):
    """What an arm gained on a model over a baseline."""

    arm: str
    model: str
    parameters: float
    """In millions."""
    ratio: float
    program: str
    """The workload, and its framework where one was set; of a published gain the framework."""
    source: str
    """The hosts; of a published gain its document."""
    low: Optional[float] = None
    high: Optional[float] = None
    verdict: Optional[str] = None
    """None for a published gain."""


class Group(NamedTuple):
    """The gains that share a drawing: of arms over one baseline on the same hosts, each on several models."""

    baseline: str
    hosts: str
    arms: Mapping[str, Sequence[Gain]]


def parameters_of(case: Part) -> Optional[float]:
    """Return the millions of parameters of a case's model: what the benchmark printed, or what is known of the model."""
    printed = case.get("parameters")
    if wording.finite(printed) and printed > 0:
        return printed / MILLION
    return vendor.parameters_of(case.get("model")) if case.get("model") else None


def program(case: Part) -> str:
    framework = (case.get("settings") or {}).get("framework")
    named = framework if framework not in (None, "not set") else None
    return ", ".join(str(part) for part in (case.get("workload"), named) if part)


def measured(comparison: Part) -> Iterator[tuple[str, Gain]]:
    """Yield (baseline, gain) for each ratio of a model whose parameters are known."""
    for case, one in rows.compared(comparison):
        parameters, ratio = parameters_of(case), one.get("ratio")
        hosts = f"{counted(case.get('nodes') or 0, wording.host_noun(case))}, {counted(case.get('ranks') or 0, 'rank')}"
        if parameters and wording.finite(ratio) and ratio > 0 and one["verdict"] != "refused":
            low, high = (one.get(key) if wording.finite(one.get(key)) else None for key in ("low", "high"))
            found = Gain(one["arm"], str(case["model"]), parameters, ratio, program(case), hosts, low, high)
            yield one["baseline"], found._replace(verdict=one["verdict"])


def groups(comparison: Part) -> list[Group]:
    """Return the gains of arms that were measured on models of several sizes."""
    found: dict[tuple[str, str], dict[str, list[Gain]]] = {}
    for baseline, one in sorted(measured(comparison), key=lambda pair: pair[1].parameters):
        found.setdefault((baseline, one.source), {}).setdefault(one.arm, []).append(one)
    drawn = [
        Group(*key, {arm: own for arm, own in arms.items() if len({one.parameters for one in own}) > 1})
        for key, arms in found.items()
    ]
    return [group for group in drawn if group.arms]


def labels(comparison: Part) -> Mapping[str, str]:
    """Return what each arm stands for. Beside a lab's numbers the vendor's would invite a comparison that means nothing."""
    described = comparison.get("arms") or [] if not comparison.get("lab") else []
    return {arm["name"]: arm.get("label") or "" for arm in described}


def published(comparison: Part, group: Group) -> list[Gain]:
    """Return the gains that the vendor published for the arms of a group."""
    label, found = labels(comparison), []
    for arm in group.arms:
        for one in vendor.PUBLISHED:
            own, base = (one.totals.get(label.get(name, "")) for name in (arm, group.baseline))
            parameters = vendor.parameters_of(one.model)
            if own and base and parameters:
                source = f"{one.instances}, batch size {one.batch_size}; {one.source}"
                found.append(Gain(arm, one.model, parameters, own / base, one.framework or wording.UNKNOWN, source))
    return found


def published_ranges(comparison: Part, group: Group) -> list[tuple[str, vendor.PublishedRange]]:
    """Return (arm, range) of the ratios that the vendor published without the models."""
    label = labels(comparison)
    return [
        (arm, one)
        for arm in group.arms
        for one in vendor.RANGES
        if (label.get(arm), label.get(group.baseline)) == (one.arm, one.baseline)
    ]


def span(one: vendor.PublishedRange) -> tuple[float, float]:
    """Return the least and the most parameters of a range's models, in millions."""
    known = [value for value in map(vendor.parameters_of, one.models) if value]
    return min(known), max(known)


def row(comparison: Part, baseline: str, one: Gain) -> rows.Row:
    interval = wording.interval(one.low, one.high, wording.ratio)
    return {
        "Model": one.model,
        "Parameters (M)": f"{one.parameters:.4g}",
        "Whose": rows.whose(comparison) if one.verdict else rows.PUBLISHED,
        "Arm": wording.marked(comparison, one.arm),
        "Against": wording.marked(comparison, baseline),
        "Ratio": wording.ratio(one.ratio),
        wording.confidence(comparison): interval if one.verdict else "",
        "Verdict": wording.verdict(one.verdict) if one.verdict else "",
        "Framework or workload": one.program,
        "Hosts or source": one.source,
    }


def range_row(comparison: Part, baseline: str, arm: str, one: vendor.PublishedRange) -> rows.Row:
    low, high = span(one)
    source = f"{one.instances}; {one.source}"
    whole = Gain(arm, ", ".join(one.models), low, one.low, wording.UNKNOWN, source)
    ratio = f"{wording.ratio(one.low)} to {wording.ratio(one.high)}"
    return {**row(comparison, baseline, whole), "Parameters (M)": f"{low:g} to {high:g}", "Ratio": ratio}


def table(comparison: Part) -> document.Grid:
    """The measured results, followed by the vendor's published ones for the same arms."""
    found: list[rows.Row] = []
    for group in groups(comparison):
        gains = [one for own in group.arms.values() for one in own] + published(comparison, group)
        found += [row(comparison, group.baseline, one) for one in gains]
        found += [range_row(comparison, group.baseline, *one) for one in published_ranges(comparison, group)]
    grid = document.table(found)
    # What was published stands once, however many groups have its arms.
    return grid._replace(rows=list(dict.fromkeys(map(tuple, grid.rows))))


def mark(comparison: Part, one: Gain) -> Mark:
    """Return the point of a gain, which is hollow where the vendor published it."""
    ratio = wording.ratio(one.ratio)
    if one.verdict is None:
        title = f"{one.arm}, {one.model}, {one.program}: {ratio}, {BY_VENDOR}; {one.source}"
        return Mark(one.parameters, one.ratio, title, css="published", label=one.program)
    title = f"{wording.marked(comparison, one.arm)}, {one.model}, {one.parameters:.4g} million parameters: {ratio}, "
    title += f"{wording.interval(one.low, one.high, wording.ratio)}, {one.verdict}"
    return Mark(one.parameters, one.ratio, title, one.low, one.high)


def chart(comparison: Part, group: Group) -> list[document.Chart]:
    """Return the ratios of arms to their common baseline over the parameters; what the vendor published is hollow or dashed."""
    figures = published(comparison, group)
    series, bands = [], [no_effect(comparison)]
    for arm, own in group.arms.items():
        name = f"{wording.marked(comparison, arm, MOST_NAME)}, measured"
        series.append(Series(name, number_of(comparison, arm), [mark(comparison, one) for one in own]))
    for arm in group.arms:
        name = f"{arm}, {BY_VENDOR}, with its framework"
        marks = [mark(comparison, one) for one in figures if one.arm == arm]
        series.append(Series(name, number_of(comparison, arm), marks, ""))
    for _arm, spread in published_ranges(comparison, group):
        words = f"{wording.ratio(spread.low)} to {wording.ratio(spread.high)} for {', '.join(spread.models)}"
        words += f", {BY_VENDOR}; {spread.source}"
        name = f"range {BY_VENDOR}, without its models"
        bands.append(Band(spread.low, spread.high, "range published", words, *span(spread), name))
    models = {one.parameters: one.model for own in (figures, *group.arms.values()) for one in own}
    return charts.lines(
        series,
        f"speed-up over {wording.marked(comparison, group.baseline, MOST_NAME)}; AXIS axis",
        "parameters of the model in millions (logarithmic axis)",
        f"Speed-up against {group.baseline}, {group.hosts}, by the parameters of the models.",
        {size: f"{wording.shortened(name, 14)} {size:.4g}" for size, name in models.items()},
        axis=ratios,
        log=True,
        level=(1.0, ""),
        bands=bands,
    )

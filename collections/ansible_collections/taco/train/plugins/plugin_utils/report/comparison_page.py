# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render a comparison as one page that needs nothing beside it."""

from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import (
    chart_forest,
    chart_gain,
    chart_runs,
    chart_scaling,
    chart_time,
    context,
    rows,
)
from ansible_collections.taco.train.plugins.plugin_utils.report import gain as comparison_gain
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_sizes import sizes_chart
from ansible_collections.taco.train.plugins.plugin_utils.report.chart_time import is_running_mean, spread_of
from ansible_collections.taco.train.plugins.plugin_utils.report.comparison_csv import each_run
from ansible_collections.taco.train.plugins.plugin_utils.report.comparison_style import STYLE
from ansible_collections.taco.train.plugins.plugin_utils.report.parts import drawn, figure, figures, marked_up
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import (
    command_lines,
    element,
    notes,
    page,
    preflight,
    section,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.run_table import LAB
from ansible_collections.taco.train.plugins.plugin_utils.report.systems import system_rows


def top(comparison: Part, title: str) -> str:
    """The top of the page: warnings about the numbers, the question, the conclusion."""
    first = [element("p", said, "stop") for said in wording.first(comparison)]
    lab = [element("p", LAB, "lab")] if comparison.get("lab") else []
    question = comparison.get("question")
    parts = [
        element("h1", title),
        element("p", question, "question") if question else "",
        element("p", comparison.get("sentence") or "No verdict.", "lead"),
        element("p", wording.placed(comparison), "lead") if wording.placed(comparison) else "",
        element("p", wording.progress(comparison), "progress"),
    ]
    return f"<header>{''.join(first + lab + parts)}</header>"


def verdicts(comparison: Part) -> str:
    effect = wording.effect(comparison)
    caption = (
        "The point is the speed-up, the line through it its interval. The shaded band, "
        f"{wording.percent(effect)} to each side of 1, holds differences too small to count."
    )
    chart = figure(chart_forest.forest(comparison), caption, comparison.get("lab"))
    body = drawn(*rows.verdicts(comparison))
    under = element("p", rows.explained(comparison), "said") if body else ""
    return section("Verdicts", body, under) + section("Speed-up", figures([chart]))


def regression(comparison: Part) -> str:
    found = comparison.get("regression")
    if not found:
        return ""
    parts = [element("p", marked_up(context.against(found))), drawn(*rows.regression(comparison))]
    items = "".join(element("li", marked_up(said)) for said in found.get("unlike") or [])
    parts += [element("p", context.CHANGED), f"<ul>{items}</ul>"] if items else []
    return section("Regression", *parts)


def over_time(comparison: Part, records: Sequence[Part]) -> str:
    """Return the values of all runs in the order of time, in their unit and by arm."""
    case_labels, lab = wording.case_labels(comparison), comparison.get("lab")
    times = {record["id"]: str(record["time"]) for record in records if record.get("id") and record.get("time")}
    charts = [
        figure(chart_time.timeline(comparison, case, times), f"{case_labels[case['id']]}: value of every run.", lab)
        for case in comparison.get("cases") or []
    ]
    told = "Every run is a point, from left to right in the order of time, in the unit of its value. "
    if any(spread_of(run, case)[0] is not None for case, _arm, run in each_run(comparison)):
        told += "The line through a point is the 5th to the 95th percentile of the iterations of that run. "
    told += "Warm-up runs are hollow; they take no part in a verdict."
    drawings = figures(charts)
    return section("Values in the order of time", element("p", told, "said"), drawings) if drawings else ""


def networks(comparison: Part, records: Sequence[Part]) -> str:
    return section("Network of each arm", drawn(*context.networks(comparison, records)))


def measured(comparison: Part) -> str:
    case_labels, lab = wording.case_labels(comparison), comparison.get("lab")
    charts = [
        figure(chart_runs.strip(comparison, case), f"{case_labels[case['id']]}: every run.", lab)
        for case in comparison.get("cases") or []
    ]
    told = (
        "Every run is a column: small points are its iterations, the short line is the run's value, and the long line is "
        "the median of the arm, which stands beneath. The axis is in percent of that median. Warm-up runs are hollow and dashed."
    )
    if any(map(is_running_mean, comparison.get("cases") or [])):
        told += (
            " The steps of tf_cnn_benchmarks are means over all steps so far; they are not independent, and not drawn."
        )
    drawings = figures(charts)
    return section("Runs", element("p", told, "said") if drawings else "", drawings, drawn(*rows.measured(comparison)))


def placement(comparison: Part) -> str:
    table = section("Without and with topology", drawn(*rows.by_placement(comparison)))
    return table + section("Where the workers were", drawn(*rows.layouts(comparison)))


def scaling(comparison: Part) -> str:
    together: dict[tuple[str, Any], list[Part]] = {}
    for line in comparison.get("scaling") or []:
        together.setdefault((rows.scaling_case(comparison, line), line.get("basis")), []).append(line)
    charts = [
        figure(chart_scaling.scaling(comparison, lines), f"{case}: efficiency.", comparison.get("lab"))
        for (case, _basis), lines in together.items()
    ]
    return section("Scaling", figures(charts), drawn(*rows.scaling(comparison)))


def gain(comparison: Part) -> str:
    charts = [
        figure(
            chart_gain.gain(comparison, lines),
            f"{comparison_gain.case(lines[0])}: gain.",
            comparison.get("lab"),
        )
        for lines in comparison_gain.groups(comparison)
    ]
    drawings = figures(charts)
    told = element("p", comparison_gain.EXPLAINED, "said") if drawings else ""
    return section("Gain over parameters", told, drawings, drawn(*comparison_gain.table(comparison)))


def network(comparison: Part) -> str:
    case_labels, lab = wording.case_labels(comparison), comparison.get("lab")
    charts = [
        figure(chart_scaling.expected(comparison, case), f"{case_labels[case['id']]}: time of a batch.", lab)
        for case in comparison.get("cases") or []
    ]
    told = (
        "The filled bar is the measured time of a batch, the dashed one the time that its bytes between nodes need at the "
        "link's bandwidth."
    )
    drawings = figures(charts)
    explained = element("p", told, "said") if drawings else ""
    times = drawn(*rows.expected(comparison))
    return section("Time against bytes over bandwidth", explained, drawings, times)


def bus_bandwidth(comparison: Part) -> str:
    """Return the bus bandwidth of each arm by message size, beside each other, and its share of the line rate."""
    case_labels, names = wording.case_labels(comparison), wording.arm_names(comparison)
    lines: dict[Any, list[Any]] = {}
    rates = {}
    for one in comparison.get("bus_bandwidth") or []:
        points = [(size["size"], size["gb_per_s"]) for size in one.get("sizes") or []]
        name = wording.marked(comparison, one["arm"])
        lines.setdefault(one.get("case"), []).append((name, names.index(one["arm"]), points))
        rates[one.get("case")] = one["line_rate_gbps"] / 8 if wording.finite(one.get("line_rate_gbps")) else None
    charts = [
        figure(
            sizes_chart(own, "GB/s", rates[case]),
            f"{case_labels.get(case, case)}: bus bandwidth.",
            comparison.get("lab"),
        )
        for case, own in lines.items()
    ]
    told = "At each message size the median of the runs that count. The table and the verdict use the largest size."
    drawings = figures(charts)
    return section(
        "Bus bandwidth by message size",
        element("p", told, "said") if drawings else "",
        drawings,
        drawn(*rows.bus_bandwidth(comparison)),
    )


def published(comparison: Part, records: Sequence[Part]) -> str:
    body = drawn(*context.published(comparison, records))
    return section("Published figures", element("p", context.PUBLISHED_NOTE), body) if body else ""


def arms(comparison: Part) -> str:
    return section("Arms", drawn(*context.arms(comparison)))


def systems(records: Sequence[Part]) -> str:
    return section("Hosts", drawn(*system_rows(records)))


def failures(comparison: Part) -> str:
    return section("What failed", drawn(*context.failures(comparison)))


def reproduction(comparison: Part, records: Sequence[Part]) -> str:
    parts = []
    for case, arm, launcher, argv in context.commands(comparison, records):
        title = f"<h3>{marked_up(f'{case}: {wording.marked(comparison, arm)}')}</h3>"
        where = f"On {launcher}, as root:" if launcher else "On the launcher, as root:"
        parts += [title, element("p", where, "said"), element("pre", command_lines(argv))]
    if parts:
        parts.insert(0, element("p", context.BEFORE_A_COMMAND))
    settings = context.settings(comparison)
    if settings:
        parts += [element("h3", context.AS_ASKED), element("pre", settings)]
    return section("To run it again", *parts)


def render(
    comparison: Part,
    records: Sequence[Part],
    verdict: Mapping[str, Any] | None = None,
    title: str = "Comparison",
    run: str = "",
    problems: Iterable[str] = (),
) -> str:
    """Return the page of a comparison (comparison.json), its result records and preflight's verdict, if there is one."""
    with_notes = [dict(record, notes=record.get("notes") or []) for record in records]
    body = [
        top(comparison, title),
        verdicts(comparison),
        placement(comparison),
        regression(comparison),
        failures(comparison),
        over_time(comparison, records),
        bus_bandwidth(comparison),
        networks(comparison, records),
        measured(comparison),
        gain(comparison),
        scaling(comparison),
        network(comparison),
        published(comparison, records),
        arms(comparison),
        notes(with_notes, problems),
        systems(records),
        preflight(verdict),
        reproduction(comparison, records),
        element(
            "footer", f"Run {run}. Everything here stands in comparison.json, records.jsonl and verdict.json beside it."
        ),
    ]
    return page(title, body, STYLE)

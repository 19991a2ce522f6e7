# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The charts of single runs, in the quantity and the unit of their values."""

from typing import Any, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import finite
from ansible_collections.taco.train.plugins.plugin_utils.report import charts
from ansible_collections.taco.train.plugins.plugin_utils.report.axes import linear
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Chart
from ansible_collections.taco.train.plugins.plugin_utils.text import number
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_sizes import text_of

Record = Mapping[str, Any]


def direction(higher_is_better: bool) -> str:
    return "higher is better" if higher_is_better else "lower is better"


def iterations(record: Record) -> list[Chart]:
    """Return a chart of the iterations of a good run, in the quantity and the unit of its value."""
    result, kind = record["result"], record["measures"]
    spread, unit, each = result.get("spread"), result["unit"], kind["iteration"]
    caption = f"{record['arm']}, {kind['subject']}: {unit} of each {each}. "
    caption += f"The dashed line is the value of the run, {number(result['value'])}"
    caption += ", the band holds the 5th to the 95th percentile." if spread else "."
    if kind["running_mean"]:
        caption += (
            f" Each {each} is a mean over all steps so far, drawn as one line because its points are not independent."
        )
    marks = [
        charts.Mark(place, value, f"{each} {place}: {value:.4g} {unit}")
        for place, value in enumerate(result["series"] if each else ())
        if finite(value)
    ]
    joined, style = ("trend", "") if kind["running_mean"] else ("", "point")
    return charts.lines(
        [charts.Series("", 0, marks, joined, style)],
        over=f"{unit}, on an axis that STARTS at 0",
        under=str(each),
        caption=caption,
        labels={mark.x: str(place) for place, mark in enumerate(marks)},
        axis=lambda values: linear(values, result["value"]),
        level=(result["value"], ""),
        bands=[charts.Band(spread["p5"], spread["p95"], "band", "")] if spread else (),
    )


def bandwidth(
    arms: Sequence[tuple[str, int, Sequence[tuple[int, float]]]],
    unit: str,
    caption: str,
    line_rate: Optional[float] = None,
) -> list[Chart]:
    """Return a chart of the bandwidth of each arm over a logarithmic axis of sizes, from zero. line_rate is in unit."""
    series = [
        charts.Series(
            name if len(arms) > 1 else "",
            place,
            [
                charts.Mark(size, value, f"{name}, {text_of(size)}: {value:.4g} {unit}")
                for size, value in points
                if size > 0
            ],
        )
        for name, place, points in arms
    ]
    places = sorted({mark.x for one in series for mark in one.marks}, reverse=True)
    return charts.lines(
        series,
        over=f"bus bandwidth, {unit}",
        under="message size (logarithmic axis)",
        caption=caption,
        # Counted from the largest, whose bandwidth is the value of the run.
        labels={place: text_of(int(place)) for place in places},
        log=True,
        level=(line_rate, f"line rate of a host {line_rate:.4g}") if line_rate else None,
    )

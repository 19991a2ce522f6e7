# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The document of a comparison: warnings, the question and the conclusion first, then what they rest on."""

import json
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_charts as charts
from ansible_collections.taco.train.plugins.plugin_utils.report import gain as gains
from ansible_collections.taco.train.plugins.plugin_utils.report import rows, systems
from ansible_collections.taco.train.plugins.plugin_utils.report.document import (
    Block,
    Bullets,
    Chart,
    Code,
    Document,
    Section,
    Text,
    section,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import (
    command_lines,
    lab,
    notes,
    preflight,
    where,
)

PUBLISHED_NOTE = (
    "Published figures are the vendor's, from its documents and its hardware. They take no part in a verdict."
)
AS_ASKED = "The comparison as it was asked for"
CHANGED = "What changed, and is part of these ratios:"
IN_TIME = (
    "Every run is a point, from left to right in the order of time, in the unit of its value. The line through a point, where "
    "it has one, is the 5th to the 95th percentile of the iterations of that run. Warm-up runs are hollow; they take no part "
    "in a verdict."
)
STRIPS = (
    "Every run is a column: small points are its iterations, the short line is the run's value, and the dashed line is "
    "the median of the arm, which follows its name. The axis is in percent of that median. Warm-up runs are hollow and dashed."
)
RUNNING = " The steps of tf_cnn_benchmarks are means over all steps so far; they are not independent, and not drawn."
NETWORK = (
    "The filled point is the measured time of a batch, the hollow one the time that its bytes between nodes need at the "
    "link's bandwidth."
)
BANDWIDTH = "At each message size the median of the runs that count. The table and the verdict use the largest size."


def first_lines(comparison: Part) -> list[Text]:
    """Return the warnings before all numbers."""
    return [Text(warning, "stop") for warning in wording.first(comparison)] + lab([comparison])


def top(comparison: Part) -> list[Block]:
    question, placed = comparison.get("question"), wording.placed(comparison)
    found = [Text(question, "question")] if question else []
    found.append(Text(comparison.get("sentence") or "No verdict.", "lead"))
    found += [Text(placed, "lead")] if placed else []
    return [*found, Text(wording.progress(comparison), "note")]


def note(words: str) -> Text:
    return Text(words, "note")


def legend(words: str) -> Text:
    """Return words that explain charts."""
    return Text(words, "note drawn")


def of_cases(comparison: Part, draw: Any, *more: Any) -> list[Chart]:
    return [chart for case in comparison.get("cases") or [] for chart in draw(comparison, case, *more)]


def against(regression: Part) -> str:
    """Return the earlier comparison, and how many arms became worse or better."""
    counts = {word: len(regression.get(word) or []) for word in ("worse", "better")}
    changes = (
        ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none is worse and none is better"
    )
    return f"Each arm against itself in {regression.get('baseline')}: {changes}."


def regression(comparison: Part) -> Section:
    found = comparison.get("regression")
    if not found:
        return section("Regression")
    unlike = found.get("unlike") or []
    changed = Text(CHANGED if unlike else ""), Bullets(unlike)
    return section("Regression", Text(against(found)), rows.regression(comparison), *changed)


def over_time(comparison: Part, records: Sequence[Part]) -> Section:
    """Return the values of all runs in the order of time, in their unit and by arm."""
    times = {record["id"]: str(record["time"]) for record in records if record.get("id") and record.get("time")}
    drawn = of_cases(comparison, charts.timeline, times)
    return section("Values in the order of time", legend(IN_TIME), *drawn, detail=True)


def scaling(comparison: Part) -> Section:
    together: dict[tuple[str, Any], list[Part]] = {}
    for line in comparison.get("scaling") or []:
        together.setdefault((rows.scaling_case(comparison, line), line.get("basis")), []).append(line)
    drawn = [chart for (case, _basis), lines in together.items() for chart in charts.scaling(comparison, lines, case)]
    return section("Scaling", *drawn, rows.scaling(comparison), detail=True)


def reproduction(comparison: Part, records: Sequence[Part]) -> Section:
    """Return the command of each arm in each case, of its newest run, a good one where there is one."""
    labels = wording.case_labels(comparison)
    blocks: list[Block] = []
    for case, arm, ran in rows.records_of_arms(comparison, records):
        commands = [record for record in ran if record.get("argv")]
        for record in sorted(commands, key=lambda one: one.get("outcome") == "ok")[-1:]:
            launcher = where((record.get("parameters") or {}).get("launcher"))
            blocks.append(Text(f"{launcher} {labels[case['id']]}, {wording.marked(comparison, arm)}", "h3"))
            blocks.append(Code(command_lines(record["argv"])))
    if comparison.get("spec"):
        spec = json.dumps(comparison["spec"], indent=2, ensure_ascii=False, default=str)
        blocks += [Text(AS_ASKED, "h3 screen"), Code(spec, printed=False)]
    return section("To run it again", *blocks, detail=True)


def of_lab(found: Section) -> Section:
    """Return a section whose charts say that they are of a lab, since a picture is shown without its page."""
    blocks = [one._replace(caption=f"Lab: {one.caption}") if isinstance(one, Chart) else one for one in found.blocks]
    return found._replace(blocks=blocks)


def document(
    comparison: Part,
    records: Sequence[Part],
    verdict: Optional[Mapping[str, Any]] = None,
    problems: Iterable[str] = (),
    title: str = "Comparison",
    run: str = "",
) -> Document:
    """Return the document of a comparison (comparison.json), its result records and preflight's verdict, if there is one."""
    running = any(case.get("running_mean") for case in comparison.get("cases") or [])
    gained = [chart for group in gains.groups(comparison) for chart in gains.chart(comparison, group)]
    strips = of_cases(comparison, charts.strip)
    needed = of_cases(comparison, charts.expected)
    sections = [
        section("Verdicts", rows.verdicts(comparison), note(rows.explained(comparison))),
        section("Speed-up", *charts.forest(comparison), detail=True),
        section("Without and with topology", rows.by_placement(comparison)),
        section("Where the workers were", rows.layouts(comparison), detail=True),
        regression(comparison),
        section("What failed", rows.failures(comparison)),
        over_time(comparison, records),
        section(
            "Bus bandwidth by message size",
            note(BANDWIDTH),
            *charts.bus_bandwidth(comparison),
            rows.bus_bandwidth(comparison),
            detail=True,
        ),
        section("Network of each arm", rows.networks(comparison, records), detail=True),
        section("Runs", legend(STRIPS + RUNNING * running), *strips, rows.measured(comparison), detail=True),
        section("Gain over parameters", note(gains.EXPLAINED), *gained, gains.table(comparison), detail=True),
        scaling(comparison),
        section("Time against bytes over bandwidth", legend(NETWORK), *needed, rows.expected(comparison), detail=True),
        section("Published figures", note(PUBLISHED_NOTE), rows.published(comparison, records), detail=True),
        section("Arms", rows.arms(comparison), detail=True),
        notes(records, problems),
        section("Hosts", systems.hosts(records), detail=True),
        *preflight(verdict),
        reproduction(comparison, records),
    ]
    if comparison.get("lab"):
        sections = [*map(of_lab, sections)]
    footer = f"Run {run}. Everything here stands in comparison.json, records.jsonl and verdict.json beside it."
    return Document(f"{title}: {run}" if run else title, first_lines(comparison), top(comparison), sections, footer)

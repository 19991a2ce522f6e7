# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say a comparison in Markdown, and in plain text for a terminal."""

import textwrap
from typing import Iterable, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.preflight.table import GAP, row_lines
from ansible_collections.taco.train.plugins.plugin_utils.report import context, gain, rows
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import command_lines
from ansible_collections.taco.train.plugins.plugin_utils.report.run_table import (
    LAB,
    cell,
    markdown_rows,
    preflight_rows,
    preflight_sentence,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.systems import system_rows

WIDTH = 100


def first_lines(comparison: Part) -> list[str]:
    """The warnings before all numbers."""
    return wording.first(comparison) + ([LAB] if comparison.get("lab") else [])


def part(title: str, head: Sequence[str], body: Sequence[Sequence[str]], before: str | None = None) -> list[str]:
    """Return the lines of a section of Markdown, none when its table is empty."""
    if not body:
        return []
    said = [cell(before), ""] if before else []
    return [f"## {title}", "", *said, *markdown_rows(head, body, rows.NUMBERS), ""]


def fenced(text: str) -> list[str]:
    """Return lines of text as a case of code that nothing in it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [fence, *text.splitlines(), fence, ""]


def reproduction(comparison: Part, records: Sequence[Part]) -> list[str]:
    lines: list[str] = []
    for case, arm, launcher, argv in context.commands(comparison, records):
        where = f"on {launcher}" if launcher else "on the launcher"
        lines += [f"{cell(f'{case}: {wording.marked(comparison, arm)}, {where}, as root:')}", ""]
        lines += fenced(command_lines(argv))
    lines = [context.BEFORE_A_COMMAND, "", *lines] if lines else []
    settings = context.settings(comparison)
    lines += [f"{context.AS_ASKED}:", "", *fenced(settings)] if settings else []
    return ["## To run it again", "", *lines] if lines else []


def regression(comparison: Part) -> list[str]:
    found = comparison.get("regression")
    if not found:
        return []
    lines = ["## Regression", "", cell(context.against(found)), ""]
    head, body = rows.regression(comparison)
    lines += [*markdown_rows(head, body, rows.NUMBERS), ""] if body else []
    unlike = [f"- {cell(said)}" for said in found.get("unlike") or []]
    return lines + ([context.CHANGED, "", *unlike, ""] if unlike else [])


def preflight(verdict: Part | None) -> list[str]:
    said = preflight_sentence(verdict)
    if not verdict or not said:
        return []
    head, body = preflight_rows(verdict)
    return ["## Preflight", "", cell(said), "", *([*markdown_rows(head, body), ""] if body else [])]


def render(
    comparison: Part,
    records: Sequence[Part],
    verdict: Part | None = None,
    title: str = "Comparison",
    problems: Iterable[str] = (),
) -> str:
    """Return the text of comparison.md, from comparison.json, its result records and preflight's verdict, if there is one."""
    lines = [f"**{cell(said)}**" for said in first_lines(comparison)]
    lines = [line for said in lines for line in (said, "")]
    lines += [f"# {cell(title)}", ""]
    if comparison.get("question"):
        lines += [f"*{cell(comparison['question'])}*", ""]
    lines += [f"**{cell(comparison.get('sentence') or 'No verdict.')}**", ""]
    placed = wording.placed(comparison)
    lines += [f"**{cell(placed)}**", ""] if placed else []
    lines += [cell(wording.progress(comparison)), ""]
    lines += part("Without and with topology", *rows.by_placement(comparison))
    lines += part("Verdicts", *rows.verdicts(comparison), rows.explained(comparison))
    lines += regression(comparison)
    lines += part("What failed", *context.failures(comparison))
    lines += part("Runs", *rows.measured(comparison))
    lines += part("Network of each arm", *context.networks(comparison, records))
    lines += part("Where the workers were", *rows.layouts(comparison))
    lines += part("Gain over parameters", *gain.table(comparison), gain.EXPLAINED)
    lines += part("Scaling", *rows.scaling(comparison))
    lines += part("Time against bytes over bandwidth", *rows.expected(comparison))
    lines += part("Bus bandwidth at the largest message size", *rows.bus_bandwidth(comparison))
    lines += part("Published figures", *context.published(comparison, records), context.PUBLISHED_NOTE)
    lines += part("Arms", *context.arms(comparison))
    lines += notes(records, problems)
    lines += part("Hosts", *system_rows(records))
    lines += preflight(verdict)
    lines += reproduction(comparison, records)
    return "\n".join(lines).rstrip("\n") + "\n"


def notes(records: Iterable[Part], problems: Iterable[str]) -> list[str]:
    found = dict.fromkeys([note for record in records for note in record.get("notes") or []] + list(problems))
    return ["## Notes", "", *(f"- {cell(note)}" for note in found), ""] if found else []


def terminal_table(comparison: Part) -> list[str]:
    """Return the lines of the verdicts without what a terminal has no room for."""
    interval = wording.confidence(comparison)
    widths = {"Case": 14, "Arm": 16, "Verdict": 12, "Ratio": 7, interval: 15, "Against": 10}
    widths.update({"Arm runs": 4, "Baseline runs": 8})
    head, body = rows.verdicts(comparison)
    if not body:
        return []
    lines = row_lines([name.upper() for name in widths], list(widths.values()))
    lines.append(GAP.join("-" * width for width in widths.values()))
    for row in body:
        cells = dict(zip(head, row))
        # The word alone: not every terminal has the symbol.
        cells["Verdict"] = cells["Verdict"].split(" ")[-1]
        lines += row_lines([cells[name] for name in widths], list(widths.values()))
    return [*lines, ""]


def unsettled(comparison: Part) -> list[str]:
    """A sentence for each inconclusive comparison."""
    case_labels = wording.case_labels(comparison)
    return [
        f"{case_labels[case['id']]}, {wording.marked(comparison, one['arm'])}: inconclusive; more repeats that are likely to decide it: "
        f"{wording.more_repeats(one.get('more_repeats'), one.get('chance'))}."
        for case, one in rows.compared(comparison)
        if one["verdict"] == "inconclusive"
    ]


def terminal(comparison: Part) -> str:
    """Return the verdicts as plain text, at most 100 columns wide."""
    lines: list[str] = []
    answer = [comparison.get("sentence") or "No verdict.", wording.placed(comparison)]
    for said in [*first_lines(comparison), comparison.get("question"), *answer]:
        lines += [*wrapped(said), ""] if said else []
    lines += terminal_table(comparison)
    for said in unsettled(comparison):
        lines += wrapped(said)
    for case, arm, problems, log, _run in context.failures(comparison)[1]:
        lines += wrapped(f"Failed: {case}, {arm}: {problems} Log: {log}")
    found = comparison.get("regression")
    for said in [context.against(found), *(found.get("unlike") or [])] if found else []:
        lines += wrapped(said)
    return "\n".join([*lines, *wrapped(wording.progress(comparison))])


def wrapped(said: str) -> list[str]:
    return textwrap.wrap(" ".join(said.split()), WIDTH, break_on_hyphens=False)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdicts of a comparison as a terminal shows them."""

from ansible_collections.taco.train.plugins.plugin_utils.comparison import wording
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import Part
from ansible_collections.taco.train.plugins.plugin_utils.report import rows
from ansible_collections.taco.train.plugins.plugin_utils.report.comparison_page import against
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import LAB
from ansible_collections.taco.train.plugins.plugin_utils.text import row_lines, ruled, wrapped

WIDTH = 100


def terminal_table(comparison: Part) -> list[str]:
    """Return the lines of the verdicts without what a terminal has no room for."""
    interval = wording.confidence(comparison)
    widths = {"Case": 14, "Arm": 16, "Verdict": 12, "Ratio": 7, interval: 15, "Against": 10}
    widths.update({"Arm runs": 4, "Baseline runs": 8})
    head, body = rows.verdicts(comparison)
    if not body:
        return []
    lines = ruled([name.upper() for name in widths], list(widths.values()))
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
    lab = [LAB] if comparison.get("lab") else []
    answer = [comparison.get("sentence") or "No verdict.", wording.placed(comparison)]
    for text in [*wording.first(comparison), *lab, comparison.get("question"), *answer]:
        lines += [*wrapped(text, WIDTH), ""] if text else []
    lines += terminal_table(comparison)
    for text in unsettled(comparison):
        lines += wrapped(text, WIDTH)
    for case, arm, problems, log, _run in rows.failures(comparison)[1]:
        lines += wrapped(f"Failed: {case}, {arm}: {problems} Log: {log}", WIDTH)
    found = comparison.get("regression")
    for text in [against(found), *(found.get("unlike") or [])] if found else []:
        lines += wrapped(text, WIDTH)
    return "\n".join([*lines, *wrapped(wording.progress(comparison), WIDTH)])

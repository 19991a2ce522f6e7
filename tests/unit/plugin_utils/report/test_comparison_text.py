# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Markdown of a comparison and what a terminal shows of it."""

import re

import compared
import pytest

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import LOSSY
from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_text

UNLIKE = ["Batch size differs: 8 and 16."]
MARKED = f"zebra ({LOSSY})"


def render(**changes):
    return comparison_text.render(compared.comparison(**changes), compared.records(), None, "Title")


def section(text, title):
    """Return the cells of the table beneath a heading."""
    lines = text.partition(f"\n## {title}\n\n")[2].partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]


def test_the_question_and_the_verdict_come_first():
    assert render().splitlines()[:7] == [
        "# Title",
        "",
        "*Does it train faster?*",
        "",
        "**LightCC is better by 2.10x.**",
        "",
        "16 of 16 planned runs done, 1 failed; 2026-01-31 12:00:00 to 2026-01-31 13:00:00 UTC.",
    ]


def test_the_tables_are_those_of_the_page_in_its_order():
    titles = [
        "Verdicts",
        "What failed",
        "Bus bandwidth at the largest message size",
        "Time against bytes over bandwidth",
    ]
    text = render()
    for title in titles:
        head, rule, *found = section(text, title)
        assert len(head) == len(rule) == len(found[0])
    assert section(text, "What failed")[2:] == [["VGG16", MARKED, "It broke.", "logs/a3.log", "a3"]]


def test_published_figures_stand_above_those_measured_here():
    rows = section(render(lab=True), "Published figures")[2:]
    assert [row[1] for row in rows] == ["PUBLISHED by the vendor", "measured here, in a lab", "measured here, in a lab"]
    assert [row[3] for row in rows] == ["5504.0", "501.5", "496.5"]


def test_where_arms_were_not_measured_alike_that_is_the_first_line():
    for text in (
        render(unlike=UNLIKE, lab=True),
        comparison_text.terminal(compared.comparison(unlike=UNLIKE, lab=True)),
    ):
        assert text.strip("*").startswith("NOT A LIKE-FOR-LIKE COMPARISON: Batch size differs: 8 and 16.")
        assert text.index("LAB: ") < text.index("Does it train faster?")


@pytest.mark.parametrize("evil", ["a|b", "a\nb", "<script>", "a\\|b"])
def test_whatever_a_text_holds_it_stays_in_its_cell(evil):
    found = compared.comparison(sentence=evil, question=evil)
    for case in found["cases"]:
        case.update(model=evil, unit=evil)
        for one in case["comparisons"]:
            one["reason"] = evil
    text = comparison_text.render(found, compared.records(), None, evil)
    assert "<script" not in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    start = next(place for place, line in enumerate(table) if line.startswith("| Case"))
    for line in table[start : start + 5]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 12


def test_a_command_can_not_end_its_block():
    records = [compared.record("a2", "zebra", argv=["mpirun", "```", "````"])]
    text = comparison_text.render(compared.comparison(), records, None, "Title")
    assert "\n`````\nmpirun '```' '````'\n`````\n" in text


def test_the_command_the_settings_and_what_comes_before_are_there():
    text = render().partition("## To run it again")[2]
    assert "Before a command" in text and f"VGG16: {MARKED}, on gpu1, as root:" in text
    assert '"repeats": 5' in text and "'RUN=a2 |'" in text


CHANGED = ["the GPU driver of gpu1 is 550 now and was 535.", "gpu2 took no part then."]


def test_a_check_against_an_earlier_comparison_says_what_became_worse_and_what_is_not_as_it_was():
    text = render(regression=compared.regression())
    first = "**NOT A LIKE-FOR-LIKE REGRESSION CHECK: 2 things are not as they were; they stand under Regression.**"
    assert text.splitlines()[0] == first
    head = "## Regression\n\nEach arm against itself in /results/old/comparison.json: 1 worse.\n\n| Case "
    assert head in text
    assert "\nWhat is not as it was, and is part of these ratios:\n\n- " + "\n- ".join(CHANGED) + "\n" in text
    table = [
        line for line in text.partition("## Regression")[2].partition("\n## ")[0].splitlines() if "| VGG16" in line
    ]
    cells = ["VGG16", MARKED, "▼ worse", "0.90x", "0.80x to 1.00x", "0.008", "none", "Why worse."]
    assert [cell.strip() for cell in table[0].strip("|").split(" | ")] == cells


def test_the_terminal_says_it_too():
    lines = comparison_text.terminal(compared.comparison(regression=compared.regression())).splitlines()
    assert lines[-4:-1] == ["Each arm against itself in /results/old/comparison.json: 1 worse.", *CHANGED]


def test_what_preflight_did_not_pass_is_there_as_on_the_page():
    text = comparison_text.render(compared.comparison(), compared.records(), compared.VERDICT, "Title")
    assert "## Preflight\n\nPreflight of 1 host: 7 passed, 0 failed, 1 warned, 2 skipped.\n\n| Status" in text
    assert section(text, "Preflight")[2:] == [["warn", "gpu1", "disk.free", "50", "40", "make room"]]
    passed = dict(compared.VERDICT, summary={"pass": 7}, hosts={"gpu1": {"checks": []}})
    text = comparison_text.render(compared.comparison(), compared.records(), passed, "Title")
    assert "## Preflight" in text and "| Status" not in text
    assert "## Preflight" not in render()


def test_the_terminal_shows_the_verdicts():
    assert comparison_text.terminal(compared.comparison()).splitlines() == [
        "Does it train faster?",
        "",
        "LightCC is better by 2.10x.",
        "",
        "CASE            ARM               VERDICT       RATIO    95 % INTERVAL    AGAINST     ARM   BASELINE",
        "                                                                                      RUNS  RUNS",
        "--------------  ----------------  ------------  -------  ---------------  ----------  ----  --------",
        "VGG16           zebra (lossy:     better        2.10x    2.00x to 2.20x   tcp         5     4",
        "                top-k",
        "                compression)",
        "VGG16           harp              inconclusive  1.20x    0.95x to 1.45x   tcp         5     4",
        "ResNet50        zebra (lossy:     equivalent    1.01x    1.00x to 1.02x   tcp         5     4",
        "                top-k",
        "                compression)",
        "",
        "VGG16, harp: inconclusive; more repeats that are likely to decide it: 7.",
        "Failed: VGG16, zebra (lossy: top-k compression): It broke. Log: logs/a3.log",
        "16 of 16 planned runs done, 1 failed; 2026-01-31 12:00:00 to 2026-01-31 13:00:00 UTC.",
    ]


def test_nothing_measured_is_said_plainly():
    empty = {"schema": 1, "cases": [], "arms": []}
    assert comparison_text.terminal(empty) == "No verdict.\n\n0 of 0 planned runs done, 0 failed."
    assert comparison_text.render(empty, [], None, "Title") == (
        "# Title\n\n**No verdict.**\n\n0 of 0 planned runs done, 0 failed.\n"
    )

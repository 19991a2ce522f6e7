# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdicts of a comparison as a terminal shows them."""

import compared

from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_text

UNLIKE = ["Batch size differs: 8 and 16."]
CHANGED = ["the GPU driver of gpu1 is 550 now and was 535.", "gpu2 took no part then."]


def test_where_arms_were_not_measured_alike_that_is_the_first_line():
    text = comparison_text.terminal(compared.comparison(unlike=UNLIKE, lab=True))
    assert text.startswith("NOT A LIKE-FOR-LIKE COMPARISON: Batch size differs: 8 and 16.")
    assert text.index("LAB: ") < text.index("Does it train faster?")


def test_a_check_against_an_earlier_comparison_says_what_changed():
    lines = comparison_text.terminal(compared.comparison(regression=compared.regression())).splitlines()
    assert lines[-4:-1] == ["Each arm against itself in /results/old/comparison.json: 1 worse.", *CHANGED]


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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentence of a comparison. Why there is no verdict must be clear also where the interval excludes 1."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.comparison.sentences import sentence


def found(ratio, low, high, verdict="inconclusive", min_effect=0.03):
    judged = {"arm": "harp", "baseline": "tcp", "verdict": verdict, "ratio": ratio, "low": low, "high": high}
    arms = [{"name": "tcp", "lossy": False}, {"name": "harp", "lossy": False}]
    cases = [{"id": "one", "model": "VGG16", "comparisons": [judged]}]
    return {
        "arms": arms,
        "baseline": "tcp",
        "cases": cases,
        "confidence": 0.95,
        "min_effect": min_effect,
        "complete": True,
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            found(1.08, 1.01, 1.20),
            "1.08 times, and the 95% interval 1.01 to 1.20 lies neither wholly beyond nor wholly within 3%, the smallest difference "
            "that counts.",
        ),
        (
            found(0.99, 0.80, 1.2, min_effect=0.025),
            "0.99 times, and the 95% interval 0.80 to 1.20 lies neither wholly beyond nor wholly within 2.5%, the smallest "
            "difference that counts.",
        ),
        (
            found(1.08, 1.04, 1.20),
            "1.08 times, and the 95% interval 1.04 to 1.20 lies beyond 3%, the smallest difference that counts, but "
            "corrected for the number of comparisons and verdicts it is not significant.",
        ),
        (found(1.08, None, None), "1.08 times, from too few good runs for an interval."),
    ],
)
def test_an_inconclusive_comparison_names_the_threshold(given, said):
    assert sentence(given) == f"harp against tcp on VGG16 is not decided: {said}"


def test_a_verdict_needs_no_threshold_beside_its_interval():
    given = found(1.20, 1.10, 1.31, "better")
    assert sentence(given) == "harp is faster than tcp on VGG16: 1.20 times (95% interval 1.10 to 1.31)."

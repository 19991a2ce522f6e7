# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Say the outcome of a comparison in a sentence."""

from typing import Any, Dict, List

WORDS = {"better": "faster than", "worse": "slower than", "equivalent": "as fast as"}


def _list(names: List[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def question(found: Dict[str, Any]) -> str:
    """Return what the comparison asks."""
    others = [arm["name"] for arm in found["arms"] if arm["name"] != found["baseline"]]
    do = "Does" if len(others) == 1 else "Do"
    return f"{do} {_list(others)} train faster than {found['baseline']}?"


def ratio_text(judged: Dict[str, Any], confidence: float) -> str:
    """Return a ratio with its interval."""
    text = f"{judged['ratio']:.2f} times"
    if judged["low"] is not None:
        text += f" ({confidence:.0%} interval {judged['low']:.2f} to {judged['high']:.2f})"
    return text


def named(arm: str, found: Dict[str, Any]) -> str:
    """Return an arm's name, and behind it that it is lossy where it is."""
    return arm + (" (lossy)" if any(one["name"] == arm and one["lossy"] for one in found["arms"]) else "")


def _one(judged: Dict[str, Any], where: str, found: Dict[str, Any]) -> str:
    arm, baseline = named(judged["arm"], found), judged["baseline"]
    if judged["verdict"] == "refused":
        return f"{arm} can't be held against {baseline} on {where}"
    if judged["ratio"] is None:
        return f"{arm} against {baseline} on {where}: not measured"
    if judged["verdict"] == "inconclusive":
        return f"{arm} against {baseline} on {where} is not decided: {ratio_text(judged, found['confidence'])}"
    return f"{arm} is {WORDS[judged['verdict']]} {baseline} on {where}: {ratio_text(judged, found['confidence'])}"


def sentence(found: Dict[str, Any]) -> str:
    """Return the verdicts in one sentence, the one with the largest effect first."""
    said = []
    for block in found["blocks"]:
        where = block["model"] or block["id"]
        if len({one["id"] for one in found["blocks"] if (one["model"] or one["id"]) == where}) > 1:
            where = block["id"]
        said += [(judged["ratio"] or 0, _one(judged, where, found)) for judged in block["comparisons"]]
    ordered = [text for _ratio, text in sorted(said, key=lambda one: -abs(one[0] - 1))]
    if not ordered:
        return "Nothing was compared."
    end = "." if found["complete"] else f". {found['done']} of {found['planned']} runs are done."
    return "; ".join(ordered) + end

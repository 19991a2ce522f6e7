# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences of a comparison: its question, its outcome, and the reasons of verdicts."""

from typing import Any, Dict, Iterable, List, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import (
    UNDECIDED,
    Part,
    case_labels,
    is_lossy,
    subject,
)
from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

WORDS = {"better": "faster than", "worse": "slower than", "equivalent": "as fast as"}


def named(arm: str, comparison: Part) -> str:
    """Return an arm's name in a sentence, and behind it that it is lossy where it is."""
    return f"{arm} (lossy)" if is_lossy(comparison, arm) else arm


def ratio_text(judged: Part, level: float) -> str:
    """Return a ratio with its interval in a sentence."""
    text = f"{judged['ratio']:.2f} times"
    if judged["low"] is not None:
        text += f" ({level:.0%} interval {judged['low']:.2f} to {judged['high']:.2f})"
    return text


def counts(min_effect: float) -> str:
    return f"{100 * min_effect:g}%, the smallest difference that counts"


def relation(low: float, high: float, min_effect: float) -> str:
    """Return where the interval of a ratio lies, compared with the smallest difference that counts."""
    if low > 1 + min_effect or high < 1 - min_effect:
        return "beyond"
    return "wholly within" if 1 - min_effect < low and high < 1 + min_effect else UNDECIDED


def lies(verdict_word: str, low: float, high: float, min_effect: float) -> str:
    """Return the reason of a verdict: where the interval of its ratio lies."""
    decided = {
        "better": f"lies above {1 + min_effect:.3g}",
        "worse": f"lies below {1 - min_effect:.3g}",
        "equivalent": f"lies wholly within {100 * min_effect:g}% of 1, the smallest difference that counts",
    }
    return decided.get(verdict_word) or f"lies {relation(low, high, min_effect)} {counts(min_effect)}"


def failures(arms: Iterable[Tuple[str, int, int]]) -> str:
    """Return the failed attempts of arms, each (name, failed, attempts); empty without one."""
    return "; ".join(
        f"{failed} of {counted(attempts, 'attempt')} of {arm} failed" for arm, failed, attempts in arms if failed
    )


def _list(names: List[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def question(found: Dict[str, Any]) -> str:
    """Return the question of the comparison."""
    not_asked = (found["baseline"], found.get("control"))
    others = [arm["name"] for arm in found["arms"] if arm["name"] not in not_asked]
    asked = {WORKLOADS[case["workload"]].asked for case in found["cases"] if case.get("workload") in WORKLOADS}
    does = asked.pop() if len(asked) == 1 else "run faster"
    do = "Does" if len(others) == 1 else "Do"
    return f"{do} {_list(others)} {does} than {found['baseline']}?"


def _undecided(judged: Dict[str, Any], found: Dict[str, Any]) -> str:
    """Return the ratio of an inconclusive verdict, and why it is none: an interval that excludes 1 isn't enough."""
    if judged["low"] is None or judged["high"] is None:
        return f"{judged['ratio']:.2f} times, from too few good runs for an interval"
    confidence, least = found["confidence"], found["min_effect"]
    where = relation(judged["low"], judged["high"], least)
    text = f"{judged['ratio']:.2f} times, and the {confidence:.0%} interval {judged['low']:.2f} to {judged['high']:.2f}"
    text += f" lies {where} {counts(least)}"
    if where == UNDECIDED:
        return text
    if judged.get("p") is not None and judged["p"] < 1 - confidence:
        return f"{text}, but good runs of an arm that often fails are a selection"
    return f"{text}, but corrected for the number of comparisons and verdicts it is not significant"


def _one(judged: Dict[str, Any], where: str, found: Dict[str, Any]) -> str:
    arm, baseline = named(judged["arm"], found), judged["baseline"]
    if judged["arm"] == found.get("control") and judged["ratio"] is not None:
        ratio = ratio_text(judged, found["confidence"])
        return f"the control, {baseline} again, has {ratio} the speed of {baseline} on {where}"
    if judged["verdict"] == "refused":
        return f"{arm} can't be compared with {baseline} on {where}"
    names = (judged["arm"], baseline)
    failed = failures(zip(names, judged.get("failed") or (), judged.get("attempts") or ()))
    failed = f" ({failed})" if failed else ""
    if judged["ratio"] is None:
        return f"{arm} against {baseline} on {where}: not measured{failed}"
    if judged["verdict"] == "inconclusive":
        return f"{arm} against {baseline} on {where} is not decided: {_undecided(judged, found)}{failed}"
    return (
        f"{arm} is {WORDS[judged['verdict']]} {baseline} on {where}: {ratio_text(judged, found['confidence'])}{failed}"
    )


def sentence(found: Dict[str, Any]) -> str:
    """Return the verdicts in one sentence, the one with the largest effect first and the controls last."""
    sentences = []
    labels, subjects = case_labels(found), [subject(case) for case in found["cases"]]
    for case in found["cases"]:
        where = subject(case) if subjects.count(subject(case)) == 1 else labels[case["id"]]
        for judged in case["comparisons"]:
            is_control = judged["arm"] == found.get("control") and judged["ratio"] is not None
            effect = 0 if is_control else abs((judged["ratio"] or 0) - 1)
            sentences.append((is_control, -effect, _one(judged, where, found)))
    if not sentences:
        return "Nothing was compared."
    end = "." if found["complete"] else f". {found['done']} of {found['planned']} runs are done."
    return "; ".join(text for *_order, text in sorted(sentences, key=lambda one: one[:2])) + end

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a comparison in a sentence."""

from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.plugin_utils.comparison import control
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import case_labels, subject
from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

WORDS = {"better": "faster than", "worse": "slower than", "equivalent": "as fast as"}


def _list(names: List[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def question(found: Dict[str, Any]) -> str:
    """The question of the comparison."""
    not_asked = (found["baseline"], found.get("control"))
    others = [arm["name"] for arm in found["arms"] if arm["name"] not in not_asked]
    asked = {WORKLOADS[case["workload"]].asked for case in found["cases"] if case.get("workload") in WORKLOADS}
    does = asked.pop() if len(asked) == 1 else "run faster"
    do = "Does" if len(others) == 1 else "Do"
    return f"{do} {_list(others)} {does} than {found['baseline']}?"


def ratio_text(judged: Dict[str, Any], confidence: float) -> str:
    """Return a ratio with its interval."""
    text = f"{judged['ratio']:.2f} times"
    if judged["low"] is not None:
        text += f" ({confidence:.0%} interval {judged['low']:.2f} to {judged['high']:.2f})"
    return text


def undecided_text(judged: Dict[str, Any], found: Dict[str, Any]) -> str:
    """The ratio of an inconclusive verdict, and why it is none: an interval that excludes 1 isn't enough."""
    ratio, low, high = f"{judged['ratio']:.2f} times", judged["low"], judged["high"]
    if low is None or high is None:
        return f"{ratio}, from too few good runs for an interval"
    interval = f"the {found['confidence']:.0%} interval {low:.2f} to {high:.2f}"
    least = found["min_effect"]
    counts = f"{100 * least:g}%, the smallest difference that counts"
    beyond, within = low > 1 + least or high < 1 - least, 1 - least < low and high < 1 + least
    if not beyond and not within:
        return f"{ratio}, and {interval} lies neither wholly beyond nor wholly within {counts}"
    where = f"{ratio}, and {interval} lies {'beyond' if beyond else 'wholly within'} {counts}"
    if judged.get("p") is not None and judged["p"] < 1 - found["confidence"]:
        return f"{where}, but good runs of an arm that often fails are a selection"
    return f"{where}, but corrected for the number of comparisons and verdicts it is not significant"


def failures_text(judged: Dict[str, Any]) -> str:
    """A text with the failed attempts of the two arms; empty without one."""
    counts = zip((judged["arm"], judged["baseline"]), judged.get("failed") or (), judged.get("attempts") or ())
    said = [f"{failed} of {counted(attempts, 'attempt')} of {arm} failed" for arm, failed, attempts in counts if failed]
    return f" ({'; '.join(said)})" if said else ""


def named(arm: str, found: Dict[str, Any]) -> str:
    """Return an arm's name, and behind it that it is lossy where it is."""
    return arm + (" (lossy)" if any(one["name"] == arm and one["lossy"] for one in found["arms"]) else "")


def _one(judged: Dict[str, Any], where: str, found: Dict[str, Any]) -> str:
    arm, baseline = named(judged["arm"], found), judged["baseline"]
    failed = failures_text(judged)
    if judged["verdict"] == "refused":
        return f"{arm} can't be compared with {baseline} on {where}"
    if judged["ratio"] is None:
        return f"{arm} against {baseline} on {where}: not measured{failed}"
    if judged["verdict"] == "inconclusive":
        return f"{arm} against {baseline} on {where} is not decided: {undecided_text(judged, found)}{failed}"
    return (
        f"{arm} is {WORDS[judged['verdict']]} {baseline} on {where}: {ratio_text(judged, found['confidence'])}{failed}"
    )


def sentence(found: Dict[str, Any]) -> str:
    """Return the verdicts in one sentence, the one with the largest effect first and the controls last."""
    said, controls = [], []
    labels = case_labels(found)
    for case in found["cases"]:
        where = subject(case)
        if sum(subject(one) == where for one in found["cases"]) > 1:
            where = labels[case["id"]]
        for judged in case["comparisons"]:
            if judged["arm"] == found.get("control") and judged["ratio"] is not None:
                controls.append(control.text(judged, where, ratio_text(judged, found["confidence"])))
            else:
                said.append((judged["ratio"] or 0, _one(judged, where, found)))
    ordered = [text for _ratio, text in sorted(said, key=lambda one: -abs(one[0] - 1))]
    if not ordered:
        return "Nothing was compared."
    end = "." if found["complete"] else f". {found['done']} of {found['planned']} runs are done."
    return "; ".join(ordered + controls) + end

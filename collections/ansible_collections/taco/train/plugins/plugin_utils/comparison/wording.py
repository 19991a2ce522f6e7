# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Word the parts of a comparison: arms, labels of cases, ratios and verdicts, the same on the page and in the tables.

Its sentences are in sentences.py.
"""

import math
import os
from typing import Any, Callable, Mapping, TypeGuard

from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.text import number as measured

UNDECIDED = "neither wholly beyond nor wholly within"
# A symbol beside each word, so that nothing rests on colour.
SYMBOLS = {"better": "▲", "worse": "▼", "equivalent": "≈", "inconclusive": "?", "refused": "✕"}
VERDICTS = {
    "better": "better by more than the smallest difference that counts",
    "worse": "worse by more than the smallest difference that counts",
    "equivalent": "any difference is smaller than the smallest that counts",
    "inconclusive": f"the interval lies {UNDECIDED} the smallest difference that counts",
    "refused": "not judged, because the number would mislead",
}
LOSSY = "lossy: top-k compression"
UNKNOWN = "not known"
# No bytes, images or seconds of a run are more.
LARGEST = 1e18

Part = Mapping[str, Any]
"""A comparison (comparison.json), a record, or a part of either."""


def finite(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number that can be shown; a file of JSON can also hold NaN and numbers beyond sense."""
    number_like = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number_like and math.isfinite(value) and abs(value) <= LARGEST


def arm_names(comparison: Part) -> list[str]:
    """Return the names of all arms, those that are described first."""
    described = [arm["name"] for arm in comparison.get("arms") or []]
    measured = [arm["arm"] for case in comparison.get("cases") or [] for arm in case.get("arms") or []]
    transferred = [one["arm"] for one in comparison.get("bus_bandwidth") or []]
    return list(dict.fromkeys(described + measured + transferred))


def is_lossy(comparison: Part, name: Any) -> bool:
    return any(arm["name"] == name and arm.get("lossy") for arm in comparison.get("arms") or [])


def shortened(text: str, most: int) -> str:
    """Return text of at most so many letters, with a sign where it was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def marked(comparison: Part, name: Any, most: int | None = None) -> str:
    """Return an arm's name, cut after so many letters, and behind it that it is lossy where it is."""
    shown = str(name) if most is None else shortened(str(name), most)
    return f"{shown} ({LOSSY})" if is_lossy(comparison, name) else shown


def host_noun(case: Part) -> str:
    """The size of a case or a line; pods of one node can be several workers."""
    return "worker" if case.get("pods") else "node"


def subject(case: Part) -> str:
    """The subject of a case or a line: its model, or the equivalent of its workload, after the name that it was given."""
    measured = str(case.get("model") or case.get("subject") or case.get("workload") or case.get("id"))
    name = str(case.get("name") or measured)
    return measured if name.lower() == measured.lower() else f"{name} ({measured})"


def case_parts(case: Part) -> list[str]:
    """The properties of a case, the most significant first."""
    parts = [subject(case)]
    if case.get("nodes") is not None:
        parts.append(counted(case["nodes"], host_noun(case)))
    if case.get("ranks") is not None:
        parts.append(counted(case["ranks"], "rank"))
    if case.get("batch_size") is not None:
        parts.append(f"batch size {case['batch_size']}")
    if (case.get("model") or case.get("subject")) and case.get("workload"):
        parts.append(str(case["workload"]))
    return parts


def shared_parts(comparison: Part) -> list[str]:
    """The common properties of all cases except their model."""
    parts = [case_parts(case)[1:] for case in comparison.get("cases") or []]
    return [part for part in (parts[0] if parts else []) if all(part in other for other in parts)]


def case_labels(comparison: Part) -> dict[str, str]:
    """Return for each case's id the words that tell it from the other cases."""
    shared = shared_parts(comparison)
    named = {}
    for case in comparison.get("cases") or []:
        first, *rest = case_parts(case)
        named[case["id"]] = ", ".join([first, *(part for part in rest if part not in shared)])
    return named


def number(value: Any) -> str:
    """Return a measured value with as many digits as help."""
    return measured(value) if finite(value) else UNKNOWN


def ratio(value: Any) -> str:
    return f"{value:.2f}x" if finite(value) else UNKNOWN


def percent(value: Any) -> str:
    return f"{100 * value:.1f} %" if finite(value) else UNKNOWN


def interval(low: Any, high: Any, form: Callable[[Any], str] = number) -> str:
    return f"{form(low)} to {form(high)}" if finite(low) and finite(high) else UNKNOWN


def chance(value: Any) -> str:
    """Return a p value."""
    if not finite(value):
        return "none"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def more_repeats(value: int | None, likely: Any = None) -> str:
    """The number of further repeats for a verdict, with the chance that they give one; None is when no number is known to."""
    if value is None:
        return "can't be estimated"
    if not value:
        return "none"
    return f"{value} ({100 * likely:.0f} % chance)" if finite(likely) else str(value)


def verdict(word: str) -> str:
    return f"{SYMBOLS.get(word, '?')} {word}"


def confidence(comparison: Part) -> str:
    value = comparison.get("confidence")
    return f"{100 * value:g} % interval" if finite(value) else "Interval"


def effect(comparison: Part) -> float:
    """Return the smallest difference that counts, as a share; 0 when there is none."""
    value = comparison.get("min_effect")
    return value if finite(value) and 0 <= value < 1 else 0.0


def progress(comparison: Part) -> str:
    """The progress of the comparison, and its time."""
    done, planned, failed = (comparison.get(key) or 0 for key in ("done", "planned", "failed"))
    words = f"{done} of {counted(planned, 'planned run')} done, {failed} failed"
    times = [str(comparison[key])[:19].replace("T", " ") for key in ("started", "ended") if comparison.get(key)]
    words = f"{words}; {' to '.join(times)} UTC." if times else f"{words}."
    # Why each case has no more rounds, where their number was not given.
    return " ".join([words, *map(str, (comparison.get("auto") or {}).get("said") or [])])


def first(comparison: Part) -> list[str]:
    """Return the warnings before all numbers, except the one about a lab."""
    found = []
    differences = [str(one) for one in comparison.get("unlike") or []]
    if differences:
        found.append(f"NOT A LIKE-FOR-LIKE COMPARISON: {' '.join(differences)}")
    if not comparison.get("complete", True):
        done, planned = (comparison.get(key) or 0 for key in ("done", "planned"))
        found.append(
            f"NOT COMPLETE: {done} of {counted(planned, 'planned run')} done. The verdicts rest on those alone."
        )
    changed = len((comparison.get("regression") or {}).get("unlike") or [])
    if changed:
        found.append(f"NOT A LIKE-FOR-LIKE REGRESSION CHECK: {counted(changed, 'condition')} changed; see Regression.")
    return found


def placed(comparison: Part) -> str | None:
    """A sentence on the effect of the placement of workers, or None."""
    said = (comparison.get("placement") or {}).get("said") or []
    return " ".join(str(one) for one in said) or None


def plain(value: Any) -> str:
    """Return a value of a record's system in words."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(one)}" for key, one in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(one) for one in value) or "none"
    return str(value)


def is_local(path: Any) -> bool:
    """Return whether a path names a file below the report, so that a link to it can't lead or do anything else."""
    parts = str(path).split("/")
    return bool(path) and ":" not in parts[0] and not os.path.isabs(str(path)) and ".." not in parts

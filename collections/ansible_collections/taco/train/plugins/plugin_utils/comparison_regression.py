# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Hold a comparison against an earlier one: did any arm become slower? Values in, values out."""

from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.plugin_utils import comparison_statistics as statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison_alike import OF_A_HOST, value_of
from ansible_collections.taco.train.plugins.plugin_utils.comparison_sentence import named, ratio_text
from ansible_collections.taco.train.plugins.plugin_utils.comparison_spec import ComparisonError

# Of an arm: what it stands for.
OF_AN_ARM = {"environment": "environment", "plugin": "NCCL plugin", "horovod": "Horovod"}


def values_of(arm: Dict[str, Any]) -> List[float]:
    """Return the values that count of what an arm measured in a block."""
    return [run["value"] for run in arm["runs"] if not run["warmup"]]


def _by_cell(found: Dict[str, Any]) -> Dict[Any, Any]:
    return {(block["id"], arm["arm"]): (block, values_of(arm)) for block in found["blocks"] for arm in block["arms"]}


def _set_otherwise(now: Dict[str, Any], then: Dict[str, Any]) -> List[str]:
    """Return in what arms and runs are not told what they were told."""
    said = []
    before = {arm["name"]: arm for arm in then.get("arms", [])}
    for arm in now["arms"]:
        was = before.get(arm["name"], arm)
        for key, words in OF_AN_ARM.items():
            if value_of(arm, key) != value_of(was, key):
                name = named(arm["name"], now)
                said.append(f"the {words} of {name} is {value_of(arm, key)} now and was {value_of(was, key)}.")
    settings = {block["id"]: block.get("settings", {}) for block in then["blocks"]}
    for block in now["blocks"]:
        old = settings.get(block["id"], {})
        for words, is_now in block["settings"].items():
            if old.get(words, is_now) != is_now:
                said.append(f"{block['id']}: the {words} is {is_now} now and was {old[words]}.")
    return said


def _changed(now: Dict[str, Any], then: Dict[str, Any]) -> List[str]:
    """Return in what the hosts are not what they were."""
    said = []
    for host, system in now["systems"].items():
        before = then.get("systems", {}).get(host)
        if before is None:
            said.append(f"{host} took no part then.")
            continue
        for key, words in OF_A_HOST.items():
            is_now, was = value_of(system, key), value_of(before, key)
            if is_now != was:
                said.append(f"the {words} of {host} is {is_now} now and was {was}.")
    return said


def regression(now: Dict[str, Any], then: Dict[str, Any], path: str) -> Dict[str, Any]:
    """Return how each arm does against itself in a stored comparison: worse, better, the others, and what is no longer alike.

    The two were measured at different times, so what has changed on the hosts meanwhile is part of the difference.
    """
    stored, judged = _by_cell(then), []
    if not set(stored) & set(_by_cell(now)):
        raise ComparisonError(
            f"{path} has none of the arms and settings of this comparison, so nothing can be said: it has "
            f"{', '.join(sorted({block for block, _arm in stored}))}. Set compare_against to a comparison of the same kind."
        )
    for (block, arm), (shown, values) in _by_cell(now).items():
        _block, before = stored.get((block, arm), (None, []))
        found = statistics.judge(values, before, now["min_effect"], now["confidence"], shown["higher_is_better"])
        judged.append(dict(found._asdict(), block=block, arm=arm))

    def said(verdict: str) -> List[str]:
        return [
            f"{named(one['arm'], now)} on {one['block']}: {ratio_text(one, now['confidence'])} what it was"
            for one in judged
            if one["verdict"] == verdict
        ]

    return {
        "baseline": path,
        "comparisons": judged,
        "worse": said("worse"),
        "better": said("better"),
        "unlike": _set_otherwise(now, then)
        + _changed(now, then)
        + [
            f"{named(arm, now)} on {block} was not measured then."
            for block, arm in _by_cell(now)
            if (block, arm) not in stored
        ],
    }

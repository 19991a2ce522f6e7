# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Hold a comparison against an earlier one: did any arm become slower? Values in, values out."""

from typing import Any, Dict, List

from ansible_collections.taco.train.plugins.plugin_utils import comparison_statistics as statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison_alike import OF_A_HOST
from ansible_collections.taco.train.plugins.plugin_utils.comparison_sentence import ratio_text


def values_of(arm: Dict[str, Any]) -> List[float]:
    """Return the values that count of what an arm measured in a block."""
    return [run["value"] for run in arm["runs"] if not run["warmup"]]


def _by_cell(found: Dict[str, Any]) -> Dict[Any, Any]:
    return {(block["id"], arm["arm"]): (block, values_of(arm)) for block in found["blocks"] for arm in block["arms"]}


def _changed(now: Dict[str, Any], then: Dict[str, Any]) -> List[str]:
    """Return in what the hosts are not what they were."""
    said = []
    for host, system in now["systems"].items():
        before = then.get("systems", {}).get(host)
        if before is None:
            said.append(f"{host} took no part then.")
            continue
        for key, words in OF_A_HOST.items():
            if system.get(key) != before.get(key):
                said.append(f"the {words} of {host} is {system.get(key)} now and was {before.get(key)}.")
    return said


def regression(now: Dict[str, Any], then: Dict[str, Any], path: str) -> Dict[str, Any]:
    """Return how each arm does against itself in a stored comparison: worse, better, the others, and what is no longer alike.

    The two were measured at different times, so what has changed on the hosts meanwhile is part of the difference.
    """
    stored, judged = _by_cell(then), []
    for (block, arm), (shown, values) in _by_cell(now).items():
        _block, before = stored.get((block, arm), (None, []))
        found = statistics.judge(values, before, now["min_effect"], now["confidence"], shown["higher_is_better"])
        judged.append(dict(found._asdict(), block=block, arm=arm))

    def said(verdict: str) -> List[str]:
        return [
            f"{one['arm']} on {one['block']}: {ratio_text(one, now['confidence'])} what it was"
            for one in judged
            if one["verdict"] == verdict
        ]

    return {
        "baseline": path,
        "comparisons": judged,
        "worse": said("worse"),
        "better": said("better"),
        "unlike": _changed(now, then),
    }

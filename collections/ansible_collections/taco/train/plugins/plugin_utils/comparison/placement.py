# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The influence of the placement of workers on the results. Values in, values out."""

from collections import Counter
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.text import cut, some

DEFAULT, TOPOLOGY = "default", "topology"
# The labels of ACK's published figures.
PUBLISHED = ("scheduled as usual", "scheduled by topology")
# Of a layout in a message.
MOST_COLUMNS = 200


class Place(NamedTuple):
    """The node of a worker, and its GPUs as far as they were recorded."""

    node: str
    gpus: str


Layout = Tuple[Tuple[str, Place], ...]
"""The place of each worker, in the order of the workers' names."""
Record = Mapping[str, Any]
Case = Mapping[str, Any]
"""A case of comparison.json."""


def place_of(value: Any) -> Place:
    """Return the place of a worker from a record, which has more than the node where more is known."""
    if not isinstance(value, Mapping):
        return Place(str(value), "")
    return Place(str(value.get("node")), str(value.get("gpu_visible") or ""))


def layout(record: Record) -> Optional[Layout]:
    """Return the places of the workers of a run, None when they were not recorded."""
    placement = record.get("placement")
    if not placement:
        return None
    return tuple((str(pod), place_of(placement[pod])) for pod in sorted(placement, key=_order))


def _order(pod: str) -> Tuple[str, int, str]:
    stem, _dash, number = str(pod).rpartition("-")
    return (stem, int(number), "") if number.isdecimal() else (str(pod), -1, "")


def words(found: Layout) -> str:
    """Return a layout in words, by node."""
    nodes: Dict[str, List[str]] = {}
    for pod, place in found:
        nodes.setdefault(place.node, []).append(f"{pod} (GPUs {place.gpus})" if place.gpus else pod)
    return "; ".join(f"{', '.join(pods)} on {node}" for node, pods in nodes.items())


def differences(records: Sequence[Record]) -> List[str]:
    """Return the differences between arms that should have the same placement.

    Arms with a place share what it brings about: where the workers come to be in it is part of what is measured, and may
    change whenever they are placed again. Others stay where they are.
    """
    places: Dict[Optional[str], Dict[str, Dict[Layout, None]]] = {}
    for record in records:
        found = layout(record)
        if found is not None:
            arms = places.setdefault((record.get("arm_spec") or {}).get("place"), {})
            arms.setdefault(str(record["arm"]), {})[found] = None
    sentences = []
    for place, arms in places.items():
        if len(set(map(frozenset, arms.values()))) > 1 or (
            place is None and any(len(one) > 1 for one in arms.values())
        ):
            by_arm = {arm: [cut(words(one), MOST_COLUMNS) for one in found] for arm, found in arms.items()}
            where = some((f"{some(found, 2, ' or ')} in {arm}" for arm, found in by_arm.items()), separator="; ")
            sentences.append(f"the nodes of the workers were not the same in all runs: {where}.")
    return sentences


def _same_software(one: Arm, other: Arm) -> bool:
    return one._replace(name="", label="", place=None) == other._replace(name="", label="", place=None)


def _explained(judged: Mapping[str, Any], one: Arm, other: Arm, records: Sequence[Record], also: str) -> str:
    """Return whether placement explains the difference of two arms, empty where there is none to explain."""
    names = f"{one.name} and {other.name}"
    if judged["verdict"] in ("refused", "inconclusive") or judged.get("ratio") is None:
        return ""
    if not _same_software(one, other):
        return f"{names} differ in their software too, so placement alone does not explain their difference."
    found = [[layout(record) for record in records if record["arm"] == arm.name] for arm in (one, other)]
    known: List[Set[Layout]] = [{each for each in of_arm if each} for of_arm in found]
    if None in found[0] + found[1]:
        return f"Where the workers of {names} ran was not recorded for every run, so placement is not proved to explain anything."
    if judged["verdict"] == "equivalent":
        return f"How the workers are placed makes no difference between {names}."
    if all(place.gpus for of_arm in known for each in of_arm for _pod, place in each):
        if known[0] == known[1]:
            return f"The workers of {names} ran in the same places, so their difference is not one of placement."
    else:
        nodes = [{tuple(place.node for _pod, place in each) for each in of_arm} for of_arm in known]
        if nodes[0] == nodes[1]:
            return (
                f"The workers of {names} ran on the same nodes, and not of all is known which GPUs they had, so placement is not "
                "proved to explain their difference."
            )
    if also:
        return f"Placement explains the difference between {names}, together with what else {also} changes."
    return f"Placement alone explains the difference between {names}."


def explained(
    arms: Sequence[Arm], cases: Sequence[Case], records: Sequence[Record], changes: Sequence[str] = ()
) -> List[str]:
    """Return sentences on the effect of placement, each once for all models that it applies to."""
    by_name = {arm.name: arm for arm in arms}
    found: Dict[str, List[str]] = {}
    for case in cases:
        good = [one for one in records if one["outcome"] == "ok" and (one.get("case") or {}).get("id") == case["id"]]
        for judged in case["comparisons"]:
            one, other = by_name[judged["arm"]], by_name[judged["baseline"]]
            sentence = _explained(judged, one, other, good, " and ".join(changes)) if one.place != other.place else ""
            if sentence:
                found.setdefault(sentence, []).append(str(case.get("model") or case["id"]))
    if len(found) == 1:
        return list(found)
    return [f"{', '.join(dict.fromkeys(models))}: {sentence}" for sentence, models in found.items()]


def layouts(arms: Sequence[Arm], records: Sequence[Record]) -> List[Dict[str, Any]]:
    """Return for each arm where its workers were, and in how many good runs."""
    good = [(record["arm"], layout(record)) for record in records if record["outcome"] == "ok"]
    runs = Counter((arm, words(found)) for arm, found in good if found)
    return [
        {"arm": arm.name, "place": arm.place, "workers": where, "runs": count}
        for arm in arms
        for (name, where), count in runs.items()
        if name == arm.name
    ]


def _row(case: Case, without: Optional[float], with_it: Optional[float], **more: Any) -> Dict[str, Any]:
    ratio = with_it / without if with_it and without else None
    found = {"model": case.get("model") or case["id"], "without": without, "with": with_it}
    found["speed_up"] = ratio if case["higher_is_better"] or not ratio else 1 / ratio
    return {**found, "unit": case["unit"], "ranks": case["ranks"], "source": None, **more}


def table(arms: Sequence[Arm], cases: Sequence[Case]) -> List[Dict[str, Any]]:
    """Return ACK's own table: a row for each model, without topology, with it, and how many times that is.

    Of several arms in a place the first stands for it whose software another has in the other place.
    """
    pairs = [
        (one.name, other.name)
        for one in arms
        for other in arms
        if one.place == DEFAULT and other.place == TOPOLOGY and _same_software(one, other)
    ]
    rows = []
    for case in cases if pairs else []:
        medians = {arm["arm"]: arm["median"] for arm in case["arms"]}
        rows += [_row(case, medians.get(without), medians.get(with_it)) for without, with_it in pairs]
        published = {one["label"].partition(" (")[0]: one for one in case["published"]}
        if set(PUBLISHED) <= set(published):
            without, with_it = (published[label] for label in PUBLISHED)
            figures = {name: without[name] for name in ("unit", "ranks", "source")}
            rows.append(_row(case, without["value"], with_it["value"], **figures))
    return rows

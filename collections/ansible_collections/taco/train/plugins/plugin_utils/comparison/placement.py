# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The influence of the placement of workers on the results. Values in, values out."""

from typing import Any, Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.text import cut, some
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PUBLISHED

DEFAULT, TOPOLOGY = "default", "topology"
# The node of each worker, in the order of the workers' names, with its GPUs where these are known.
Layout = Tuple[Tuple[str, str, str], ...]


class Fields(NamedTuple):
    """What is kept of a worker's place when more than its node is known."""

    node: str
    gpus: str


def place_of(value: Any) -> Fields:
    """Return the node of a worker, and which of its GPUs it has as far as that was recorded."""
    if not isinstance(value, Mapping):
        return Fields(str(value), "")
    return Fields(str(value.get("node")), str(value.get("gpu_visible") or ""))


def layout(record: Mapping[str, Any]) -> Optional[Layout]:
    """The placement of the workers of a run, None when it was not recorded."""
    placement = record.get("placement")
    if not placement:
        return None
    return tuple((str(pod), *place_of(placement[pod])) for pod in sorted(placement, key=_order))


def _order(pod: str) -> Tuple[str, int, str]:
    stem, _dash, number = str(pod).rpartition("-")
    return (stem, int(number), "") if number.isdecimal() else (str(pod), -1, "")


# Of a layout in a message.
MOST_COLUMNS = 200


def words(found: Layout) -> str:
    """Return a layout in words, by node."""
    nodes: Dict[str, List[str]] = {}
    for pod, node, gpus in found:
        nodes.setdefault(node, []).append(f"{pod} (GPUs {gpus})" if gpus else pod)
    return "; ".join(f"{', '.join(pods)} on {node}" for node, pods in nodes.items())


def _place(record: Mapping[str, Any]) -> Optional[str]:
    return (record.get("arm_spec") or {}).get("place")


def unlike(records: Sequence[Mapping[str, Any]]) -> List[str]:
    """The differences between arms that should have the same placement.

    Arms with a place share what it brings about: where the workers come to be in it is part of what is measured, and may
    change whenever they are placed again. Others stay where they are.
    """
    layouts: Dict[Optional[str], Dict[str, List[Layout]]] = {}
    for record in records:
        found = layout(record)
        if found is not None:
            seen = layouts.setdefault(_place(record), {}).setdefault(str(record["arm"]), [])
            if found not in seen:
                seen.append(found)
    said = []
    for place, arms in layouts.items():
        sets = {frozenset(found) for found in arms.values()}
        if len(sets) > 1 or (place is None and any(len(found) > 1 for found in arms.values())):
            by_arm = {arm: [cut(words(one), MOST_COLUMNS) for one in found] for arm, found in arms.items()}
            where = some((f"{some(found, 2, ' or ')} in {arm}" for arm, found in by_arm.items()), separator="; ")
            said.append(f"the nodes of the workers were not the same in all runs: {where}.")
    return said


def _same_software(one: Arm, other: Arm) -> bool:
    return one._replace(name="", label="", place=None) == other._replace(name="", label="", place=None)


def _nodes(found: Collection[Optional[Layout]]) -> Set[Tuple[str, ...]]:
    return {tuple(node for _pod, node, _gpus in one) for one in found if one}


def _gpus_known(*all_found: Collection[Optional[Layout]]) -> bool:
    return all(gpus for found in all_found for one in found for _pod, _node, gpus in one or ())


def _explained(judged: Mapping[str, Any], one: Arm, other: Arm, records: Sequence[Mapping[str, Any]], also: str) -> str:
    names = f"{one.name} and {other.name}"
    if judged["verdict"] in ("refused", "inconclusive") or judged.get("ratio") is None:
        return ""
    if not _same_software(one, other):
        return f"{names} differ in their software too, so placement alone does not explain their difference."
    layouts = {arm.name: {layout(record) for record in records if record["arm"] == arm.name} for arm in (one, other)}
    if None in layouts[one.name] | layouts[other.name]:
        return f"Where the workers of {names} ran was not recorded for every run, so placement is not proved to explain anything."
    if judged["verdict"] == "equivalent":
        return f"How the workers are placed makes no difference between {names}."
    known = _gpus_known(layouts[one.name], layouts[other.name])
    if known and layouts[one.name] == layouts[other.name]:
        return f"The workers of {names} ran in the same places, so their difference is not one of placement."
    if not known and _nodes(layouts[one.name]) == _nodes(layouts[other.name]):
        return (
            f"The workers of {names} ran on the same nodes, and not of all is known which GPUs they had, so placement is not proved "
            "to explain their difference."
        )
    if also:
        return f"Placement explains the difference between {names}, together with what else {also} changes."
    return f"Placement alone explains the difference between {names}."


def explained(
    arms: Sequence[Arm],
    cases: Sequence[Mapping[str, Any]],
    records: Sequence[Mapping[str, Any]],
    changes: Sequence[str] = (),
) -> List[str]:
    """Sentences on the effect of placement, each once for all models that it applies to."""
    by_name = {arm.name: arm for arm in arms}
    found: Dict[str, List[str]] = {}
    for case in cases:
        mine = [
            record
            for record in records
            if record["outcome"] == "ok" and (record.get("case") or {}).get("id") == case["id"]
        ]
        for judged in case["comparisons"]:
            one, other = by_name[judged["arm"]], by_name[judged["baseline"]]
            if one.place == other.place:
                continue
            said = _explained(judged, one, other, mine, " and ".join(changes))
            if said:
                found.setdefault(said, []).append(str(case.get("model") or case["id"]))
    if len(found) == 1:
        return list(found)
    return [f"{', '.join(dict.fromkeys(models))}: {said}" for said, models in found.items()]


def layouts(arms: Sequence[Arm], records: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """Return for each arm where its workers were, and in how many good runs."""
    rows = []
    for arm in arms:
        counts: Dict[str, int] = {}
        for record in records:
            found = layout(record)
            if record["arm"] == arm.name and record["outcome"] == "ok" and found:
                counts[words(found)] = counts.get(words(found), 0) + 1
        rows += [
            {"arm": arm.name, "place": arm.place, "workers": where, "runs": runs} for where, runs in counts.items()
        ]
    return rows


def published(model: Optional[str]) -> Optional[Dict[str, Any]]:
    """The published results of ACK's document for a model without and with topology, as a row of the table."""
    for one in PUBLISHED:
        totals = dict(one.totals)
        if model and one.model.lower() == model.lower() and "scheduled by topology" in totals:
            without, with_it = totals["scheduled as usual"], totals["scheduled by topology"]
            return {
                **{"model": one.model, "without": without, "with": with_it, "speed_up": with_it / without},
                **{"unit": "images/s", "ranks": one.ranks, "source": one.source},
            }
    return None


def table(arms: Sequence[Arm], cases: Sequence[Mapping[str, Any]], with_published: bool = True) -> List[Dict[str, Any]]:
    """Return ACK's own table: a row for each model, without topology, with it, and how many times that is.

    Of several arms in a place the first stands for it whose software another has in the other place.
    """
    pairs = [
        (one, other)
        for one in arms
        for other in arms
        if one.place == DEFAULT and other.place == TOPOLOGY and _same_software(one, other)
    ]
    rows = []
    for case in cases if pairs else []:
        medians = {arm["arm"]: arm["median"] for arm in case["arms"]}
        for one, other in pairs:
            without, with_it = medians.get(one.name), medians.get(other.name)
            ratio = with_it / without if with_it and without else None
            if ratio and not case["higher_is_better"]:
                ratio = 1 / ratio
            rows.append(
                {
                    **{"model": case.get("model") or case["id"], "without": without, "with": with_it},
                    **{"speed_up": ratio, "unit": case["unit"], "ranks": case["ranks"], "source": None},
                }
            )
        vendor = published(case.get("model")) if with_published else None
        if vendor:
            rows.append(vendor)
    return rows

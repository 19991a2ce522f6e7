# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make of the records of a comparison what its report shows: comparison.json. Values in, values out."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration import lightcc
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.comparison import placement, statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.comparability import (
    INTERFACES,
    of_runs,
    settings_of,
    words_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.comparison.scaling import bus_bandwidth, scaling
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import key_of, plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.sentences import question, sentence
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Case, Comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import Limits, Side, judge
from ansible_collections.taco.train.plugins.plugin_utils.workloads.published import PUBLISHED
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS


def figures(workload: str, model: Optional[str]) -> List[Dict[str, Any]]:
    """Return the published figures, each with its source. They are of other machines, so they are shown and never judged."""
    if not model:
        return []
    found = []
    for one in PUBLISHED:
        if one.workload == workload and one.model.lower() == model.lower():
            place = f"{one.instances}, batch size {one.batch_size}"
            alone = {"1 GPU": (one.single, 1), "1 host": (one.host, 8)}
            totals = {label: (value, ranks) for label, (value, ranks) in alone.items() if value is not None}
            totals.update((label, (value, one.ranks)) for label, value in one.totals.items())
            found += [
                {
                    "label": f"{label} ({place})",
                    "value": float(value),
                    "unit": "images/s",
                    "ranks": ranks,
                    "source": one.source,
                }
                for label, (value, ranks) in totals.items()
            ]
    return found


SCHEMA = 1
Record = Dict[str, Any]
Numbers = Mapping[Tuple[str, str, int], int]
"""Which of the planned runs each one is, counted from 1, by its key."""


def _run(record: Record, numbers: Numbers) -> Dict[str, Any]:
    result, case = record["result"], record["case"]
    return {
        "record": record["id"],
        "repeat": case["repeat"],
        "number": numbers[key_of(record)],
        "warmup": case["warmup"],
        "value": result["value"],
        "series": result["series"],
    }


def _arm(name: str, records: Sequence[Record], confidence: float, numbers: Numbers) -> Dict[str, Any]:
    """The results of an arm in a case; warm-up runs are listed but not counted."""
    runs = [_run(record, numbers) for record in records if record["outcome"] == "ok"]
    values = [run["value"] for run in runs if not run["warmup"]]
    middle = statistics.median_interval(values, confidence) if values else statistics.Interval(None, None, None)
    failed = sum(record["outcome"] != "ok" for record in records)
    return {"arm": name, "runs": runs, "median": middle.value, "low": middle.low, "high": middle.high, "failed": failed}


def side(arm: Dict[str, Any]) -> Side:
    """The measured values of an arm in a case, in the form for a verdict."""
    values = {run["repeat"]: run["value"] for run in arm["runs"] if not run["warmup"]}
    return Side(arm["arm"], values, arm["failed"], len(arm["runs"]) + arm["failed"])


def _refused(judgement: Dict[str, Any]) -> Dict[str, Any]:
    reason = "The runs were not alike, so their difference says nothing about the arms."
    return dict(judgement, verdict="refused", reason=reason, more_repeats=None, chance=None)


def _contradiction(case: Mapping[str, Any], control: Optional[str]) -> List[str]:
    """Return the reason to refuse the verdicts of a case: its control differs from the baseline. Empty when it does not.

    The interval of the control shows how much equal arms differ on these machines. A control that is better or worse than its baseline
    contradicts the method: then no difference in that case can be assigned to an arm.
    """
    return [
        f"{case['id']}: the control, {judged['baseline']} again, is {judged['verdict']} than {judged['baseline']} by a ratio of "
        f"{judged['ratio']:.3f}."
        for judged in case["comparisons"]
        if judged["arm"] == control and judged["verdict"] in ("better", "worse")
    ]


def _judged(cases: Sequence[Dict[str, Any]], baseline: str, limits: Dict[str, Any]) -> None:
    """Add to each case its verdicts: all of a report are one family, for which the p values are corrected."""
    pairs = [
        (case, side(arm), next(side(one) for one in case["arms"] if one["arm"] == baseline))
        for case in cases
        for arm in case["arms"]
        if arm["arm"] != baseline
    ]
    bounds = Limits(limits["min_effect"], limits["confidence"], limits["look"])
    found = judge(
        [(arm, base) for _case, arm, base in pairs], bounds, [one["higher_is_better"] for one, _a, _b in pairs]
    )
    for (case, arm, base), judgement in zip(pairs, found):
        counts: Dict[str, Any] = {"arm": arm.name, "baseline": base.name, "runs": [len(arm.values), len(base.values)]}
        counts.update(failed=[arm.failed, base.failed], attempts=[arm.attempts, base.attempts])
        one = limits["decided"].get((case["id"], arm.name)) or dict(judgement._asdict(), **counts)
        case["comparisons"].append(one)
    for case in cases:
        case["unlike"] += _contradiction(case, limits["control"])
        if case["unlike"] and limits["refuse_unlike"]:
            case["comparisons"] = [_refused(comparison) for comparison in case["comparisons"]]


def _expected(arms: Sequence[Dict[str, Any]], records: Sequence[Record], images: Optional[int]) -> List[Dict[str, Any]]:
    """Return for each arm whose benchmark counts them the bytes between hosts in a batch, beside the seconds that a batch took."""
    found = []
    for arm in arms:
        details = [
            record["result"]["details"]["exchange"]
            for record in records
            if record["arm"] == arm["arm"] and record["result"]["details"].get("exchange")
        ]
        if details and arm["median"] and images:
            found.append(
                {
                    "arm": arm["arm"],
                    "bytes": details[-1]["bytes"],
                    "seconds": details[-1]["seconds"],
                    "measured_seconds": images / arm["median"],
                }
            )
    return found


def _case(comparison: Comparison, case: Case, records: Sequence[Record], limits: Dict[str, Any]) -> Dict[str, Any]:
    measured = [record for record in records if key_of(record)[0] == case.id]
    good = [record for record in measured if record["outcome"] == "ok"]
    result = good[-1]["result"] if good else {}
    # Where a program starts without mpirun, fewer ranks run than there are slots.
    ranks = good[-1]["ranks"] if good else case.ranks
    set_by_arms = {name for arm in comparison.arms for name in arm.options or ()}
    shown = {
        "id": case.id,
        "name": case.name,
        "workload": case.workload,
        "running_mean": WORKLOADS[case.workload].running_mean,
        "model": case.options.get("model"),
        "subject": None if case.options.get("model") else WORKLOADS[case.workload].subject(case.options),
        "parameters": result.get("details", {}).get("parameters"),
        "nodes": min(len(case.hosts), ranks),
        "pods": any(record.get("placement") for record in measured),
        "ranks": ranks,
        "batch_size": case.options.get("batch_size"),
        "settings": settings_of(good[-1], set_by_arms) if good else {},
        "unit": result.get("unit", ""),
        "higher_is_better": result.get("higher_is_better", True),
        # Beside a lab's numbers they would invite a comparison that means nothing.
        "published": [] if any(record["lab"] for record in good) else figures(case.workload, case.options.get("model")),
    }
    arms = [
        _arm(
            arm.name,
            [record for record in measured if record["arm"] == arm.name],
            limits["confidence"],
            limits["numbers"],
        )
        for arm in comparison.arms
    ]
    differences = of_runs(good, case.id, (*limits["expected"], *words_of(set_by_arms)))
    batch_size = case.options.get("batch_size")
    images = batch_size * ranks if batch_size and shown["unit"] == "images/s" else None
    return dict(shown, arms=arms, comparisons=[], unlike=differences, expected=_expected(arms, good, images))


def _is_lossy(arm: Arm, records: Sequence[Record]) -> bool:
    """Return whether the ranks of an arm compressed gradients with loss, whichever option made them do so."""
    ran = [record["environment"] for record in records if record["arm"] == arm.name]
    return any(map(lightcc.is_lossy, ran)) if ran else arm.lossy


def _shown(arm: Arm, records: Sequence[Record]) -> Dict[str, Any]:
    lossy = _is_lossy(arm, records)
    shown = {"name": arm.name, "label": arm.label, "lossy": lossy, "environment": dict(arm.env)}
    shown.update(plugin=arm.plugin, horovod=arm.horovod)
    if arm.options:
        shown["options"] = dict(arm.options)
    return dict(shown, place=arm.place) if arm.place else shown


def _failure(record: Record) -> Dict[str, Any]:
    case = key_of(record)[0]
    return {
        "record": record["id"],
        "arm": record["arm"],
        "case": case,
        "problems": record["problems"],
        "log": record["log"],
    }


def _systems(records: Sequence[Record]) -> Dict[str, Any]:
    """The facts of each host in its last successful run."""
    found: Dict[str, Any] = {}
    for record in records:
        if record["outcome"] == "ok":
            found.update((name, system) for name, system in record["system"].items() if system)
    return found


def _placement(
    comparison: Comparison, cases: Sequence[Dict[str, Any]], records: Sequence[Record], changes: Sequence[str]
) -> Dict[str, Any]:
    """What is known of the placement, by its key of the results; nothing where no arm has its workers placed."""
    if not any(arm.place for arm in comparison.arms):
        return {}
    return {
        "placement": {
            "said": placement.explained(comparison.arms, cases, records, changes),
            "layouts": placement.layouts(comparison.arms, records),
            "table": placement.table(comparison.arms, cases),
        }
    }


def assemble(
    comparison: Comparison,
    records: Sequence[Record],
    name: str,
    min_effect: float = 0.03,
    confidence: float = 0.95,
    refuse_unlike: bool = True,
    line_rate_gbps: Optional[float] = None,
    place_changes: Sequence[str] = (),
    looks: Sequence[int] = (),
    decided: Optional[Mapping[Tuple[str, str], Dict[str, Any]]] = None,
) -> Dict[str, Any]:
    """Return the comparison's results, as docs/schemas/comparison-1.json describes them.

    place_changes is what else was changed whenever the workers were placed otherwise, in words; looks are the numbers of good runs
    at which there were verdicts before; decided are the verdicts of earlier looks that stay, by case and arm, where rounds are added
    until everything is decided.
    """
    limits: Dict[str, Any] = {"min_effect": min_effect, "confidence": confidence, "refuse_unlike": refuse_unlike}
    limits["numbers"] = {run.key: number for number, run in enumerate(plan(comparison), 1)}
    limits["expected"] = (INTERFACES,) if place_changes else ()
    mine = [record for record in records if record.get("case")]
    planned = plan(comparison)
    good = {key_of(record) for record in mine if record["outcome"] == "ok"}
    done = sum(run.key in good for run in planned)
    seen = [*(count for count in looks if count < done), done]
    limits["look"] = len(seen)
    cases = [_case(comparison, case, mine, limits) for case in comparison.cases]
    limits["decided"] = decided or {}
    limits["control"] = comparison.control.name if comparison.control else None
    _judged(cases, comparison.baseline, limits)
    found = {
        "schema": SCHEMA,
        "name": name,
        "lab": any(record["lab"] for record in mine),
        "complete": done == len(planned),
        "confidence": confidence,
        "min_effect": min_effect,
        "planned": len(planned),
        "done": done,
        "looks": seen,
        "failed": sum(record["outcome"] != "ok" for record in mine),
        "started": min((record["time"] for record in mine), default=None),
        "ended": max((record["time"] for record in mine), default=None),
        "baseline": comparison.baseline,
        "arms": [_shown(arm, mine) for arm in comparison.arms],
        "unlike": [sentence for case in cases for sentence in case["unlike"]],
        "cases": cases,
        "scaling": scaling(cases),
        "bus_bandwidth": bus_bandwidth(cases, line_rate_gbps, mine),
        "failures": [_failure(record) for record in mine if record["outcome"] != "ok"],
        "systems": _systems(mine),
        "regression": None,
    }
    found.update(_placement(comparison, cases, mine, place_changes))
    if comparison.control:
        found["control"] = comparison.control.name
    return dict(found, question=question(found), sentence=sentence(found))

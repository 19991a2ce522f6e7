# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Group the runs of a comparison by the place that they need."""

import itertools
from typing import Any, Container, Dict, List, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import Run, plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison
from ansible_collections.taco.train.plugins.plugin_utils.run.abandoned import setting
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS


def counted(runs: Sequence[Run], arms: Mapping[str, Arm]) -> Dict[str, Run]:
    """For each arm whose path the counters of the hosts can prove, its first run over several hosts that counts."""
    found: Dict[str, Run] = {}
    for run in runs:
        arm, provable = arms[run.arm], WORKLOADS[run.case.workload].sent is not None
        if provable and arm.plugin != "keep" and not arm.lossy and not run.warmup and len(run.case.hosts) > 1:
            found.setdefault(run.arm, run)
    return found


def _label(run: Run, number: int, count: int) -> str:
    shape = run.case.id.split("/")
    name = run.case.name or (shape[1] if shape[1] != "-" else shape[0])
    label = f"{run.arm}, {name} on {shape[2]}, run {number} of {count}"
    return label + (" (warm-up)" if run.warmup else "")


def steps(runs: Sequence[Run], everything: Sequence[Run], arms: Mapping[str, Arm]) -> List[Dict[str, Any]]:
    """The runs that are left as the action benchmark takes them; everything is the whole plan, by which they are numbered."""
    number = {run.key: count for count, run in enumerate(everything, 1)}
    hosts = {run.case.id: [{"name": name, "slots": slots} for name, slots in run.case.hosts] for run in runs}
    documents = {name: arm.document() for name, arm in arms.items()}
    return [
        {
            "label": _label(run, number[run.key], len(everything)),
            "arm": documents[run.arm],
            "runs_left": len(runs) - place,
            "case": {"id": run.case.id, "repeat": run.round, "warmup": run.warmup},
            "hosts": hosts[run.case.id],
            "overrides": dict(run.case.options),
        }
        for place, run in enumerate(runs, 1)
    ]


def _segment_label(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]}, and {len(labels) - 1} more"


def segments(
    runs: Sequence[Run],
    arms: Mapping[str, Arm],
    labels: Sequence[str],
    witnesses: bool = True,
    counted_before: Container[str] = (),
) -> List[Dict[str, Any]]:
    """The runs in groups that need no visit of the hosts between them: in the same place, and without reads of counters.

    Small on purpose: every host evaluates the loop over them. first and end are places in the list of runs. A run between two reads of
    the counters is a segment: the counters don't tell which of several arms sent the bytes. Without witnesses no counters are read, nor
    are they for arms that were counted before.
    """
    first_runs = counted(runs, arms) if witnesses else {}
    alone = {run.key for arm, run in first_runs.items() if arm not in counted_before}
    found: List[Dict[str, Any]] = []
    first = 0
    for (place, key), together in itertools.groupby(
        runs, key=lambda run: (arms[run.arm].place, run.key if run.key in alone else None)
    ):
        group = list(together)
        end = first + len(group)
        found.append(
            {
                "label": _segment_label(labels[first:end]),
                "place": place,
                "counted": key is not None,
                "settings": list(dict.fromkeys(setting(run.case.id, run.arm) for run in group)),
                "first": first,
                "end": end,
            }
        )
        first = end
    return found


def remaining_runs(
    comparison: Comparison, runs: Sequence[Run], witnesses: bool, counted_before: Container[str] = ()
) -> Dict[str, Any]:
    """The remaining runs of a comparison and their segments, as the tasks of a role take them."""
    arms = {arm.name: arm for arm in comparison.arms}
    found = steps(runs, plan(comparison), arms)
    labels = [run["label"] for run in found]
    return {
        "runs": found,
        "segments": segments(runs, arms, labels, witnesses, counted_before),
        "auto": comparison.auto,
    }

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Group the runs of a comparison by the state of the hosts that they need, and decide which arms are not tried again."""

import itertools
from typing import Any, Container, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm, Commands
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import Run, plan
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

# An arm that failed so often in a row in a case would most likely fail again, each time at its time limit.
MOST_IN_A_ROW = 2


class HostState(NamedTuple):
    """What an arm needs on the hosts. All else of an arm is in the command of the run."""

    place: Optional[str]
    plugin: str
    horovod: str
    before: Commands
    after: Commands


def state_of(arm: Arm) -> HostState:
    return HostState(arm.place, arm.plugin, arm.horovod, arm.before, arm.after)


def counted(runs: Sequence[Run], arms: Mapping[str, Arm]) -> Dict[str, Run]:
    """For each arm whose path the counters of the hosts can prove, its first run over several hosts that counts."""
    found: Dict[str, Run] = {}
    for run in runs:
        arm, provable = arms[run.arm], WORKLOADS[run.case.workload].sent is not None
        if provable and arm.plugin != "keep" and not arm.lossy and not run.warmup and len(run.case.hosts) > 1:
            found.setdefault(run.arm, run)
    return found


def refuted(records: Sequence[Mapping[str, Any]]) -> Set[str]:
    """The arms of which a run took another path than they promise: so would the others."""
    paths = {record["arm"]: record["witnesses"]["path"]["verdict"] for record in records if record.get("witnesses")}
    return {arm for arm, verdict in paths.items() if verdict == "contradicted"}


def segments(runs: Sequence[Run], arms: Mapping[str, Arm]) -> List[List[Run]]:
    """Consecutive runs that need the same state of the hosts, in a list each. Commands of an arm are of each of its runs."""
    found: List[List[Run]] = []
    for state, group in itertools.groupby(runs, key=lambda run: state_of(arms[run.arm])):
        together = list(group)
        found += [[run] for run in together] if state.before or state.after else [together]
    return found


def setting(case: str, arm: str) -> str:
    """The name of an arm in a case."""
    return f"{case} {arm}"


def given_up(records: Sequence[Mapping[str, Any]]) -> List[str]:
    """The arms that failed too often in a row, each with its case. records are those since the comparison was planned."""
    in_a_row: Dict[str, int] = {}
    for record in records:
        if record.get("case"):
            name = setting(record["case"]["id"], record["arm"])
            in_a_row[name] = 0 if record["outcome"] == "ok" else in_a_row.get(name, 0) + 1
    return [name for name, failures in in_a_row.items() if failures >= MOST_IN_A_ROW]


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
    return labels[0] if len(labels) == 1 else f"{labels[0]}, and {len(labels) - 1} more on hosts in the same state"


def _parts(group: Sequence[Run], alone: Container[Tuple[str, str, int]]) -> List[List[Run]]:
    """A segment in parts, so that each of some runs has one of its own."""
    parts = itertools.groupby(group, key=lambda run: run.key if run.key in alone else None)
    return [list(part) for _key, part in parts]


def visits(
    runs: Sequence[Run], arms: Mapping[str, Arm], labels: Sequence[str], witnesses: bool = True
) -> List[Dict[str, Any]]:
    """The segments of the runs as the tasks that bring the hosts into their state take them.

    Small on purpose: every host evaluates the loop over them. first and end are places in the list of runs; the first run has the arm that
    the hosts are prepared for. A run between two reads of the counters is a segment: the counters don't tell which of several arms sent
    the bytes. Without witnesses no counters are read.
    """
    found: List[Dict[str, Any]] = []
    first = 0
    alone = {run.key for run in counted(runs, arms).values()} if witnesses else set()
    parts = [_parts(group, alone) for group in segments(runs, arms)]
    for group in itertools.chain.from_iterable(parts):
        arm, end = arms[group[0].arm], first + len(group)
        is_counted = group[0].key in alone
        # Where nothing is placed and no command runs, these tasks would be skipped on every host, one after the other.
        changed = arm.place or arm.before or arm.after
        found.append(
            {
                "label": _segment_label(labels[first:end]),
                "place": arm.place,
                "tasks": "changed" if changed else "counted" if is_counted else "plain",
                "counted": is_counted,
                "settings": list(dict.fromkeys(setting(run.case.id, run.arm) for run in group)),
                "first": first,
                "end": end,
            }
        )
        first = end
    return found


def remaining_runs(comparison: Comparison, runs: Sequence[Run], witnesses: bool) -> Dict[str, Any]:
    """The remaining runs of a comparison and their segments, as the tasks of a role take them."""
    arms = {arm.name: arm for arm in comparison.arms}
    found = steps(runs, plan(comparison), arms)
    labels = [run["label"] for run in found]
    return {
        "runs": found,
        "segments": visits(runs, arms, labels, witnesses),
        "auto": comparison.auto,
    }

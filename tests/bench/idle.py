# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long the GPUs are idle between two runs of a comparison. Values in, values out."""

import json
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from bench.figures import Target

PLAY = "playbooks/compare.yml"
PLUGIN = "/opt/libnccl-net.so"
MOST_SECONDS = 2.0
MOST_GROWTH = 1.3
# Arms that differ in variables of the ranks, and arms of which one hides the plugin from them.
SAME = [{"name": "one"}, {"name": "two", "env": {"ARM": "two"}}]
CHANGING = [{"name": "off", "plugin": "off"}, {"name": "on", "plugin": "on"}]
# Of four rounds of two arms, A B B A B A A B.
CHANGES = 5
VARIABLES = {
    "benchmark_workload": "command",
    "benchmark_options": {
        "command": ["sh", "-c", "sleep 0.2; echo value 100"],
        "mpi": False,
        "pattern": "value (?P<value>[0-9.]+)",
        "unit": "steps/s",
    },
    "benchmark_exec_prefix": [],
    "benchmark_plugin_path": PLUGIN,
    "benchmark_progress": False,
    "compare_repeats": 4,
    "compare_warmup_runs": 0,
    "compare_fresh": True,
}


class Idle(NamedTuple):
    """What is between two runs of a comparison on so many hosts: medians in seconds, and executions on a host for a change."""

    hosts: int
    same: float
    changing: float
    executions: float


def options(arms: Sequence[Dict[str, Any]], results: str) -> List[str]:
    """Return the arguments of ansible-playbook for a comparison of these arms."""
    return ["-e", json.dumps(dict(VARIABLES, compare_arms=arms, taco_results_dir=results))]


def gaps(records: Sequence[Dict[str, Any]]) -> List[Tuple[bool, float]]:
    """Return, for each two runs in a row, whether the arm changed, and the seconds from the end of one to the start of the other."""
    begun = [datetime.fromisoformat(one["time"].replace("Z", "+00:00")) for one in records]
    ended = [at + timedelta(seconds=one["duration_s"]) for at, one in zip(begun, records)]
    arms = [one["arm"] for one in records]
    return [
        (arms[place] != arms[place + 1], (begun[place + 1] - ended[place]).total_seconds())
        for place in range(len(records) - 1)
    ]


def measured(
    hosts: int, same: Sequence[Dict[str, Any]], changing: Sequence[Dict[str, Any]], executions: Tuple[float, float]
) -> Idle:
    """Return what the records of two comparisons say. executions are those on a host that starts no run, of one and the other."""
    return Idle(
        hosts,
        median(seconds for _changed, seconds in gaps(same)),
        median(seconds for changed, seconds in gaps(changing) if changed),
        (executions[1] - executions[0]) / CHANGES,
    )


def judged(found: Sequence[Idle]) -> List[Target]:
    """Return the targets with what was found, the fewest hosts first."""
    targets = [
        Target(
            "idle",
            f"seconds between two runs, {one.hosts} hosts",
            f"at most {MOST_SECONDS:g}",
            f"{one.same:.1f}",
            one.same <= MOST_SECONDS,
        )
        for one in found
    ]
    few, many = found[0], found[-1]
    grown = many.same / few.same
    name = f"seconds between two runs, {many.hosts} over {few.hosts} hosts"
    targets.append(Target("idle", name, f"at most {MOST_GROWTH:g}x", f"{grown:.2f}x", grown <= MOST_GROWTH))
    most = many.executions
    name = "remote executions per host for a change between two runs"
    return [*targets, Target("executions", name, "at most 0", f"{most:.1f}", most == 0)]


def rows(found: Sequence[Idle]) -> List[List[str]]:
    """Return a row of the table for each number of hosts."""
    return [[str(one.hosts), f"{one.same:.1f}", f"{one.changing:.1f}", f"{one.executions:.1f}"] for one in found]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was measured, and whether it is what was aimed at. Values in, values out."""

from typing import List, NamedTuple, Optional, Sequence

MOST_EXECUTIONS = 6
MOST_PLAN_EXECUTIONS = 6
# 1,000 hosts in 12 minutes, where there are enough hosts for the start of the command not to count.
MOST_PLAN_SECONDS = 0.72
MANY = 100
MOST_PLAN_MEMORY = 2 * 1024**3
MOST_OF_RAW = 2.0
LEAST_OF_STEPS = 4.0
FLAT = 0.15
PLAN_FLAT = 0.2


class Figure(NamedTuple):
    """What one competitor cost on so many hosts: medians of its repeats.

    few_wall and few_cpu are the seconds that each of the fewest hosts cost right before and after, None on the fewest.
    """

    key: str
    name: str
    hosts: int
    repeats: int
    wall: float
    walls: List[float]
    cpu: float
    executions: float
    memory: int
    few_wall: Optional[float] = None
    few_cpu: Optional[float] = None

    @property
    def wall_per_host(self) -> float:
        return self.wall / self.hosts

    @property
    def cpu_per_host(self) -> float:
        return self.cpu / self.hosts


class Target(NamedTuple):
    """What was aimed at, what was found, and whether that is enough."""

    key: str
    name: str
    expected: str
    found: str
    met: bool


def of(figures: Sequence[Figure], key: str, hosts: int) -> Optional[Figure]:
    """Return the figure of a competitor on so many hosts, None when it was not measured."""
    return next((one for one in figures if one.key == key and one.hosts == hosts), None)


def sizes(figures: Sequence[Figure]) -> List[int]:
    """Return the numbers of hosts, the smallest first."""
    return sorted({one.hosts for one in figures})


def ratio(one: Optional[Figure], other: Optional[Figure]) -> Optional[float]:
    """Return how many times the wall time of another one takes, None when one of them was not measured."""
    return one.wall / other.wall if one and other else None


def growth(figures: Sequence[Figure], key: str, of_what: str = "wall") -> Optional[float]:
    """Return by how many times the wall or cpu time per host grows from the fewest hosts to the most.

    The fewest are those that were measured right before and after, as the speed of a machine is another one an hour later.
    """
    last = of(figures, key, sizes(figures)[-1])
    few = last and getattr(last, f"few_{of_what}")
    return getattr(last, f"{of_what}_per_host") / few if few else None


def _executions(figures: Sequence[Figure], key: str = "a", limit: int = MOST_EXECUTIONS) -> List[Target]:
    measured = [one.executions for one in figures if one.key == key]
    if not measured:
        return []
    most = max(measured)
    name = f"remote executions per host of ({key})"
    return [Target("executions", name, f"at most {limit}", f"{most:.1f}", most <= limit)]


def _raw(figures: Sequence[Figure]) -> List[Target]:
    targets = []
    for hosts in sizes(figures):
        times = ratio(of(figures, "a", hosts), of(figures, "d", hosts))
        if times is not None:
            name = f"wall of (a) over (d), {hosts} hosts"
            targets.append(Target("raw", name, f"at most {MOST_OF_RAW:g}x", f"{times:.2f}x", times <= MOST_OF_RAW))
    return targets


def _steps(figures: Sequence[Figure]) -> List[Target]:
    targets = []
    for hosts in sizes(figures):
        times = ratio(of(figures, "b", hosts), of(figures, "a", hosts))
        if times is not None:
            name = f"wall of (b) over (a), {hosts} hosts"
            targets.append(
                Target("steps", name, f"at least {LEAST_OF_STEPS:g}x", f"{times:.2f}x", times >= LEAST_OF_STEPS)
            )
    return targets


def _flat(figures: Sequence[Figure], key: str = "a", limit: float = FLAT) -> List[Target]:
    times = growth(figures, key)
    if times is None:
        return []
    counts = sizes(figures)
    name = f"wall per host of ({key}), {counts[-1]} over {counts[0]} hosts"
    return [Target("flat", name, f"at most {1 + limit:g}x", f"{times:.2f}x", times <= 1 + limit)]


def _plan_cost(figures: Sequence[Figure]) -> List[Target]:
    targets = []
    for one in (figure for figure in figures if figure.key == "p"):
        if one.hosts >= MANY:
            name, limit = f"seconds of a plan of {one.hosts} hosts", one.hosts * MOST_PLAN_SECONDS
            targets.append(Target("seconds", name, f"at most {limit:.0f}", f"{one.wall:.0f}", one.wall <= limit))
        name, mib = f"memory of a plan of {one.hosts} hosts", one.memory / 1024**2
        limit = MOST_PLAN_MEMORY
        targets.append(Target("memory", name, f"at most {limit >> 20} MiB", f"{mib:.0f} MiB", one.memory <= limit))
    return targets


def plan_targets(figures: Sequence[Figure]) -> List[Target]:
    """The targets of plans, (p) of hosts that need no change and (q) of hosts that need one."""
    executions = [target for key in "pq" for target in _executions(figures, key, MOST_PLAN_EXECUTIONS)]
    return executions + _plan_cost(figures) + _flat(figures, "p", PLAN_FLAT)


def first_targets(figures: Sequence[Figure]) -> List[Target]:
    """The targets of the first run: no other way is faster."""
    targets = []
    for hosts in sizes(figures):
        for key in "bc":
            times = ratio(of(figures, key, hosts), of(figures, "a", hosts))
            if times is not None:
                name = f"wall of ({key}) over (a), {hosts} bare hosts"
                targets.append(Target("first", name, "at least 1x", f"{times:.2f}x", times >= 1))
    return targets


def targets_of(kind: str, figures: Sequence[Figure], between: Sequence[Target]) -> List[Target]:
    """The targets of a kind of the option --targets. between are those of the time between two runs."""
    if kind == "plan":
        return plan_targets(figures)
    if kind == "first":
        return first_targets(figures)
    targets = [*judged(figures), *between]
    return [one for one in targets if one.key == "executions"] if kind == "executions" else targets


def judged(figures: Sequence[Figure]) -> List[Target]:
    """Return the targets with what was found: all that the figures allow."""
    return _executions(figures) + _raw(figures) + _steps(figures) + _flat(figures)


def missed(targets: Sequence[Target]) -> List[Target]:
    """Return the targets that were missed."""
    return [one for one in targets if not one.met]

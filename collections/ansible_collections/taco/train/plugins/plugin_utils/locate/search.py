# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A search for what slows a fleet down: its hosts, its rounds of runs, its limits. It is kept as JSON, in locate.json."""

import math
from typing import Any, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.budget import Budget, Time
from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import Rates

SCHEMA = 1
LEAST_PEERS = 4
"""A host is compared with its peers: with fewer of them nothing tells whether it or they are slow."""
ALONE, PAIRS = "alone", "pairs"
"""The kinds of rounds: each host alone, or disjoint pairs, all at the same time."""


class SearchError(Exception):
    """A search can't begin; the text names the variable."""


class Run(NamedTuple):
    """One run of a round. Without a value it failed, for the reason given."""

    hosts: Tuple[str, ...]
    value: Optional[float] = None
    reason: Optional[str] = None
    seconds: float = 0.0
    done: bool = False
    busy: Mapping[str, float] = {}
    """The largest share of the time in which a connection of a host had data to send, by host, as far as counters show it."""


class Round(NamedTuple):
    """Runs at the same time, each over other hosts."""

    number: int
    kind: str
    runs: Tuple[Run, ...]

    @property
    def done(self) -> bool:
        return all(run.done for run in self.runs)

    @property
    def seconds(self) -> float:
        return max((run.seconds for run in self.runs), default=0.0)


class Search(NamedTuple):
    """Everything that a decision rests on."""

    hosts: Tuple[str, ...]
    hardware: Mapping[str, str] = {}
    """What makes hosts comparable, by host: hosts with different texts are not compared with each other."""
    boundaries: Mapping[str, Mapping[str, str]] = {}
    """The value of each boundary by host, such as rack -> host -> r1."""
    effect: float = 0.1
    rates: Rates = Rates()
    budget: Budget = Budget()
    alone: bool = True
    """Whether a run on one host says anything about this workload."""
    higher_is_better: bool = True
    expected: Optional[float] = None
    """The value that a run over two hosts should have, None where it isn't known."""
    rounds: Tuple[Round, ...] = ()
    suspects: Tuple[str, ...] = ()
    """The hosts that the counters of an earlier run named."""
    run_seconds: Optional[float] = None
    """The seconds of an earlier run over these hosts: the price of a round before the first one."""

    @property
    def time(self) -> Time:
        """The seconds of all rounds and the mean of one."""
        seconds = [one.seconds for one in self.rounds if one.done]
        return Time(sum(seconds), sum(seconds) / len(seconds) if seconds else None)

    @property
    def minutes_of_a_round(self) -> Optional[float]:
        """The price of one more round, None where no run tells it."""
        seconds = self.time.of_a_run or self.run_seconds
        return seconds / 60 if seconds else None

    def peers(self, host: str) -> List[str]:
        """The other hosts of like hardware."""
        like = self.hardware.get(host, "")
        return [other for other in self.hosts if other != host and self.hardware.get(other, "") == like]

    @property
    def comparable(self) -> List[str]:
        """The hosts with enough peers."""
        count: Dict[str, int] = {}
        for host in self.hosts:
            like = self.hardware.get(host, "")
            count[like] = count.get(like, 0) + 1
        return [host for host in self.hosts if count[self.hardware.get(host, "")] > LEAST_PEERS]

    def crossed(self, hosts: Sequence[str]) -> FrozenSet[str]:
        """The boundaries that a run over these hosts crosses."""
        return frozenset(
            name
            for name, values in self.boundaries.items()
            if len({values[host] for host in hosts if host in values}) > 1
        )


def begin(search: Search) -> Search:
    """The search, checked."""
    names = list(search.hosts)
    if len(set(names)) != len(names):
        raise SearchError("A host is named twice in benchmark_hosts: name each host once.")
    if not 0.005 <= search.effect < 0.9:
        raise SearchError(
            f"locate_effect is {search.effect:g}; it must be a share from 0.005 to 0.9, such as 0.1 for 10 %."
        )
    minutes, rounds = search.budget
    if minutes is not None and not (math.isfinite(minutes) and minutes > 0):
        raise SearchError(f"locate_budget_minutes is {minutes:g}; it must be more than 0.")
    if rounds is not None and rounds < 1:
        raise SearchError(f"locate_max_rounds is {rounds}; it must be 1 or more.")
    if search.expected is not None and not (math.isfinite(search.expected) and search.expected > 0):
        raise SearchError(f"locate_expected is {search.expected:g}; it must be more than 0.")
    if not names:
        raise SearchError("The search has no host: set benchmark_hosts, or taco_hosts to the hosts to compare.")
    for name, values in search.boundaries.items():
        strange = sorted(set(values) - set(names))
        if strange:
            raise SearchError(
                f"locate_boundaries names {strange[0]} in {name}, which is no host of the search: remove it."
            )
    return search


def recorded(search: Search, runs: Sequence[Run]) -> Search:
    """The search with results of its open round. Results of other runs are ignored."""
    current = search.rounds[-1]
    results = {frozenset(run.hosts): _measured(run) for run in runs}
    filled = tuple(
        results[frozenset(run.hosts)]._replace(done=True) if not run.done and frozenset(run.hosts) in results else run
        for run in current.runs
    )
    return search._replace(rounds=(*search.rounds[:-1], current._replace(runs=filled)))


def _measured(run: Run) -> Run:
    """The run, failed if its value is no number above 0: such a value has no ratio to others."""
    if run.value is None or (math.isfinite(run.value) and run.value > 0):
        return run
    return run._replace(value=None, reason=f"its value is {run.value:g}; expected a number above 0")


def open_runs(search: Search) -> List[Run]:
    """The runs of the last round without a result: a search that was killed goes on with them."""
    return [run for run in search.rounds[-1].runs if not run.done] if search.rounds else []


def as_json(search: Search) -> Dict[str, Any]:
    """The search as locate.json keeps it."""
    rounds = [
        {
            "number": one.number,
            "kind": one.kind,
            "runs": [dict(run._asdict(), hosts=list(run.hosts), busy=dict(run.busy)) for run in one.runs],
        }
        for one in search.rounds
    ]
    lists = {"hosts": list(search.hosts), "suspects": list(search.suspects), "rounds": rounds}
    limits = {"rates": search.rates._asdict(), "budget": search.budget._asdict()}
    return {"schema": SCHEMA, **search._asdict(), **lists, **limits}


def from_json(value: Mapping[str, Any]) -> Search:
    """The search that locate.json keeps."""
    rounds = tuple(
        Round(one["number"], one["kind"], tuple(Run(**dict(run, hosts=tuple(run["hosts"]))) for run in one["runs"]))
        for one in value["rounds"]
    )
    lists = {"hosts": tuple(value["hosts"]), "suspects": tuple(value["suspects"]), "rounds": rounds}
    limits = {"rates": Rates(**value["rates"]), "budget": Budget(**value["budget"])}
    return Search(**{name: part for name, part in {**value, **lists, **limits}.items() if name != "schema"})

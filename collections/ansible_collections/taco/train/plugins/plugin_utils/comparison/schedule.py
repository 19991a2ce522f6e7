# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put the runs of a comparison in an order in which a machine that slowly changes harms no arm more than another."""

from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import same_arm
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Case, Comparison


class Run(NamedTuple):
    """One execution. Rounds before the first measured one have negative numbers; their runs only warm the machine."""

    case: Case
    arm: str
    round: int

    @property
    def warmup(self) -> bool:
        return self.round < 0

    @property
    def key(self) -> Tuple[str, str, int]:
        return (self.case.id, self.arm, self.round)


def _by_place(comparison: Comparison) -> List[Run]:
    """Return all runs with those of one place together: it takes minutes to place the workers otherwise.

    Each round goes through all of it the other way around, so that two rounds meet in the same place.
    """
    places = list(dict.fromkeys(arm.place for arm in comparison.arms))
    once = [
        (case, arm.name)
        for place in places
        for case in comparison.cases
        for arm in comparison.arms
        if arm.place == place
    ]
    runs = []
    for turn, number in enumerate(range(-comparison.warmup_runs, comparison.repeats)):
        order = once if turn % 2 == 0 else once[::-1]
        runs += [Run(case, name, number) for case, name in order if number < comparison.rounds_of(case)]
    return runs


def plan(comparison: Comparison) -> List[Run]:
    """Return all runs, case by case; rounds go through the arms forwards, backwards, backwards, forwards, and again.

    A drift that is linear in time then adds the same to every arm over each two rounds. Were every other round backwards, the last arm
    of a round would always be the first of the next: noise that two neighbouring runs share would make neighbouring rounds alike, and
    the interval too narrow.
    """
    if len({arm.place for arm in comparison.arms}) > 1:
        return _by_place(comparison)
    names = [arm.name for arm in comparison.arms]
    runs = []
    for case in comparison.cases:
        for number in range(-comparison.warmup_runs, comparison.rounds_of(case)):
            order = names if number % 4 in (0, 3) else names[::-1]
            runs += [Run(case, name, number) for name in order]
    return runs


def key_of(record: Dict[str, Any]) -> Tuple[str, str, int]:
    """The key of a record's run in its comparison; a record of a single run has none."""
    case = record.get("case") or {}
    return (str(case.get("id")), str(record.get("arm")), int(case.get("repeat", 0)))


def remaining(comparison: Comparison, records: Sequence[Dict[str, Any]]) -> List[Run]:
    """Return the runs without a good record, in their order. A run that failed is one of them: it gave no number."""
    done = {key_of(record) for record in records if record.get("case") and record.get("outcome") == "ok"}
    return [run for run in plan(comparison) if run.key not in done]


def identity(comparison: Comparison) -> Dict[str, Any]:
    """What makes two comparisons the same one. Not the number of repeats: who raises it wants more of the same."""
    return {
        # What is None is as if it weren't there: it was added later.
        "arms": [
            {key: value for key, value in same_arm(arm._asdict()).items() if value is not None}
            for arm in comparison.arms
        ],
        "baseline": comparison.baseline,
        "cases": [[case.id, case.options, case.hosts] for case in comparison.cases],
        "warmup_runs": comparison.warmup_runs,
    }

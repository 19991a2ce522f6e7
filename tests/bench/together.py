# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Searches for faults that show only between, or within, groups of hosts that nobody declares."""

import random
from functools import partial
from statistics import median

from simulated_fleet import Fleet, GroupFleet, TrunkFleet, searched


def trunk(rng, size, noise):
    """A fleet with a slow network between its halves, and what the answer must be."""
    fleet = TrunkFleet(rng, size, noise)
    return fleet, ("groups", [set(fleet.hosts[: size // 2]), set(fleet.hosts[size // 2 :])])


def group(rng, size, noise):
    """A fleet in which a quarter of the hosts, three or more, is slow together."""
    place = rng.randrange(4) * (size // 4)
    names = Fleet(rng, size, noise).hosts[place : place + size // 4]
    return GroupFleet(rng, size, noise, names, 3), ("group", [set(names)])


def whole(rng, size, noise):
    """A fleet that is slow in runs over more than half of the hosts."""
    fleet = GroupFleet(rng, size, noise, Fleet(rng, size, noise).hosts, size // 2 + 1, 0.4)
    return fleet, ("undecided", [])


KINDS = {
    "slow between undeclared halves": trunk,
    "a quarter is slow together": group,
    "slow with more than half of the hosts": whole,
}


def outcome(effect, case):
    """Whether the answer is exact, whether a host is accused, and the rounds."""
    name, size, noise, seed = case
    fleet, (kind, groups) = KINDS[name](random.Random(f"together {case}"), size, noise)
    found = searched(fleet, effect)
    causes = [one for one in found.answer.findings if one.kind == kind and set(one.hosts) in groups]
    exact = (
        len(causes) == 1 == len(found.answer.findings) or kind == found.answer.kind == "undecided" and not found.accused
    )
    return exact, bool(found.accused), found.rounds


def rows(pool, trials, effect):
    """Rows of faults that show only in some groups of hosts."""
    for name in KINDS:
        for size in (16, 64):
            cases = [(name, size, 0.03, seed) for seed in range(trials)]
            outcomes = pool.map(partial(outcome, effect), cases, chunksize=5)
            exact, accused, rounds = zip(*outcomes)
            yield name, size, sum(exact) / trials, sum(accused) / trials, median(rounds)

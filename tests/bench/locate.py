# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Search simulated fleets for slow hosts, beside bisection by a threshold and pairs by a threshold, and print the rates.

Nothing is measured on this machine but the time of the searches: the fleets are simulated (tests/support/simulated_fleet.py).
"""

import argparse
import math
import random
import sys
import time
from statistics import median
from typing import NamedTuple

from simulated_fleet import Fleet, draw_faults, searched

SIZES, NOISES, COUNTS = (8, 16, 64), (0.01, 0.03, 0.05), (0, 1, 2, 3)
RANDOM_SIZES = (8, 16, 32, 64, 128)
# Of how many hosts at most one has a fault in the random fleets: where most pairs have a slow host, nothing tells which are normal.
HOSTS_OF_A_FAULT = 8
WAYS = ("sequential test", "bisection by threshold", "pairs by threshold")


class Tally(NamedTuple):
    """The outcomes of searches on fleets of one kind."""

    exact: float
    accused: float
    rounds: float


def fleets(seed, size, noise, count, least):
    """The same fleet for each way."""
    rng = random.Random(f"{seed} {size} {noise} {count} {least}")
    names = Fleet(rng, size, noise).hosts
    return Fleet(random.Random(rng.random()), size, noise, draw_faults(rng, names, count, least))


def by_sequential_test(fleet, effect):
    found = searched(fleet, effect)
    return found.accused, found.rounds


def ratio(fleet, hosts, level):
    """The value of a run against the level of its kind, as a logarithm."""
    return math.log(fleet.value(hosts) / len(hosts)) - level


def by_bisection(fleet, effect):
    """Halve the hosts, and go on with each half whose one run is below the threshold; a single host runs with one of a good half.

    The level of a healthy fleet is given, and nothing drifts.
    """
    limit, level = math.log(1 - effect / 2), math.log(100)
    accused, rounds, groups = set(), 0, [tuple(fleet.hosts)]
    fleet.level = 0.0
    while groups:
        rounds += 1
        inside = {host for group in groups for host in group}
        good = next((host for host in fleet.hosts if host not in inside), None)
        runs = {group: (*group, good) if len(group) == 1 and good else group for group in groups}
        slow = [group for group in groups if ratio(fleet, runs[group], level) < limit]
        accused |= {group[0] for group in slow if len(group) == 1}
        halves = [(group[: len(group) // 2], group[len(group) // 2 :]) for group in slow if len(group) > 1]
        groups = [half for pair in halves for half in pair]
    return accused, rounds


def by_pairs(fleet, effect):
    """Run all hosts in pairs, then each host of a slow pair with one of a good pair, once each."""
    limit = math.log(1 - effect / 2)
    pairs = list(zip(fleet.hosts[::2], fleet.hosts[1::2]))
    values = {pair: ratio(fleet, pair, 0.0) for pair in pairs}
    level = median(values.values())
    slow = [pair for pair in pairs if values[pair] - level < limit]
    good = [host for pair in pairs if pair not in slow for host in pair]
    suspects = [host for pair in slow for host in pair]
    accused = {
        host for host, other in zip(suspects, good * len(suspects)) if ratio(fleet, (host, other), level) < limit
    }
    return accused, 2 if slow else 1


METHODS = dict(zip(WAYS, (by_sequential_test, by_bisection, by_pairs)))


def tally(outcomes):
    """The shares of exact answers and of accused healthy hosts, and the median of the rounds."""
    exact = sum(accused == expected for accused, expected, _rounds in outcomes) / len(outcomes)
    wrong = sum(bool(accused - expected) for accused, expected, _rounds in outcomes) / len(outcomes)
    return Tally(exact, wrong, median(rounds for _accused, _expected, rounds in outcomes))


def tried(way, fleet, effect):
    accused, rounds = METHODS[way](fleet, effect)
    return set(accused), set(fleet.faults), rounds


def curves(trials, effect):
    """Rows of the operating curves: each size, noise and number of faults, by each way."""
    for size in SIZES:
        for noise in NOISES:
            for count in (one for one in COUNTS if one * HOSTS_OF_A_FAULT <= size):
                row = [
                    tally([tried(way, fleets(seed, size, noise, count, effect), effect) for seed in range(trials)])
                    for way in WAYS
                ]
                yield size, noise, count, row


def drawn(trials, faults, effect, sizes=RANDOM_SIZES):
    """The outcomes on random fleets: size, noise from 1 to 5 %, and 1 to 3 faults or none."""
    outcomes = []
    for seed in range(trials):
        rng = random.Random(f"drawn {seed} {faults}")
        size, noise = rng.choice(sizes), rng.uniform(0.01, 0.05)
        count = min(rng.randint(1, 3), size // HOSTS_OF_A_FAULT) if faults else 0
        outcomes.append(tried(WAYS[0], fleets(seed, size, noise, count, effect), effect))
    return outcomes


def target(name, expected, found, met):
    print(f"| {name:<52} | {expected:<13} | {found:>7} | {'met' if met else 'missed'} |", flush=True)
    return met


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100, help="fleets of each row of the curves; 0 leaves them out")
    parser.add_argument("--faults", type=int, default=200, help="random fleets with faults")
    parser.add_argument("--healthy", type=int, default=300, help="random fleets without")
    parser.add_argument("--effect", type=float, default=0.1, help="the least loss; faults are from it to 50 %%")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    if options.trials:
        print(f"Each cell: exact %, accused a healthy host %, median rounds, over {options.trials} fleets.")
        print("| hosts | noise | faults | " + " | ".join(f"{way:<22}" for way in WAYS) + " |")
        print("| ----: | ----: | -----: | " + " | ".join("-" * 22 for _way in WAYS) + " |")
    for size, noise, count, row in curves(options.trials, options.effect) if options.trials else ():
        cells = [f"{100 * one.exact:5.1f} {100 * one.accused:5.1f} {one.rounds:4.1f}" for one in row]
        print(
            f"| {size:>5} | {noise:>5.0%} | {count:>6} | " + " | ".join(f"{cell:<22}" for cell in cells) + " |",
            flush=True,
        )
    print(f"\n| {'target':<52} | {'expected':<13} | {'found':>7} | |")
    print(f"| {'-' * 52} | {'-' * 13} | {'-' * 7} | --- |")
    if not options.faults or not options.healthy:
        return 0
    faulty = tally(drawn(options.faults, True, options.effect))
    healthy = tally(drawn(options.healthy, False, options.effect))
    large = tally(drawn(max(20, options.faults // 4), True, options.effect, (64,)))
    met = [
        target(
            f"exact, {options.faults} random fleets with faults",
            "at least 95%",
            f"{faulty.exact:.1%}",
            faulty.exact >= 0.95,
        ),
        target(
            f"accused, {options.healthy} healthy noisy fleets",
            "at most 1%",
            f"{healthy.accused:.1%}",
            healthy.accused <= 0.01,
        ),
        target("median rounds at 64 hosts", "at most 4", f"{large.rounds:g}", large.rounds <= 4),
    ]
    print(f"\n{time.monotonic() - began:.0f} s. Simulated fleets, no measurement.")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

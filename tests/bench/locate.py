# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Search simulated fleets for slow hosts, beside bisection by a threshold and pairs by a threshold, and print the rates.

Nothing is measured on this machine but the time of the searches and of the counters: the fleets are simulated
(tests/support/simulated_fleet.py, simulated_counters.py).
"""

import argparse
import math
import multiprocessing
import random
import sys
import time
from functools import partial
from statistics import median
from typing import NamedTuple

from bench import witnesses
from simulated_fleet import Fleet, draw_faults, searched

SIZES, NOISES, COUNTS = (8, 16, 64), (0.01, 0.03, 0.05), (0, 1, 2, 3)
RANDOM_SIZES = (8, 16, 32, 64, 128)
LARGE_SIZES = (64, 128, 256, 512)
PROCESSES = 2
# Of how many hosts at most one has a fault in the random fleets: where most pairs have a slow host, nothing tells which are normal.
HOSTS_OF_A_FAULT = 8
WAYS = ("sequential test", "bisection by threshold", "pairs by threshold")


class Tally(NamedTuple):
    """The outcomes of searches on fleets of one kind: shares, the median of the rounds, and the limit of the share accused."""

    exact: float
    accused: float
    rounds: float
    limit: float = 1.0


def fleets(seed, size, noise, count, least):
    """The same fleet for each way."""
    rng = random.Random(f"{seed} {size} {noise} {count} {least}")
    names = Fleet(rng, size, noise).hosts
    return Fleet(random.Random(rng.random()), size, noise, draw_faults(rng, names, count, least))


def by_sequential_test(fleet, effect):
    """The accused hosts; anything else that is found is no fault of these fleets, and counts as one more host."""
    found = searched(fleet, effect)
    return found.accused | ({"another finding"} if found.other else set()), found.rounds


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
    limit = upper_limit(round(wrong * len(outcomes)), len(outcomes))
    return Tally(exact, wrong, median(rounds for _accused, _expected, rounds in outcomes), limit)


def upper_limit(count, size):
    """The largest share with which so few of so many occur in at least 5 % of all series (Clopper and Pearson)."""

    def chance(share):
        terms = (
            math.comb(size, number) * share**number * (1 - share) ** (size - number) for number in range(count + 1)
        )
        return sum(terms)

    low, high = 0.0, 1.0
    for _halving in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) >= 0.05 else (low, middle)
    return high


def tried(way, fleet, effect):
    accused, rounds = METHODS[way](fleet, effect)
    return set(accused), set(fleet.faults), rounds


def cell(effect, case):
    """The outcome of one fleet of the operating curves by one way."""
    way, seed, size, noise, count = case
    return tried(way, fleets(seed, size, noise, count, effect), effect)


def curves(pool, trials, effect):
    """Rows of the operating curves: each size, noise and number of faults, by each way."""
    for size in SIZES:
        for noise in NOISES:
            for count in (one for one in COUNTS if one * HOSTS_OF_A_FAULT <= size):
                cases = [(way, seed, size, noise, count) for way in WAYS for seed in range(trials)]
                outcomes = pool.map(partial(cell, effect), cases, chunksize=5)
                yield size, noise, count, [tally(outcomes[place * trials :][:trials]) for place in range(len(WAYS))]


def drawn_one(effect, faults, sizes, seed):
    """The outcome on a random fleet: size, noise from 1 to 5 %, and 1 to 3 faults or none."""
    rng = random.Random(f"drawn {seed} {faults}")
    size, noise = rng.choice(sizes), rng.uniform(0.01, 0.05)
    count = min(rng.randint(1, 3), size // HOSTS_OF_A_FAULT) if faults else 0
    return tried(WAYS[0], fleets(seed, size, noise, count, effect), effect)


def drawn(pool, trials, faults, effect, sizes=RANDOM_SIZES):
    """The outcomes on random fleets."""
    return tally(pool.map(partial(drawn_one, effect, faults, sizes), range(trials), chunksize=5))


def excess(seed):
    """By how many runs a search with a random budget, and runs of random lengths, exceeds it."""
    rng = random.Random(f"excess {seed}")
    minutes, rounds = rng.uniform(1, 30), rng.randint(1, 12)
    fleet = Fleet(rng, rng.choice(SIZES), 0.05, draw_faults(rng, Fleet(rng, 8, 0.05).hosts, 1))
    outcome = searched(fleet, rounds=rounds, minutes=minutes, seconds=lambda: rng.uniform(10, 300))
    if outcome.rounds > rounds:
        return outcome.rounds - rounds
    before, over = 0.0, 0
    for seconds in outcome.seconds:
        over += before > 60 * minutes
        before += seconds
    return over


def target(name, expected, found, met):
    print(f"| {name:<60} | {expected:<13} | {found:>7} | {'met' if met else 'missed'} |", flush=True)
    return met


def targets(pool, options):
    """Print each target of a search with what was found, and return whether all are met."""
    effect = options.effect
    faulty = drawn(pool, options.faults, True, effect)
    healthy = drawn(pool, options.healthy, False, effect)
    large = drawn(pool, options.large, False, effect, LARGE_SIZES)
    large_faulty = drawn(pool, options.large, True, effect, LARGE_SIZES)
    of_64 = drawn(pool, options.faults, True, effect, (64,))
    named = median(pool.map(witnesses.rounds_to_name, range(options.faults), chunksize=5))
    executions, cost = witnesses.executions(), witnesses.share_of_a_run()
    over = max(pool.map(excess, range(options.faults), chunksize=5))
    fleets_of = "fleets of 64 to 512 hosts"
    return all(
        [
            target(
                f"exact, {options.faults} random fleets with faults",
                "at least 99%",
                f"{faulty.exact:.1%}",
                faulty.exact >= 0.99,
            ),
            target(
                f"any finding, {options.healthy} healthy fleets (95 % limit {healthy.limit:.1%})",
                "at most 1%",
                f"{healthy.accused:.1%}",
                healthy.accused <= 0.01,
            ),
            target(
                f"median rounds, {options.healthy} healthy fleets",
                "at most 3",
                f"{healthy.rounds:g}",
                healthy.rounds <= 3,
            ),
            target(
                f"any finding, {options.large} healthy {fleets_of}",
                "at most 1%",
                f"{large.accused:.1%}",
                large.accused <= 0.01,
            ),
            target(
                f"accused, {options.large} {fleets_of} with faults",
                "at most 1%",
                f"{large_faulty.accused:.1%}",
                large_faulty.accused <= 0.01,
            ),
            target(
                f"median rounds, {options.faults} fleets of 64 hosts with faults",
                "at most 4",
                f"{of_64.rounds:g}",
                of_64.rounds <= 4,
            ),
            target(
                f"rounds to name it, median of {options.faults} single faults of 25 %",
                "at most 1",
                f"{named:g}",
                named <= 1,
            ),
            target("executions on a host for the counters of a run", "at most 2", f"{executions}", executions <= 2),
            target("CPU time of the counters, of a run of 60 s, measured", "at most 2%", f"{cost:.1%}", cost <= 0.02),
            target(f"runs beyond the budget, most of {options.faults} searches", "at most 1", f"{over:g}", over <= 1),
        ]
    )


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40, help="fleets of each row of the curves; 0 leaves them out")
    parser.add_argument("--faults", type=int, default=200, help="random fleets with faults; 0 leaves the targets out")
    parser.add_argument("--healthy", type=int, default=500, help="random fleets without")
    parser.add_argument("--large", type=int, default=100, help="large random fleets with faults, and without")
    parser.add_argument("--effect", type=float, default=0.1, help="the least loss; faults are from it to 50 %%")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        if options.trials:
            print(f"Each cell: exact %, accused a healthy host %, median rounds, over {options.trials} fleets.")
            print("| hosts | noise | faults | " + " | ".join(f"{way:<22}" for way in WAYS) + " |")
            print("| ----: | ----: | -----: | " + " | ".join("-" * 22 for _way in WAYS) + " |")
        for size, noise, count, row in curves(pool, options.trials, options.effect) if options.trials else ():
            cells = [f"{100 * one.exact:5.1f} {100 * one.accused:5.1f} {one.rounds:4.1f}" for one in row]
            print(
                f"| {size:>5} | {noise:>5.0%} | {count:>6} | " + " | ".join(f"{text:<22}" for text in cells) + " |",
                flush=True,
            )
        if not options.faults:
            return 0
        print(f"\n| {'target':<60} | {'expected':<13} | {'found':>7} | |")
        print(f"| {'-' * 60} | {'-' * 13} | {'-' * 7} | --- |")
        met = targets(pool, options)
    print(
        f"\n{time.monotonic() - began:.0f} s. Simulated fleets and counters; the CPU time of the counters is measured here."
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

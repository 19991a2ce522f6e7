# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Simulate comparisons whose truth is known, and count what is said about them: as pairs, and as unrelated samples.

    PYTHONPATH=tests:collections python -m simulated_comparisons [trials]

prints the tables of the guide; it takes some minutes. The tests in tests/property do the same with fewer trials.
"""

import functools
import math
import sys

import numpy as np
import unpaired

from ansible_collections.taco.train.plugins.plugin_utils.comparison import regression, schedule, statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import DEFAULT_REPEATS, read
from ansible_collections.taco.train.plugins.plugin_utils.comparison.verdict import Limits
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LOOKS

LEAST, CONFIDENCE, SHIFT = 0.03, 0.95, 0.05
LEVEL = 1 - CONFIDENCE
KINDS = ("quiet", "drift", "AR(1)", "step", "outliers")
NOISES = (0.01, 0.02, 0.03, 0.05)
DEFAULTS = {"workload": "horovod_synthetic", "model": "ResNet50", "batch_size": 64}
HOSTS = [{"name": "gpu1", "slots": 8}]


@functools.lru_cache
def places(repeats, alternating):
    """The positions of the baseline and the arm of each round in the order of the runs; alternating is the simplest order."""
    if alternating:
        return [(2 * turn, 2 * turn + 1) if turn % 2 == 0 else (2 * turn + 1, 2 * turn) for turn in range(repeats)]
    comparison = read({"arms": ["tcp", "taco"], "repeats": repeats, "warmup_runs": 0}, HOSTS, DEFAULTS)
    order = {(run.round, run.arm): place for place, run in enumerate(schedule.plan(comparison))}
    return [(order[turn, "tcp"], order[turn, "taco"]) for turn in range(repeats)]


def machine(rng, runs, noise, kind):
    """Return the logarithm of what each run in the order of time is off by."""
    off = rng.normal(0, noise, runs)
    if kind == "AR(1)":
        for place in range(1, runs):
            off[place] = 0.6 * off[place - 1] + 0.8 * off[place]
    if kind == "drift":
        off = off - SHIFT * np.arange(runs) / (runs - 1)
    if kind == "step":
        off = off - SHIFT * (np.arange(runs) >= rng.integers(1, runs))
    if kind == "outliers":
        off = off - 0.2 * (rng.random(runs) < 0.1)
    return off


def rounds(rng, truth, noise, kind="quiet", repeats=DEFAULT_REPEATS, alternating=False):
    """Return the values of the baseline and of an arm in each round."""
    off = machine(rng, 2 * repeats, noise, kind)
    order = places(repeats, alternating)
    return [math.exp(off[one]) for one, _two in order], [truth * math.exp(off[two]) for _one, two in order]


def evidence(baseline, arm):
    values = [dict(enumerate(one)) for one in (arm, baseline)]
    return statistics.evidence(statistics.log_ratios(*values), LEAST, CONFIDENCE)


def verdict(found, look=1):
    """Return the verdict on a comparison that is alone in its report."""
    return found.verdict if found.p / Limits(look=look).spent() < LEVEL else "inconclusive"


def paired_case(rng, truth, noise, kind, repeats=DEFAULT_REPEATS):
    found = evidence(*rounds(rng, truth, noise, kind, repeats))
    return found.low <= truth <= found.high, verdict(found)


def unpaired_case(rng, truth, noise, kind, repeats=DEFAULT_REPEATS):
    baseline, arm = rounds(rng, truth, noise, kind, repeats, alternating=True)
    low, high = unpaired.interval(arm, baseline, rng)
    return low <= truth <= high, unpaired.verdict(arm, baseline, low, high, LEAST)


def counted(case, trials, truth, noise, kind="quiet", seed=1):
    """Return the share of trials whose interval held the truth, and that of each verdict."""
    rng = np.random.default_rng(seed)
    found = [case(rng, truth, noise, kind) for _trial in range(trials)]
    said = [word for _held, word in found]
    return np.mean([held for held, _word in found]), lambda *words: np.mean([one in words for one in said])


def false_among_many(rng, cases=16, truth=1 + LEAST, noise=0.01):
    """Return whether any of many comparisons of a report, all at the border, is called better."""
    found = [evidence(*rounds(rng, truth, noise)) for _case in range(cases)]
    corrected = statistics.holm([one.p for one in found])
    return any(one.verdict == "better" and p / Limits().spent() < LEVEL for one, p in zip(found, corrected))


def looked_again(rng, truth, noise, looks=5, most=40):
    """Return the verdict of someone who adds the repeats that the report names until it is settled."""
    baseline, arm = rounds(rng, truth, noise)
    for look in range(1, looks + 1):
        found = verdict(evidence(baseline, arm), look)
        if found != "inconclusive" or look == looks:
            return found
        differences = [math.log(two / one) for one, two in zip(baseline, arm)]
        more, _chance = statistics.repeats_to_settle(differences, LEAST, LEVEL * Limits(look=look).spent(1))
        more_baseline, more_arm = rounds(rng, truth, noise, repeats=min(more or most, most))
        baseline, arm = baseline + more_baseline, arm + more_arm
    return found


def until_decided(rng, truth, noise, kind="quiet", cases=1):
    """Return the verdicts of a report whose cases get rounds until each is decided, and how many rounds each has."""
    values = [rounds(rng, truth, noise, kind, LOOKS[-1]) for _case in range(cases)]
    said, count = ["inconclusive"] * cases, [LOOKS[0]] * cases
    for look, most in enumerate(LOOKS, 1):
        count = [most if word == "inconclusive" else have for word, have in zip(said, count)]
        found = [evidence(base[:have], arm[:have]) for (base, arm), have in zip(values, count)]
        corrected = statistics.holm([one.p for one in found])
        now = [
            one.verdict if p / Limits(look=look).spent() < LEVEL else "inconclusive" for one, p in zip(found, corrected)
        ]
        said = [word if word != "inconclusive" else new for word, new in zip(said, now)]
        if "inconclusive" not in said:
            break
    return said, count


def false_until_decided(trials, truth, noise, words, kind="quiet", cases=1, seed=6):
    """Return the share of reports with any false verdict, and the mean number of rounds of a case."""
    rng = np.random.default_rng(seed)
    found = [until_decided(rng, truth, noise, kind, cases) for _trial in range(trials)]
    return np.mean([any(word in words for word in said) for said, _count in found]), np.mean([c for _said, c in found])


def after_the_named_repeats(rng, truth, noise):
    """Return the chance that an undecided comparison names for its further repeats, and whether they decided it; or None."""
    baseline, arm = rounds(rng, truth, noise)
    if verdict(evidence(baseline, arm)) != "inconclusive":
        return None
    differences = [math.log(two / one) for one, two in zip(baseline, arm)]
    more, chance = statistics.repeats_to_settle(differences, LEAST, LEVEL * Limits().spent(1))
    if more is None:
        return None
    added = rounds(rng, truth, noise, repeats=more)
    return chance, verdict(evidence(baseline + added[0], arm + added[1]), 2) != "inconclusive"


def days(rng, count, between, noise=0.01, repeats=DEFAULT_REPEATS):
    """Return the values of an arm on so many days, on which nothing changed."""
    return [np.exp(rng.normal(0, between) + rng.normal(0, noise, repeats)) for _day in range(count)]


def against_days(rng, earlier, between):
    now, *before = days(rng, earlier + 1, between)
    limits = regression.DayLimits(LEAST, CONFIDENCE)
    ((word, _p),) = regression.verdicts([regression.estimate(now, before, limits)], limits)
    return word


def against_a_day_by_1_0_0(rng, between):
    now, then = days(rng, 2, between)
    return unpaired.verdict(now, then, *unpaired.interval(now, then, rng), LEAST)


def false_verdicts(said, trials, seed=2):
    rng = np.random.default_rng(seed)
    return np.mean([said(rng) in ("better", "worse") for _trial in range(trials)])


def shares(values):
    return " ".join(f"{100 * value:6.1f}" for value in values)


def print_verdicts(trials):
    print(
        f"{DEFAULT_REPEATS} repeats of two arms, {trials} trials. In percent; first as pairs, then as unrelated samples."
    )
    print("kind      noise  interval holds    false at 1.00    border 1.03   better at 1.05   better at 1.10")
    for kind in KINDS:
        for noise in NOISES:
            columns = []
            for truth, words in (
                (1.0, ("better", "worse")),
                (1.03, ("better", "equivalent")),
                (1.05, ("better",)),
                (1.1, ("better",)),
            ):
                pair = [counted(case, trials, truth, noise, kind) for case in (paired_case, unpaired_case)]
                columns += [[held for held, _said in pair]] if not columns else []
                columns.append([said(*words) for _held, said in pair])
            print(f"{kind:9} {100 * noise:3.0f} %  " + "    ".join(shares(column) for column in columns), flush=True)


def print_corrections(trials):
    rng = np.random.default_rng(3)
    print(f"16 comparisons at the border, any better: {np.mean([false_among_many(rng) for _t in range(trials)]):.3f}")
    for truth in (1.0, 1.03):
        said = [looked_again(rng, truth, 0.03) for _trial in range(max(200, trials // 5))]
        wrong = np.mean([one in ("better", "worse") for one in said])
        print(f"looking again up to 5 times at {truth}: better or worse {wrong:.3f}")
    for noise in (0.01, 0.03):
        truths = rng.uniform(0.95, 1.15, trials)
        found = [one for one in (after_the_named_repeats(rng, truth, noise) for truth in truths) if one]
        kept = np.mean([kept for _chance, kept in found])
        print(f"named repeats at {noise:.0%}: named {np.mean([one for one, _k in found]):.2f}, settled {kept:.2f}")


def print_until_decided(trials):
    print("repeats auto: false at 1.00, false at 1.03, better at 1.05, better at 1.10, and the mean rounds of each")
    for kind in KINDS:
        for noise in NOISES:
            found = [
                false_until_decided(trials, truth, noise, words, kind)
                for truth, words in (
                    (1.0, ("better", "worse")),
                    (1.03, ("better", "equivalent")),
                    (1.05, ("better",)),
                    (1.1, ("better",)),
                )
            ]
            means = " ".join(f"{count:5.1f}" for _share, count in found)
            print(f"{kind:9} {100 * noise:3.0f} %  {shares(share for share, _count in found)}   {means}", flush=True)
    many, _count = false_until_decided(trials, 1.03, 0.01, ("better", "equivalent"), cases=16)
    print(f"16 cases at the border, any false: {many:.3f}")


def print_days(trials):
    print(
        "days: spread between days, false verdicts with 1, 2, 3, 5 earlier comparisons, and as unrelated samples with one"
    )
    for between in (0, 0.01, 0.02, 0.03, 0.05):
        said = [functools.partial(against_days, earlier=earlier, between=between) for earlier in (1, 2, 3, 5)]
        said.append(functools.partial(against_a_day_by_1_0_0, between=between))
        print(f"{100 * between:3.0f} %  " + shares(false_verdicts(one, trials) for one in said))


if __name__ == "__main__":
    for part in (print_days, print_corrections, print_until_decided, print_verdicts):
        part(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)

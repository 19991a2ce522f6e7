# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide between "slower by at least an effect" and "not slower" run by run, with stated error rates. Values in, values out.

The test is Wald's sequential probability ratio test. "Slower" is a mixture: by the least effect, or by a loss that is estimated from
the earlier runs only. By Ville's inequality the chance that the ratio of a healthy host ever exceeds 1 / rate is at most the rate,
whenever the search stops.
"""

import math
from statistics import median
from typing import List, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise

# The largest loss that the first run of a host may show, as a logarithm, and the share of runs for which a loss stays unknown.
LARGEST = 1.2
UNKNOWN = 0.2
# Larger ratios decide nothing more, and overflow.
MOST_OF_A_RATIO = 100.0


class Rates(NamedTuple):
    """Stated error rates: of accusing a healthy host in the whole search, and of missing a host with the least effect."""

    false_accusation: float = 0.01
    miss: float = 0.05


class Observation(NamedTuple):
    """The logarithm of the value of a run minus its level, with the densities of "not slower" and "slower by the least effect"."""

    residual: float
    noise: Noise
    least: float
    healthy: float
    slower: float

    @property
    def at_least(self) -> float:
        """An upper limit of the ratio of every loss from the least effect on."""
        best = self.noise.log_density(0.0) if self.residual < -self.least else self.slower
        return (best - self.healthy) / self.noise.inflation


class Evidence(NamedTuple):
    """Logarithms of likelihood ratios against "not slower".

    mixture is that of "slower"; largest is an upper limit over all losses from the least effect on. slow counts the runs that are nearer
    to the least effect than to none.
    """

    mixture: float = 0.0
    largest: float = 0.0
    runs: int = 0
    slow: int = 0


NO_EVIDENCE = Evidence()


def observation(residual: float, noise: Noise, effect: float) -> Observation:
    """A run for the test of an effect, which is a share such as 0.1."""
    least = -math.log(1 - effect)
    return Observation(residual, noise, least, noise.log_density(residual), noise.log_density(residual + least))


def _log_sum(one: float, other: float) -> float:
    """The logarithm of the mean of two ratios that are logarithms."""
    most = max(one, other)
    return most + math.log((math.exp(one - most) + math.exp(other - most)) / 2)


def _by_estimate(run: Observation, losses: Sequence[float]) -> float:
    """The ratio of a run for the loss that earlier runs show."""
    inside = run.residual + 2 * run.noise.scale > -LARGEST and run.residual < -run.least + 2 * run.noise.scale
    unknown = (1 if inside else 0.02) / (LARGEST - run.least)
    if losses:
        loss = max(run.least, median(losses))
        unknown = UNKNOWN * unknown + (1 - UNKNOWN) * math.exp(run.noise.log_density(run.residual + loss))
    return (math.log(unknown) - run.healthy) / run.noise.inflation


def combined(runs: Sequence[Observation]) -> Evidence:
    """The evidence of runs in the order of their rounds."""
    if not runs:
        return NO_EVIDENCE
    fixed = estimate = largest = 0.0
    losses: List[float] = []
    for run in runs:
        fixed += (run.slower - run.healthy) / run.noise.inflation
        estimate += _by_estimate(run, losses)
        largest += run.at_least
        losses.append(-run.residual)
    return Evidence(_log_sum(fixed, estimate), largest, len(runs), sum(run.residual < -run.least / 2 for run in runs))


def accuse_bound(rates: Rates, hypotheses: int) -> float:
    """The mixture from which one of so many hypotheses is accepted: Bonferroni over them."""
    return math.log(max(1, hypotheses) / rates.false_accusation)


def clear_bound(rates: Rates) -> float:
    """The largest ratio up to which a hypothesis is rejected."""
    return math.log(rates.miss)


def decided(evidence: Evidence, rates: Rates, hypotheses: int) -> Optional[bool]:
    """True: slower. False: not slower. None: more runs are needed."""
    if evidence.mixture >= accuse_bound(rates, hypotheses):
        return True
    return False if evidence.largest <= clear_bound(rates) else None


def all_cleared(evidence: Sequence[Evidence], rates: Rates) -> bool:
    """Whether none of several hosts is slower.

    The mean of their ratios is the ratio of "one of them is slower, each with the same chance". So the chance to miss a host is
    the rate for the mean of all hosts, and a single host needs no more runs because it was unlucky in one of them.
    """
    if any(not one.runs for one in evidence):
        return False
    ratios = [math.exp(min(one.largest, MOST_OF_A_RATIO)) for one in evidence]
    return sum(ratios) <= rates.miss * len(ratios)

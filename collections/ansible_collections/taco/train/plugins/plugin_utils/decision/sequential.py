# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide between "slower by at least an effect" and "not slower" run by run, with stated error rates. Values in, values out.

The test is Wald's sequential probability ratio test with a mixture over sizes of the effect. By Ville's inequality the chance that
the ratio of a healthy host ever exceeds 1 / rate is at most the rate, whenever the search stops.
"""

import math
from typing import NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import Noise

# Sizes of the effect in the mixture, in units of the least effect, as logarithms of ratios.
SIZES = (1.0, 1.6, 2.5, 4.0, 6.5)


class Rates(NamedTuple):
    """Stated error rates: of accusing a healthy host in the whole search, and of missing a host with the least effect."""

    false_accusation: float = 0.01
    miss: float = 0.05


class Evidence(NamedTuple):
    """Logarithms of likelihood ratios against "not slower".

    mixture is that of the mixture over the sizes, largest that of the size that fits best.
    """

    mixture: float = 0.0
    largest: float = 0.0
    runs: int = 0


NO_EVIDENCE = Evidence()


def sizes(effect: float) -> Sequence[float]:
    """The logarithms by which a value is lower, for a least effect as a share such as 0.1."""
    least = -math.log(1 - effect)
    return [factor * least for factor in SIZES]


def likelihoods(residual: float, noise: Noise, shifts: Sequence[float]) -> Sequence[float]:
    """The logarithms of the likelihood ratios of one run, for each size."""
    healthy = noise.log_density(residual)
    return [(noise.log_density(residual + shift) - healthy) / noise.inflation for shift in shifts]


def combined(of_runs: Sequence[Sequence[float]]) -> Evidence:
    """The evidence of runs, each with its likelihood ratios for each size."""
    if not of_runs:
        return NO_EVIDENCE
    sums = [sum(column) for column in zip(*of_runs)]
    largest = max(sums)
    mixture = largest + math.log(sum(math.exp(one - largest) for one in sums) / len(sums))
    return Evidence(mixture, largest, len(of_runs))


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

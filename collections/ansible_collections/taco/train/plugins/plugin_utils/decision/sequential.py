# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide between "slower by at least an effect" and "not slower" run by run, with stated error rates. Values in, values out.

The test is Wald's sequential probability ratio test. "Slower" is a mixture: by the least effect, or by a loss that is estimated from
the earlier runs only, or, in with_varying, by a loss that differs from run to run. By Ville's inequality the chance that the ratio of a
healthy host ever exceeds 1 / rate is at most the rate, whenever the search stops. The scale of the noise is uncertain, and the same in
all runs: the densities are means over it, but those of an unknown loss, which hardly depend on it.
"""

import math
from statistics import median
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import (
    OUTLIER_RANGE,
    Noise,
    log_density,
    log_sum,
)

# The largest loss that the first run of a host may show, as a logarithm, and the share of runs for which a loss stays unknown.
LARGEST = 1.2
UNKNOWN = 0.2
# Larger ratios decide nothing more, and overflow.
MOST_OF_A_RATIO = 100.0


class Rates(NamedTuple):
    """Stated error rates: of any false finding in the whole search, and of missing a host with the least effect."""

    false_accusation: float = 0.01
    miss: float = 0.05


class Observation(NamedTuple):
    """The logarithm of the value of a run minus its level, in whose noise a width of 1 is that of a run against a known level.

    healthy and slower are the logarithms of the densities of "not slower" and "slower by the least effect", by the scale of the noise;
    unknown is the density of "slower by any loss".
    """

    residual: float
    noise: Noise
    least: float
    width: float
    healthy: Tuple[float, ...]
    slower: Tuple[float, ...]
    unknown: float


class Evidence(NamedTuple):
    """Logarithms of likelihood ratios against "not slower".

    mixture is that of "slower"; largest is the largest one of a loss from the least effect on. slow counts the runs that are nearer to
    the least effect than to none.
    """

    mixture: float = 0.0
    largest: float = 0.0
    runs: int = 0
    slow: int = 0


NO_EVIDENCE = Evidence()


def observation(residual: float, noise: Noise, effect: float, width: float = 1.0) -> Observation:
    """A run for the test of an effect, which is a share such as 0.1."""
    least = -math.log(1 - effect)
    scales = [scale * width for scale, _chance in noise.scales]
    return Observation(
        residual,
        noise,
        least,
        width,
        tuple(log_density(residual, scale, noise.outliers) for scale in scales),
        tuple(log_density(residual + least, scale, noise.outliers) for scale in scales),
        _unknown(residual, least, noise.scale * width, noise.outliers),
    )


def _unknown(residual: float, least: float, scale: float, outliers: float) -> float:
    """The density of a run where each loss from the least one to the largest has the same chance."""
    within = math.erf((residual + LARGEST) / scale / math.sqrt(2)) - math.erf((residual + least) / scale / math.sqrt(2))
    return (1 - outliers) * max(0.0, within) / 2 / (LARGEST - least) + outliers / OUTLIER_RANGE


def _of_loss(run: Observation, loss: float) -> List[float]:
    """The logarithms of the densities of a loss, by the scale of the noise."""
    return [
        log_density(run.residual + loss, scale * run.width, run.noise.outliers) for scale, _chance in run.noise.scales
    ]


def _by_estimate(run: Observation, losses: Sequence[float]) -> List[float]:
    """The logarithms of the densities of the loss that earlier runs show."""
    if not losses:
        return [math.log(run.unknown)] * len(run.healthy)
    loss = max(run.least, median(losses))
    return [math.log(UNKNOWN * run.unknown + (1 - UNKNOWN) * math.exp(log)) for log in _of_loss(run, loss)]


def _density(noise: Noise, of_runs: Sequence[Sequence[float]]) -> float:
    """The logarithm of the density of all runs with this noise, whatever its scale is."""
    sums = map(sum, zip(*of_runs))
    return log_sum([chance + log / noise.inflation for (_scale, chance), log in zip(noise.scales, sums)])


def combined(runs: Sequence[Observation]) -> Evidence:
    """The evidence of runs in the order of their rounds."""
    if not runs:
        return NO_EVIDENCE
    losses = [-run.residual for run in runs]
    most = max(runs[0].least, median(losses))
    groups: Dict[Noise, List[int]] = {}
    for place, run in enumerate(runs):
        groups.setdefault(run.noise, []).append(place)
    fixed = estimate = largest = 0.0
    for noise, places in groups.items():
        healthy = _density(noise, [runs[place].healthy for place in places])
        slower = _density(noise, [runs[place].slower for place in places]) - healthy
        fixed += slower
        estimate += _density(noise, [_by_estimate(runs[place], losses[:place]) for place in places]) - healthy
        larger = most > runs[0].least
        largest += _density(noise, [_of_loss(runs[place], most) for place in places]) - healthy if larger else slower
    mixture = log_sum([fixed, estimate]) - math.log(2)
    return Evidence(mixture, max(fixed, largest), len(runs), sum(run.residual < -run.least / 2 for run in runs))


def with_varying(runs: Sequence[Observation]) -> Evidence:
    """The evidence of one or more runs with the same noise, whose loss is the same in all runs or differs from run to run."""
    found = combined(runs)
    ratio = sum(math.log(run.unknown) for run in runs) - _density(runs[0].noise, [run.healthy for run in runs])
    return found._replace(mixture=log_sum([found.mixture, ratio]) - math.log(2))


def accuse_bound(rate: float, hypotheses: float) -> float:
    """The mixture from which one of so many hypotheses is accepted, of which any is false with this rate: Bonferroni over them."""
    return math.log(max(1.0, hypotheses) / rate)


def clear_bound(rates: Rates) -> float:
    """The largest ratio up to which a hypothesis is rejected."""
    return math.log(rates.miss)


def decided(evidence: Evidence, accept: float, reject: float) -> Optional[bool]:
    """True: slower. False: not slower. None: more runs are needed."""
    if evidence.mixture >= accept:
        return True
    return False if evidence.runs and evidence.largest <= reject else None


def all_cleared(evidence: Sequence[Evidence], rates: Rates) -> bool:
    """Whether none of several hosts is slower.

    The mean of their ratios is the ratio of "one of them is slower, each with the same chance". So the chance to miss a host is
    the rate for the mean of all hosts, and a single host needs no more runs because it was unlucky in one of them.
    """
    if any(not one.runs for one in evidence):
        return False
    ratios = [math.exp(min(one.largest, MOST_OF_A_RATIO)) for one in evidence]
    return sum(ratios) <= rates.miss * len(ratios)

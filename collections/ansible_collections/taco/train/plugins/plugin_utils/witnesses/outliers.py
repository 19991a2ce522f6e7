# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hosts that stand out from their peers by more than noise explains. Values in, values out.

Each host is compared with the median of the others, in units of their median absolute deviation. The scale is estimated from few hosts
and the noise has heavy tails, so the limit is that of Student's t with few degrees of freedom, and with a prior scale for each measure.
The rate of false names holds for all hosts and measures together.
"""

import math
from statistics import median
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.noise import EFFICIENCY, OF_MAD
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.shares import busy, nic_total, retransmits

FALSE_NAMES = 0.01
"""The chance that any healthy host of a run is named."""
LEAST_HOSTS = 5
"""With fewer hosts nothing tells whether a host or its peers are unusual."""
PRIOR_FREEDOM = 2.5
MOST_FREEDOM = 5.0
# Of peers: where most of them are the same, this part of them tells the spread better than the middle one.
OUTER, OF_OUTER = 0.8, 1 / 1.2816
LEAST_SECONDS = 1.0

CounterDelta = Mapping[str, Any]


class Measure(NamedTuple):
    """A number of a host; a higher one is worse."""

    name: str
    text: str
    value: Callable[[CounterDelta], Optional[float]]
    scale: float
    """The usual spread between healthy hosts, as a prior."""
    least: float
    """The least difference from the peers that matters."""
    percent: bool = True


class Outlier(NamedTuple):
    """A host that stands out; without peers for what no healthy host has."""

    host: str
    measure: str
    value: float
    peers: Optional[float]
    text: str


def _per_second(delta: CounterDelta, number: Optional[float]) -> Optional[float]:
    seconds = delta.get("seconds")
    return number / seconds if number is not None and seconds and seconds >= LEAST_SECONDS else None


def slow_clock(delta: CounterDelta) -> Optional[float]:
    """By how much the slowest GPU under load is below its highest clock, as a share."""
    gpus = (delta.get("gpus") or {}).values()
    shares = [
        1 - gpu["clock"] / gpu["clock_max"] for gpu in gpus if gpu.get("clock") is not None and gpu.get("clock_max")
    ]
    return max(shares) if shares else None


def hottest(delta: CounterDelta) -> Optional[float]:
    """The temperature of the hottest GPU."""
    values = [gpu["temperature"] for gpu in (delta.get("gpus") or {}).values() if "temperature" in gpu]
    return float(max(values)) if values else None


MEASURES = (
    Measure("retransmits", "of its TCP segments were sent again", retransmits, 0.0005, 0.005),
    Measure("busy", "of the time its busiest connection to a peer had data to send", busy, 0.025, 0.2),
    Measure(
        "drops",
        "packets a second were dropped or damaged",
        lambda delta: _per_second(delta, nic_total(delta, "drops", "errors")),
        5.0,
        50.0,
        False,
    ),
    Measure("steal", "of its CPU time was taken by the hypervisor", lambda delta: delta.get("steal"), 0.003, 0.03),
    Measure(
        "throttled",
        "of the time a CPU quota stopped the container",
        lambda delta: _per_second(delta, delta.get("throttled_seconds")),
        0.005,
        0.05,
    ),
    Measure("clock", "below its highest clock was the slowest GPU", slow_clock, 0.015, 0.1),
    Measure("temperature", "degrees Celsius had the hottest GPU", hottest, 3.0, 15.0, False),
)


def limit(values: Sequence[float], measure: Measure, tests: int) -> float:
    """The difference from the median of these values of peers above which a host is named."""
    middle = median(values)
    weight = EFFICIENCY * (len(values) - 1)
    distances = sorted(abs(value - middle) for value in values)
    spread = max(OF_MAD * median(distances), OF_OUTER * distances[int(OUTER * (len(distances) - 1))])
    variance = (PRIOR_FREEDOM * measure.scale**2 + weight * spread**2) / (PRIOR_FREEDOM + weight)
    # The median of the peers is uncertain as well.
    scale = math.sqrt(variance * (1 + math.pi / (2 * len(values))))
    return max(measure.least, scale * quantile(min(MOST_FREEDOM, PRIOR_FREEDOM + weight), FALSE_NAMES / tests))


def quantile(freedom: float, tail: float) -> float:
    """The value that Student's t exceeds with at most this small chance: the density is below its power law."""
    norm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    log_tail = norm + (freedom + 1) / 2 * math.log(freedom) - math.log(freedom) - math.log(tail)
    return math.exp(log_tail / freedom)


def _shown(value: float, percent: bool) -> str:
    return f"{100 * value:.3g} %" if percent else f"{value:.3g}"


def compared(deltas: Mapping[str, Optional[CounterDelta]]) -> List[Outlier]:
    """The hosts that differ from their peers, the largest difference first."""
    found = []
    for measure in MEASURES:
        values: Dict[str, float] = {}
        for host, one in deltas.items():
            number = measure.value(one) if one else None
            if number is not None:
                values[host] = number
        if len(values) < LEAST_HOSTS:
            continue
        for host, number in values.items():
            others = [value for other, value in values.items() if other != host]
            middle, most = median(others), limit(others, measure, len(values) * len(MEASURES))
            if number - middle > most:
                shown, usual = _shown(number, measure.percent), _shown(middle, measure.percent)
                words = f"{host}: {shown} {measure.text}; of its peers {usual} (median)"
                found.append(((number - middle) / most, Outlier(host, measure.name, number, middle, words)))
    return [outlier for _size, outlier in sorted(found, key=lambda pair: -pair[0])]


def faults(deltas: Mapping[str, Optional[CounterDelta]]) -> List[Outlier]:
    """The hosts with what no healthy host has, whatever the others do."""
    found = []
    for host, one in deltas.items():
        for text in (one or {}).get("xids") or []:
            found.append(Outlier(host, "xid", 1.0, None, f"{host}: the kernel reported {text}"))
        for uuid, gpu in ((one or {}).get("gpus") or {}).items():
            if gpu.get("uncorrected"):
                errors = gpu["uncorrected"]
                found.append(
                    Outlier(
                        host, "ecc", float(errors), None, f"{host}: {errors} new uncorrected memory errors of {uuid}"
                    )
                )
            reasons = [reason for reason in gpu.get("reasons") or [] if reason.startswith(("hardware", "power brake"))]
            if reasons:
                found.append(
                    Outlier(host, "slowdown", 1.0, None, f"{host}: {uuid} was slowed down: {', '.join(reasons)}")
                )
    return found


def outliers(deltas: Mapping[str, Optional[CounterDelta]]) -> List[Outlier]:
    """All hosts that stand out, certain faults first."""
    return [*faults(deltas), *compared(deltas)]


def too_few(deltas: Mapping[str, Optional[CounterDelta]]) -> Optional[str]:
    """Why no host is compared with its peers, None where hosts are compared."""
    known = sum(one is not None for one in deltas.values())
    if known >= LEAST_HOSTS:
        return None
    return f"too few hosts to compare them with each other: {known} with counters, {LEAST_HOSTS} are needed"

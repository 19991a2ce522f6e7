# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much the iterations of one run differ: percentiles, stalls and step times. Values in, values out.

The value of a run is one number; a reader must also see whether the run was steady.
"""

from statistics import median
from typing import Any, Mapping, Sequence

STALL = 1.5
"""An iteration that took this many times the median time is a stall."""
PERCENTILES = (5, 50, 95)
LEAST = 2
# Units of which the time of a step follows.
IMAGES, STEPS = "images/s", "steps/s"


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile from 0 to 100, interpolated between the two nearest values."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def spread(
    running_mean: bool, result: Mapping[str, Any], parameters: Mapping[str, Any], ranks: int
) -> dict[str, Any] | None:
    """Return how the elements of the series of a good run differ, in the unit of its value.

    None for a workload without iterations, and for one whose elements are running means: those say nothing about a single step.
    """
    series = [value for value in result["series"] if value > 0]
    if running_mean or len(series) < LEAST:
        return None
    found: dict[str, Any] = {"count": len(series), "low": min(series), "high": max(series)}
    found.update((f"p{share}", percentile(series, share)) for share in PERCENTILES)
    found["stalls"] = len(stalls(series, result["higher_is_better"]))
    found["step_time"] = step_times(series, result["unit"], parameters, ranks)
    return found


def stalls(series: Sequence[float], higher_is_better: bool) -> list[int]:
    """Return the places of the iterations that took at least STALL times the median time."""
    middle = median(series)
    if higher_is_better:
        return [place for place, value in enumerate(series) if value * STALL <= middle]
    return [place for place, value in enumerate(series) if value >= STALL * middle]


def step_times(
    series: Sequence[float], unit: str, parameters: Mapping[str, Any], ranks: int
) -> dict[str, float] | None:
    """Return percentiles of the seconds of a step, where they follow from the unit; each element is a mean over its steps."""
    batch_size = parameters.get("batch_size")
    images = batch_size * ranks if unit == IMAGES and batch_size else 1 if unit == STEPS else None
    if not images:
        return None
    seconds = [images / value for value in series]
    return {"p50": median(seconds), "p95": percentile(seconds, 95), "max": max(seconds)}

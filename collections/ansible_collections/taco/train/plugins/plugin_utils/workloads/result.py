# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every parser of a benchmark's output returns, and the small things that they share.

The text comes from many processes through mpirun and perhaps through a log cut in two, so no parser raises: whatever
makes the numbers unfit for use becomes a sentence in `problems`.
"""

import math
from statistics import median
from typing import Any, Iterable

from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_log

# Arithmetic on printed tenths leaves digits that were never measured. Significant digits: a time can be a millionth of a second.
DIGITS = 12

Result = dict[str, Any]
"""As the function result describes it."""


def finite(text: Any) -> float | None:
    """Return a printed number, or None for one that JSON and arithmetic have no use for."""
    try:
        number = float(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def middle(numbers: Iterable[float | None], factor: float = 1) -> float | None:
    """Return the median of what is a number, times a factor, or None of none. One stray iteration does not move it."""
    found = [number for number in numbers if number is not None]
    return finite(_rounded(median(found) * factor)) if found else None


def scaled(numbers: Iterable[float | None], factor: float | None = 1) -> list[float]:
    """Return the usable numbers times a factor; none without a factor."""
    return [_rounded(number * factor) for number in numbers if number is not None] if factor else []


def unusable(numbers: Iterable[float | None]) -> bool:
    """Return whether one of the numbers is missing or not above zero."""
    return any(number is None or number <= 0 for number in numbers)


def device_problems(expected: str | None, found: Iterable[str]) -> list[str]:
    """Return what is wrong with the devices that the ranks ran on."""
    if not expected or not set(found) - {expected}:
        return []
    return ["The benchmark ran on {} where {} was expected.".format(", ".join(sorted(found)), expected)]


def unfinished(line: str, what: str, count: int) -> str:
    """Return the problem of an output that ends before its last line."""
    reached = f"{what}s printed: {count}" if count else f"no {what} was printed"
    return f"There is no line '{line}': the run did not finish ({reached})."


def rank_problems(expected: Any, found: int | None) -> list[str]:
    """Return what is wrong with how many ranks took part. What nobody expects or nothing says is not looked at."""
    if expected is None or found is None or found == int(expected):
        return []
    return [f"{int(expected)} ranks were started and {found} took part."]


def result(
    lines: list[str],
    unit: str,
    problems: list[str],
    value: float | None = None,
    higher_is_better: bool = True,
    **found: Any,
) -> Result:
    """Return what a run's output says.

    model, batch_size, ranks and device are null where the output doesn't say them. iterations is what was printed for
    each iteration; series is the same in the quantity of value: the number, in unit and of the whole job, that the run
    is judged by, null as soon as there is a problem. per_device and total are {mean, ci} as printed, or null. network is
    what NCCL says it uses. details holds what only one workload has.
    """
    networks = nccl_log.networks(lines)
    problems = problems + nccl_log.problems(networks)
    if not problems and value is None:
        problems = ["The output holds no usable number."]
    answer: Result = {
        "model": None,
        "batch_size": None,
        "ranks": None,
        "device": None,
        "iterations": [],
        "per_device": None,
        "total": None,
        "series": [],
        "details": {},
    }
    answer.update(found)
    answer.update(
        unit=unit,
        higher_is_better=higher_is_better,
        network=nccl_log.joined(networks),
        problems=problems,
        value=None if problems else value,
    )
    return answer

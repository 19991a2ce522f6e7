# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The declaration of a workload: how it is built, how its output is read, and what its numbers are."""

from typing import Callable, Mapping, NamedTuple, Optional, Pattern, Sequence, Union

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import clean
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result, finite
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

# Without a batch size in the options of Horovod's and TensorFlow's scripts.
BATCH_SIZE = 256
TOTAL = "the last number that benchmark_options.total_pattern finds"

IterationOf = Callable[[str], Optional[float]]


class WorkloadKind(NamedTuple):
    """One workload, with everything that a report must know of its numbers."""

    summary: str
    """The workload in a sentence."""
    options: Mapping[str, Option]
    """The options that only some workloads have."""
    build: Callable[[Options, Sequence[int]], Workload]
    """build(options, slots) -> Workload; raises InvalidValueError."""
    parse: Callable[..., Result]
    """parse(text, expected_ranks=None, device="GPU", options=None) -> dict of parsed.result; never raises."""
    unit: str
    """The unit of the value, where the options don't set another."""
    value: str
    """What the value of a run is, in words. The page, the record and the verdict all use this one value."""
    subject: Callable[[Options], str]
    """subject(parameters) -> what was measured, in words."""
    needs: Callable[[Options], dict[str, str]]
    """needs(options) -> {variable: path} of what each worker of a run must have."""
    total: Optional[str] = None
    """What the value is instead where the option total_pattern is set, in words."""
    asked: str = "train faster"
    """What a comparison asks: does an arm ... than the baseline?"""
    higher_is_better: bool = True
    """Whether a higher value is better, where the options don't set another."""
    iteration: Optional[str] = "iteration"
    """What an element of the series is; None for a workload without iterations."""
    mpi: Optional[bool] = True
    """Whether mpirun starts it, once for each slot; None where the option `mpi` decides."""
    unread: Sequence[str] = ()
    """Options of all workloads that have no effect on this one."""
    running_mean: bool = False
    """Whether each element of the series is a mean over all steps so far, so that the elements are not independent."""
    iteration_of: Callable[[Options], Optional[IterationOf]] = lambda options: None
    """iteration_of(options) -> the function that finds the value of an iteration in a line; None without any in the output."""
    count_option: Optional[str] = None
    """The option with the number of iterations that a run prints, where one has it."""
    per_device: bool = False
    """Whether the value of an iteration is that of one device."""
    sent: Optional[Callable[[Options, Result, int], Optional[float]]] = None
    """sent(parameters, result, ranks) -> the bytes that each host of a good run must send to the others; None where nobody knows.
    Without it, the path of no run of the workload can be proved."""


def model_of(parameters: Options) -> str:
    """The model and its batch size, in words."""
    return f"{parameters.get('model')}, batch size {parameters.get('batch_size')}"


def value_of_line(pattern: Pattern[str], group: Union[int, str]) -> IterationOf:
    """The function that reads a group of a pattern as the value of an iteration."""

    def value(line: str) -> Optional[float]:
        match = pattern.match(clean(line).text)
        return finite(match.group(group)) if match else None

    return value

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The workloads by name: how each is built, how its output is read, and what its numbers are."""

from pathlib import PurePosixPath
from typing import Any, Callable, Dict, FrozenSet, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import (
    command,
    command_parser,
    horovod,
    horovod_parser,
    nccl_tests,
    nccl_tests_parser,
    tf_cnn,
    tf_cnn_parser,
    ttf,
    ttf_parser,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import SWITCHES, Options, Workload

MODEL = frozenset({"model", "batch_size"})
BATCH_SIZE = 256
TRAINING = MODEL | set(SWITCHES)

TOTAL = "the last number that benchmark_total_pattern finds"


class WorkloadKind(NamedTuple):
    """One workload, with everything that a report must know of its numbers."""

    build: Callable[[Options, Sequence[int]], Workload]
    """build(options, slots) -> Workload; raises WorkloadError."""
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
    running_mean: bool = False
    """Whether each element of the series is a mean over all steps so far, so that the elements are not independent."""
    reads: FrozenSet[str] = frozenset()
    """The options that it reads, of those in MODEL and in arm_options.OPTIONS."""
    batch_size: Optional[int] = None
    """The batch size where the options set none; None leaves it to the program."""


def _model(parameters: Options) -> str:
    return f"{parameters.get('model')}, batch size {parameters.get('batch_size')}"


def _collective(parameters: Options) -> str:
    chosen = {
        name: value if parameters.get(name) is None else parameters[name] for name, value in nccl_tests.DEFAULTS.items()
    }
    return f"{PurePosixPath(str(chosen['binary'])).name}, {chosen['min_bytes']} to {chosen['max_bytes']} bytes"


def _demo(parameters: Options) -> str:
    return f"TTF demo {parameters.get('demo') or ttf.DEMOS[0]}"


def _program(parameters: Options) -> str:
    return PurePosixPath(str((parameters.get("command") or ["command"])[0])).name


WORKLOADS = {
    "horovod_synthetic": WorkloadKind(
        horovod.build,
        horovod_parser.parse,
        horovod_parser.UNIT,
        "the median of the iterations, over all devices",
        _model,
        horovod.needs,
        reads=TRAINING,
        batch_size=BATCH_SIZE,
    ),
    "tf_cnn_benchmarks": WorkloadKind(
        tf_cnn.build,
        tf_cnn_parser.parse,
        tf_cnn_parser.UNIT,
        "the total that the script prints, over all steps and workers",
        _model,
        tf_cnn.needs,
        iteration="printed step",
        running_mean=True,
        reads=TRAINING,
        batch_size=BATCH_SIZE,
    ),
    "nccl_tests": WorkloadKind(
        nccl_tests.build,
        nccl_tests_parser.parse,
        nccl_tests_parser.UNIT,
        "the bus bandwidth at the largest message size",
        _collective,
        nccl_tests.needs,
        asked="transfer data faster",
        iteration=None,
    ),
    "ttf_dynamic_embedding": WorkloadKind(
        ttf.build,
        ttf_parser.parse,
        ttf_parser.UNIT,
        "the median of the printed speeds of the process",
        _demo,
        ttf.needs,
        TOTAL,
        iteration="interval",
        mpi=False,
        reads=frozenset({"batch_size", "is_dynamic", "dnn_layer_num", *SWITCHES}),
    ),
    "command": WorkloadKind(
        command.build,
        command_parser.parse,
        command_parser.UNIT,
        "the median of the numbers that benchmark_pattern finds",
        _program,
        lambda options: {},
        TOTAL,
        asked="run faster",
        mpi=None,
        reads=frozenset(SWITCHES),
    ),
}


def completed(options: Options) -> Dict[str, Any]:
    """Return the options of a run with the batch size of its workload where none is set, and without a model that it doesn't read."""
    found = dict(options)
    kind = WORKLOADS.get(str(found.get("workload")))
    if kind is None:
        return found
    found.update((name, None) for name in MODEL - kind.reads if name in found)
    if "batch_size" in kind.reads and found.get("batch_size") is None:
        found["batch_size"] = kind.batch_size
    return found

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The workloads by name: how each is built, how its output is read, and what its numbers are."""

from pathlib import PurePosixPath
from typing import Any, Callable, Dict, FrozenSet, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils import (
    parse_command,
    parse_horovod,
    parse_nccl_tests,
    parse_tf_cnn,
    parse_ttf,
    workload_command,
    workload_horovod,
    workload_nccl_tests,
    workload_tf_cnn,
    workload_ttf,
)
from ansible_collections.taco.train.plugins.plugin_utils.parsed import Result
from ansible_collections.taco.train.plugins.plugin_utils.workload import SWITCHES, Options, Workload

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
        name: value if parameters.get(name) is None else parameters[name]
        for name, value in workload_nccl_tests.DEFAULTS.items()
    }
    return f"{PurePosixPath(str(chosen['binary'])).name}, {chosen['min_bytes']} to {chosen['max_bytes']} bytes"


def _demo(parameters: Options) -> str:
    return f"TTF demo {parameters.get('demo') or workload_ttf.DEMOS[0]}"


def _program(parameters: Options) -> str:
    return PurePosixPath(str((parameters.get("command") or ["command"])[0])).name


WORKLOADS = {
    "horovod_synthetic": WorkloadKind(
        workload_horovod.build,
        parse_horovod.parse,
        parse_horovod.UNIT,
        "the median of the iterations, over all devices",
        _model,
        workload_horovod.needs,
        reads=TRAINING,
        batch_size=BATCH_SIZE,
    ),
    "tf_cnn_benchmarks": WorkloadKind(
        workload_tf_cnn.build,
        parse_tf_cnn.parse,
        parse_tf_cnn.UNIT,
        "the total that the script prints, over all steps and workers",
        _model,
        workload_tf_cnn.needs,
        iteration="printed step",
        running_mean=True,
        reads=TRAINING,
        batch_size=BATCH_SIZE,
    ),
    "nccl_tests": WorkloadKind(
        workload_nccl_tests.build,
        parse_nccl_tests.parse,
        parse_nccl_tests.UNIT,
        "the bus bandwidth at the largest message size",
        _collective,
        workload_nccl_tests.needs,
        asked="transfer data faster",
        iteration=None,
    ),
    "ttf_dynamic_embedding": WorkloadKind(
        workload_ttf.build,
        parse_ttf.parse,
        parse_ttf.UNIT,
        "the median of the printed speeds of the process",
        _demo,
        workload_ttf.needs,
        TOTAL,
        iteration="interval",
        mpi=False,
        reads=frozenset({"batch_size", "is_dynamic", "dnn_layer_num", *SWITCHES}),
    ),
    "command": WorkloadKind(
        workload_command.build,
        parse_command.parse,
        parse_command.UNIT,
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

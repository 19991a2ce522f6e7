# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The workloads by name: how each is built, how its output is read, and in which unit it is judged."""

from typing import Callable, NamedTuple, Sequence

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
from ansible_collections.taco.train.plugins.plugin_utils.workload import Options, Workload


class WorkloadKind(NamedTuple):
    """One workload."""

    build: Callable[[Options, Sequence[int]], Workload]
    """build(options, slots) -> Workload; raises WorkloadError."""
    parse: Callable[..., Result]
    """parse(text, expected_ranks=None, device="GPU", options=None) -> dict of parsed.result; never raises."""
    unit: str
    """The unit of the number, where the options don't say another."""


WORKLOADS = {
    "horovod_synthetic": WorkloadKind(workload_horovod.build, parse_horovod.parse, parse_horovod.UNIT),
    "tf_cnn_benchmarks": WorkloadKind(workload_tf_cnn.build, parse_tf_cnn.parse, parse_tf_cnn.UNIT),
    "nccl_tests": WorkloadKind(workload_nccl_tests.build, parse_nccl_tests.parse, parse_nccl_tests.UNIT),
    "ttf_dynamic_embedding": WorkloadKind(workload_ttf.build, parse_ttf.parse, parse_ttf.UNIT),
    "command": WorkloadKind(workload_command.build, parse_command.parse, parse_command.UNIT),
}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workloads by name. A workload is one file that declares it, and one line here."""

from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.plugin_utils.workloads import command, horovod, nccl_tests, tf_cnn, ttf
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import MODEL, IterationOf, WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options

WORKLOADS: Dict[str, WorkloadKind] = {
    "horovod_synthetic": horovod.WORKLOAD,
    "tf_cnn_benchmarks": tf_cnn.WORKLOAD,
    "nccl_tests": nccl_tests.WORKLOAD,
    "ttf_dynamic_embedding": ttf.WORKLOAD,
    "command": command.WORKLOAD,
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


def iteration_of(options: Options) -> Optional[IterationOf]:
    """The function that finds the value of an iteration in a line of a run, None for a run that prints nothing on its way."""
    return WORKLOADS[options["workload"]].iteration_of(options)


def count_of(options: Options) -> Optional[int]:
    """How many values a run prints, where that is known."""
    count = WORKLOADS[options["workload"]].count_option
    return options[count] if count else None


def unit_of(options: Options) -> str:
    """The unit of what a run prints for each iteration, which of Horovod is that of one device."""
    kind = WORKLOADS[options["workload"]]
    unit = options.get("unit") or kind.unit
    return f"{unit} per device" if kind.per_device else unit

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workloads by name. A workload is one file that declares it, and one line here."""

from typing import Any, Container, Dict, Iterable, Optional

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import command, horovod, nccl_tests, tf_cnn, ttf
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import IterationOf, WorkloadKind
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import COMMON, Option, with_defaults
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options

WORKLOADS: Dict[str, WorkloadKind] = {
    "horovod_synthetic": horovod.WORKLOAD,
    "tf_cnn_benchmarks": tf_cnn.WORKLOAD,
    "nccl_tests": nccl_tests.WORKLOAD,
    "ttf_dynamic_embedding": ttf.WORKLOAD,
    "command": command.WORKLOAD,
}


WORKLOAD = Option("str", "The workload.", "horovod_synthetic", tuple(sorted(WORKLOADS)))
# Every option of a run. Workloads that share an option share its type.
OPTIONS: Dict[str, Option] = {
    "workload": WORKLOAD,
    **COMMON,
    **{name: declared for kind in WORKLOADS.values() for name, declared in kind.options.items()},
}


def completed(options: Options) -> Dict[str, Any]:
    """Return the options of a run with the defaults of its workload, and null for the options of other workloads."""
    kind = WORKLOADS.get(str(options.get("workload")))
    if kind is None:
        return dict(options)
    foreign = {name: None for name in options if name in OPTIONS and not is_option(kind, name)}
    return dict(with_defaults(dict(kind.options), options), **foreign)


def is_option(kind: WorkloadKind, name: str) -> bool:
    return name == "workload" or name in COMMON or name in kind.options


def own_options(options: Options) -> Dict[str, Any]:
    """Return the options of a run that its workload has."""
    kind = WORKLOADS[options["workload"]]
    return {name: options[name] for name in OPTIONS if is_option(kind, name)}


def require_options(workload: Any, names: Iterable[str], variable: str, elsewhere: Container[str] = ()) -> None:
    """Raise for the first name that is no option of a workload. elsewhere are options that variable can't have."""
    kind = WORKLOADS.get(str(workload))
    for name in names if kind else ():
        if kind and (not is_option(kind, name) or name in elsewhere):
            raise InvalidValueError(
                f"{variable} has {name}, which is no option of workload {workload}; expected one of {', '.join(kind.options)}."
            )


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

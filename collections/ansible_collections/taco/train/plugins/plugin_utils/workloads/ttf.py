# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Turn the options of the workload `ttf_dynamic_embedding` into what is run: the demo of TTF, the vendor's TensorFlow.

The folders, scripts and arguments are those of the vendor's document (section TTF, Demo): `benchmark` compares dynamic
with static embedding in one process, `ps` and `estimator` are scripts that start what they need. None of them uses
mpirun.
"""

import posixpath
from typing import Sequence

from ansible_collections.taco.train.plugins.module_utils._acceleration.demo_dataset import FOLDER
from ansible_collections.taco.train.plugins.plugin_utils.workloads import pattern, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload, WorkloadError

DEMOS = ("benchmark", "ps", "estimator")
# The data set's cache holds batches of one size, so the document has it removed whenever the batch size changes.
CACHE = (".index", ".data-00000-of-00001")
ONE_PROCESS = (
    "The TTF demo runs on the launcher alone, without Horovod and NCCL: of an arm its environment and its options take part, "
    "without the variables of Horovod and LightCC; benchmark_lightcc and further hosts make no difference to it."
)
NO_ARGUMENTS = "The TTF demo {} has no argument for the batch size: benchmark_batch_size was left out."


def check(options: Options, demo: str) -> None:
    if demo not in DEMOS:
        raise WorkloadError(f"benchmark_demo is {demo!r}; it must be one of {', '.join(DEMOS)}.")
    workload.require_at_least(options, 1, "batch_size", "dnn_layer_num")
    if options.get("is_dynamic") not in (None, True, False):
        raise WorkloadError(f"benchmark_is_dynamic is {options['is_dynamic']!r}; it must be true or false.")
    if demo != "benchmark":
        given = [name for name in ("is_dynamic", "dnn_layer_num") if options.get(name) is not None]
        if given:
            raise WorkloadError(f"benchmark_{given[0]} is for benchmark_demo benchmark, and it is {demo}: unset it.")
    pattern.compiled(options, "pattern")


def command(options: Options, demo: str) -> list[str]:
    if demo != "benchmark":
        return ["bash", "start.sh", *workload.extra_args(options)]
    given = [(name, options.get(name)) for name in ("batch_size", "is_dynamic", "dnn_layer_num")]
    words = [f"--{name}={value}" for name, value in given if value is not None]
    return ["python", "train.py", *words, *workload.extra_args(options)]


def folder(options: Options) -> str:
    """The folder of the demo."""
    return posixpath.join(options.get("demo_dir") or FOLDER, options.get("demo") or DEMOS[0])


def needs(options: Options) -> dict[str, str]:
    """The folder of the demo, by the variable that names the folder of all demos."""
    return {"benchmark_demo_dir": folder(options)}


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options, or raise the first that can't be run. slots has no part in it."""
    demo = options.get("demo") or DEMOS[0]
    check(options, demo)
    env = {**workload.without_horovod(options["arm"]).env, **workload.switches(options), **(options.get("env") or {})}
    notes = [ONE_PROCESS]
    if demo != "benchmark" and options.get("batch_size") is not None:
        notes.append(NO_ARGUMENTS.format(demo))
    return Workload(
        workload.without_exports(env),
        {},
        command(options, demo),
        notes,
        mpi=False,
        chdir=folder(options),
        cleanup=CACHE if demo == "benchmark" else (),
    )

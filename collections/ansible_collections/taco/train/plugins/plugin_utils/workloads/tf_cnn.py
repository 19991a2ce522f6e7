# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Turn the options of the workload `tf_cnn_benchmarks` into environment, MCA parameters and command.

The flags are those of https://github.com/tensorflow/benchmarks, scripts/tf_cnn_benchmarks/benchmark_cnn.py.
"""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod import SCRIPT_DEFAULTS, SCRIPTS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import platform_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import name_of, required_sha256
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload, WorkloadError


def batches(options: Options) -> int:
    """Return how many batches are measured: as many as asked for, or those of all iterations."""
    if options.get("num_batches") is not None:
        return int(options["num_batches"])
    iterations = {name: SCRIPT_DEFAULTS[name] for name in ("num_iters", "num_batches_per_iter")}
    iterations.update((name, int(options[name])) for name in iterations if options.get(name) is not None)
    return iterations["num_iters"] * iterations["num_batches_per_iter"]


def check(options: Options) -> None:
    """Raise for options that are fit for another workload."""
    workload.require_words(options, "script", "model")
    required_sha256(options["script"], options.get("script_checksum"))
    workload.require_batch_size(options)
    workload.require_at_least(options, 1, "num_batches", "num_iters", "num_batches_per_iter")
    workload.require_at_least(options, 0, "num_warmup_batches")
    if name_of(options["script"]) in SCRIPTS.values():
        raise WorkloadError(
            f"benchmark_script is {options['script']}, the script of workload horovod_synthetic: set it to the path of "
            "tf_cnn_benchmarks.py."
        )
    if options["model"] != options["model"].lower():
        raise WorkloadError(
            f"benchmark_model is {options['model']}, and the models of tf_cnn_benchmarks are named in lower case: set it "
            f"to {options['model'].lower()}."
        )


def needs(options: Options) -> dict[str, str]:
    """The script, by the variable that names it."""
    return {"benchmark_script": str(options["script"])} if options.get("script") else {}


def command(options: Options) -> list[str]:
    words = [
        platform_of(options).tf_cnn_python,
        options["script"],
        f"--model={options['model']}",
        f"--batch_size={options['batch_size']}",
    ]
    words.append(f"--num_batches={batches(options)}")
    # Without it the script chooses a number of its own.
    warmup = options.get("num_warmup_batches")
    words.append(f"--num_warmup_batches={SCRIPT_DEFAULTS['num_warmup_batches'] if warmup is None else warmup}")
    words.append("--variable_update=horovod")
    if options.get("device", "GPU") == "CPU":
        # TensorFlow's kernels for CPUs don't have the layout that the script assumes.
        words += ["--device=cpu", "--data_format=NHWC"]
    return words + workload.extra_args(options)


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    check(options)
    mca = workload.mca_parameters(options)
    env = workload.environment(options, slots, workload.switches(options))
    return Workload(env, mca, command(options), workload.notes_of(env, options))

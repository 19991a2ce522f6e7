# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `horovod_synthetic` into environment, MCA parameters and command.

Horovod's three synthetic benchmarks take the same arguments and print the same lines (examples/tensorflow,
examples/tensorflow2 and examples/pytorch of https://github.com/horovod/horovod, v0.21.3). They differ in how models
are named: a class of Keras such as ResNet50, or a function of torchvision such as resnet50.
"""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import option, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod_log import ITERATION, UNIT, parse
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import (
    BATCH_SIZE,
    WorkloadKind,
    model_of,
    value_of_line,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import name_of, required_sha256
from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import of_training
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

SCRIPTS = {
    "tensorflow": "tensorflow_synthetic_benchmark.py",
    "tensorflow2": "tensorflow2_synthetic_benchmark.py",
    "pytorch": "pytorch_synthetic_benchmark.py",
}
# Where the vendor's images keep the script.
FOLDER = "/mnt"

OPTIONS = {
    "framework": Option(
        "str",
        "Which of Horovod's synthetic benchmarks to run. Not set means ``tensorflow``, or the framework of ``script``. Without a "
        "script, it selects the one in the vendor's images, such as ``/mnt/tensorflow_synthetic_benchmark.py``.",
        choices=tuple(SCRIPTS),
        words="framework",
    ),
    **option.SCRIPT,
    "model": Option("str", "The name of the model in the script.", "ResNet50"),
    **option.batch_size(BATCH_SIZE),
    **option.ITERATIONS,
    **option.TENSORFLOW,
    **option.EXTRA_ARGS,
}


def script_of(options: Options) -> str:
    """Return the path of the script: the one given, or that of the framework in the vendor's images."""
    framework = options.get("framework") or "tensorflow"
    if framework not in SCRIPTS:
        raise InvalidValueError(
            f"benchmark_options.framework is {framework!r}; it must be one of {', '.join(SCRIPTS)}."
        )
    if not options.get("script"):
        return f"{FOLDER}/{SCRIPTS[framework]}"
    workload.require_words(options, "script")
    return str(options["script"])


def batches(parameters: Options) -> int:
    """The batches of a run, with those before the first iteration."""
    counts = option.with_defaults(option.ITERATIONS, parameters)
    return int(counts["num_warmup_batches"]) + int(counts["num_iters"]) * int(counts["num_batches_per_iter"])


def needs(options: Options) -> dict[str, str]:
    """The script, by the variable that names it."""
    return {"benchmark_options.script": script_of(options)}


def framework_of(options: Options, script: str) -> str | None:
    """Return which framework a script is of, or None for one by another name."""
    names = {name: framework for framework, name in SCRIPTS.items()}
    return options.get("framework") or names.get(name_of(script))


def check_framework(framework: str | None, options: Options) -> None:
    """Raise for what the framework does not know, which its script would only say on every rank."""
    model = options["model"]
    if framework == "pytorch":
        if model != model.lower():
            raise InvalidValueError(
                f"benchmark_options.model is {model}, and PyTorch's models are named in lower case: set it to {model.lower()}."
            )
        on = [name for name in workload.SWITCHES if options.get(name)]
        if on:
            raise InvalidValueError(
                f"benchmark_options.{on[0]} is a switch of TensorFlow and the script is PyTorch's: unset it."
            )
    elif framework and model == model.lower():
        raise InvalidValueError(
            f"benchmark_options.model is {model}, and Keras names its models with capital letters, such as ResNet50 or VGG16."
        )


def command(options: Options, script: str) -> list[str]:
    words = ["python3", script, f"--model={options['model']}", f"--batch-size={options['batch_size']}"]
    # What the script assumes is on the command line only when it differs, as in the vendor's commands.
    for name, declared in option.ITERATIONS.items():
        value = options.get(name)
        if value not in (None, declared.default):
            words.append(f"--{name.replace('_', '-')}={value}")
    if options.get("device", "GPU") == "CPU":
        words.append("--no-cuda")
    return words + workload.extra_args(options)


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    workload.require_batch_size(options)
    workload.require_at_least(options, 1, "num_iters", "num_batches_per_iter")
    workload.require_at_least(options, 0, "num_warmup_batches")
    script = script_of(options)
    required_sha256(script, options.get("script_checksum"))
    workload.require_words(options, "model")
    check_framework(framework_of(options, script), options)
    mca = workload.mca_parameters(options)
    env = workload.environment(options, slots, workload.switches(options))
    return Workload(env, mca, command(options, script), workload.notes_of(env, options))


WORKLOAD = WorkloadKind(
    "Horovod's synthetic benchmark",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the median of the iterations, over all devices",
    model_of,
    needs,
    iteration_of=lambda options: value_of_line(ITERATION, 2),
    count_option="num_iters",
    per_device=True,
    sent=lambda options, result, ranks: of_training(options, result, ranks, batches(options), SCRIPTS.values()),
)

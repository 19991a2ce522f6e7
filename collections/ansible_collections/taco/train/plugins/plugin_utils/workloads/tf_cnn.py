# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `tf_cnn_benchmarks` into environment, MCA parameters and command.

The flags are those of https://github.com/tensorflow/benchmarks, scripts/tf_cnn_benchmarks/benchmark_cnn.py.

Read what tf_cnn_benchmarks prints with --variable_update=horovod.

The lines are those of https://github.com/tensorflow/benchmarks, scripts/tf_cnn_benchmarks/benchmark_cnn.py. Every rank
prints all of them. The speed in a step's line is that of one worker and a mean over all steps so far; the total is
already that of all workers, so totals are never added up.
"""

import re
from statistics import median
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import option, result, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod import SCRIPTS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import (
    BATCH_SIZE,
    WorkloadKind,
    model_of,
    value_of_line,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line, tagged_lines, values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import platform_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import Result, finite
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import name_of, required_sha256
from ansible_collections.taco.train.plugins.plugin_utils.workloads.traffic import of_training
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

SCRIPT = "tf_cnn_benchmarks.py"
OPTIONS = {
    **option.SCRIPT,
    "model": Option("str", "The name of the model in the script."),
    **option.batch_size(BATCH_SIZE),
    "num_batches": Option("int", "Number of measured batches. Not set means the batches of all iterations."),
    **option.ITERATIONS,
    **option.TENSORFLOW,
    **option.EXTRA_ARGS,
}


def batches(options: Options) -> int:
    """Return how many batches are measured: as many as asked for, or those of all iterations."""
    if options.get("num_batches") is not None:
        return int(options["num_batches"])
    iterations = option.with_defaults(option.ITERATIONS, options)
    return int(iterations["num_iters"]) * int(iterations["num_batches_per_iter"])


def check(options: Options) -> None:
    """Raise for options that are fit for another workload."""
    workload.require_words(options, "script", "model")
    required_sha256(options["script"], options.get("script_checksum"))
    workload.require_batch_size(options)
    workload.require_at_least(options, 1, "num_batches", "num_iters", "num_batches_per_iter")
    workload.require_at_least(options, 0, "num_warmup_batches")
    if name_of(options["script"]) in SCRIPTS.values():
        raise InvalidValueError(
            f"benchmark_options.script is {options['script']}, the script of workload horovod_synthetic: set it to the path of "
            f"{SCRIPT}."
        )
    if options["model"] != options["model"].lower():
        raise InvalidValueError(
            f"benchmark_options.model is {options['model']}, and the models of tf_cnn_benchmarks are named in lower case: set it "
            f"to {options['model'].lower()}."
        )


def needs(options: Options) -> dict[str, str]:
    """The script, by the variable that names it."""
    return {"benchmark_options.script": str(options["script"])} if options.get("script") else {}


def command(options: Options) -> list[str]:
    words = [
        platform_of(options).tf_cnn_python,
        options["script"],
        f"--model={options['model']}",
        f"--batch_size={options['batch_size']}",
    ]
    words.append(f"--num_batches={batches(options)}")
    # Without it the script chooses a number of its own.
    warmup = option.with_defaults(option.ITERATIONS, options)["num_warmup_batches"]
    words.append(f"--num_warmup_batches={warmup}")
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


UNIT = "images/s"
MODEL = re.compile(r"Model: +(\S+)\s*$")
GLOBAL_BATCH = re.compile(r"Batch size: +(\d{1,12})(?:\.0)? global\s*$")
BATCH = re.compile(r" +(\d{1,9})(?:\.0)? per device\s*$")
VARIABLES = re.compile(r"Variables: +(\S+)\s*$")
DEVICES = re.compile(r"Devices: +\[(.*)\]\s*$")
DEVICE = re.compile(r"'(?:horovod)?/(gpu|cpu):\d+'", re.IGNORECASE)
# One decimal for a step and two for the total: a number with fewer was cut off.
TENTHS = r"(\d{1,15}\.\d|nan|inf)"
STEP = re.compile(
    r"\s*(\d{1,9})\s+images/sec: " + TENTHS + r" \+/- " + TENTHS + r" \(jitter = " + TENTHS + r"\)(?:\s|$)"
)
# The launcher's number of ranks, where the log has its command.
STARTED = re.compile(r"\b(?:horovodrun|mpirun|mpiexec)\b.{0,400}?\s--?(?:np|num-proc|n)[ =](\d{1,6})(?!\S)")
MOST_OF_A_COMMAND = 1000
TOTAL = re.compile(r"total images/sec: (\d{1,15}\.\d\d|nan|inf)\s*$")


def parse(
    text: Any, expected_ranks: Any = None, device: str | None = "GPU", options: Mapping[str, Any] | None = None
) -> Result:
    """Return the numbers in the text and everything that is wrong with them, as parsed.result describes."""
    tagged = tagged_lines(text)
    lines = [line.text for line in tagged]
    totals = [finite(total) for (total,) in values(TOTAL, lines)]
    head = read_head(lines)
    iterations = by_step(values(STEP, lines))
    if not head["counts"]:
        head["ranks"] = started(tagged)
    ranks = head["ranks"]
    problems = missing(totals, iterations, expected_ranks, ranks) + bad_numbers(totals, iterations)
    problems += wrong_world(head, totals, expected_ranks, device)
    return result.result(
        lines,
        UNIT,
        problems,
        value=None if problems else result.middle(totals),
        model=head["models"][0] if head["models"] else None,
        batch_size=head["batch_size"],
        ranks=ranks,
        device=", ".join(head["devices"]) or None,
        iterations=iterations,
        series=result.scaled(iterations, ranks),
        details={"totals_seen": len(totals), "totals": totals},
    )


def read_head(lines: list[str]) -> dict[str, Any]:
    """Return what the ranks print before they begin. All print the same, or something is wrong."""
    whole = {int(size) for (size,) in values(GLOBAL_BATCH, lines)}
    batch = {int(size) for (size,) in values(BATCH, lines)}
    listed = [DEVICE.findall(names) for (names,) in values(DEVICES, lines)]
    counts = {len(names) for names in listed if names}
    if len(whole) == 1 and len(batch) == 1 and min(batch) > 0:
        counts.add(min(whole) // min(batch))
    return {
        "models": sorted({model for (model,) in values(MODEL, lines)}),
        "batch_size": min(batch) if len(batch) == 1 else None,
        "counts": counts,
        "ranks": min(counts) if len(counts) == 1 else None,
        "devices": sorted({name.upper() for names in listed for name in names}),
        "variables": sorted({name for (name,) in values(VARIABLES, lines)}),
    }


def started(lines: Sequence[Line]) -> int | None:
    """How many ranks the launcher's command has, where the lines of a log whose begin was cut have as many; None otherwise."""
    found = (STARTED.search(line.text[:MOST_OF_A_COMMAND]) for line in lines)
    counts = {int(match[1]) for match in found if match}
    shown = {line.rank for line in lines if line.rank is not None and STEP.match(line.text)}
    return len(shown) if counts == {len(shown)} and shown == set(range(len(shown))) else None


def by_step(steps: Iterable[tuple[Any, ...]]) -> list[float | None]:
    """Return one speed for each step: the median over the ranks that printed it; null when one of them is no number."""
    speeds: dict[int, list[float | None]] = {}
    for step, speed, _uncertainty, _jitter in steps:
        speeds.setdefault(int(step), []).append(finite(speed))
    usable = {step: [speed for speed in printed if speed is not None] for step, printed in speeds.items()}
    return [median(usable[step]) if len(usable[step]) == len(speeds[step]) else None for step in sorted(speeds)]


def missing(
    totals: Sequence[float | None], iterations: Sequence[float | None], expected_ranks: Any, ranks: int | None
) -> list[str]:
    if not totals:
        return [result.unfinished("total images/sec", "step", len(iterations))]
    if expected_ranks is not None and ranks is None:
        return ["The output doesn't say over how many ranks the total is, so it can't be checked."]
    return []


def bad_numbers(totals: Sequence[float | None], iterations: Sequence[float | None]) -> list[str]:
    said = []
    if result.unusable(totals):
        said.append("A total is not a usable number.")
    if result.unusable(iterations):
        said.append("A step's images/sec is not a usable number.")
    return said


def wrong_world(
    head: Mapping[str, Any], totals: Sequence[float | None], expected_ranks: Any, device: str | None
) -> list[str]:
    """Compare who took part with who should have."""
    said = []
    if len(head["counts"]) > 1:
        printed = ", ".join(str(count) for count in sorted(head["counts"]))
        said.append(f"The ranks don't agree on how many they are: {printed}.")
    said += result.rank_problems(expected_ranks, head["ranks"])
    if head["ranks"] and len(totals) > head["ranks"] and not said:
        said.append(f"There are {len(totals)} totals of {head['ranks']} ranks: the output is that of several runs.")
    said += result.device_problems(device, head["devices"])
    # One device of one process exchanges nothing, so its speed is the same.
    if set(head["variables"]) - {"horovod"} and not (head["ranks"] == 1 and head["devices"]):
        said.append("The variables were updated by {} and not by horovod.".format(", ".join(head["variables"])))
    if len(head["models"]) > 1:
        said.append("The output is that of several models: {}.".format(", ".join(head["models"])))
    return said


# Every rank prints its steps, so the last rank to reach a step is shown too.
WORKLOAD = WorkloadKind(
    "TensorFlow's benchmark of convolutional networks, tf_cnn_benchmarks",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the total that the script prints, over all steps and workers",
    model_of,
    needs,
    iteration="printed step",
    running_mean=True,
    iteration_of=lambda options: value_of_line(STEP, 2),
    sent=lambda parameters, result, ranks: of_training(parameters, result, ranks, batches(parameters), (SCRIPT,)),
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `ttf_dynamic_embedding` into what is run: the demo of TTF, the vendor's TensorFlow.

The folders, scripts and arguments are those of the vendor's document (section TTF, Demo): `benchmark` compares dynamic
with static embedding in one process, `ps` and `estimator` are scripts that start what they need. None of them uses
mpirun.

Read what the TTF demo prints.

What its train.py prints is not public. TensorFlow itself has one public line with a speed, that of StepCounterHook
(https://github.com/tensorflow/tensorflow, tensorflow/python/training/basic_session_run_hooks.py): "global_step/sec: 12.3",
one for each interval of steps. That is read, unless the option `pattern` says what else to look for.
"""

import posixpath
import re
from typing import Any, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import command as by_pattern
from ansible_collections.taco.train.plugins.plugin_utils.workloads import option, pattern, result, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.kind import (
    TOTAL,
    IterationOf,
    WorkloadKind,
    value_of_line,
)
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, values
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import Option
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload

FOLDER = "/opt/dynamic-embedding-demo"
DEMOS = ("benchmark", "ps", "estimator")
OPTIONS = {
    "demo": Option("str", "The demo. Not set means ``benchmark``.", choices=DEMOS),
    "demo_dir": Option("str", f"The folder of the demos in the container. Not set means ``{FOLDER}``."),
    **option.batch_size(None, "the demo's default"),
    "is_dynamic": Option("bool", "Whether the demo uses dynamic embedding. Not set means the demo's default."),
    "dnn_layer_num": Option("int", "Fully connected layers of the demo's deep part. Not set means the demo's default."),
    **option.PATTERNS,
    **option.TENSORFLOW,
    **option.EXTRA_ARGS,
}
# The data set's cache holds batches of one size, so the document has it removed whenever the batch size changes.
CACHE = (".index", ".data-00000-of-00001")
ONE_PROCESS = (
    "The TTF demo runs on the launcher alone, without Horovod and NCCL: of an arm its environment and its options take part, "
    "without the variables of Horovod and LightCC; benchmark_lightcc and further hosts make no difference to it."
)
NO_ARGUMENTS = "The TTF demo {} has no argument for the batch size: benchmark_options.batch_size was left out."


def check(options: Options, demo: str) -> None:
    if demo not in DEMOS:
        raise InvalidValueError(f"benchmark_options.demo is {demo!r}; it must be one of {', '.join(DEMOS)}.")
    workload.require_at_least(options, 1, "batch_size", "dnn_layer_num")
    if options.get("is_dynamic") not in (None, True, False):
        raise InvalidValueError(f"benchmark_options.is_dynamic is {options['is_dynamic']!r}; it must be true or false.")
    if demo != "benchmark":
        given = [name for name in ("is_dynamic", "dnn_layer_num") if options.get(name) is not None]
        if given:
            raise InvalidValueError(
                f"benchmark_options.{given[0]} is for benchmark_options.demo benchmark, and it is {demo}: unset it."
            )
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
    return {"benchmark_options.demo_dir": folder(options)}


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


UNIT = "steps/s"
STEPS = re.compile(r"(?:.{0,300}[\s:\]])?global_step/sec: (\S+)\s*$")
NOTHING = (
    "The output has no line 'global_step/sec' of TensorFlow, and what else the demo prints is not known: set benchmark_options.pattern "
    "to a regular expression that finds its number, in a group named value."
)


def parse(
    text: Any, expected_ranks: Any = None, device: str | None = "GPU", options: Mapping[str, Any] | None = None
) -> result.Result:
    """Return the numbers in the text and everything that is wrong with them, as parsed.result describes.

    It is one process, however many slots there are: expected_ranks has no part in it.
    """
    options = options or {}
    told: dict[str, Any] = {"ranks": 1, "batch_size": options.get("batch_size")}
    if options.get("pattern"):
        return dict(by_pattern.parse(text, None, device, dict(options, unit=options.get("unit") or UNIT)), **told)
    lines = lines_of(text)
    # The number has no fixed length, so one in a line without an end may have been cut.
    found = [number for (number,) in values(STEPS, (line for line in lines[:-1] if "global_step/sec" in line))]
    iterations = measured(printed_once([result.finite(number) for number in found]))
    problems = [] if found else [NOTHING]
    if result.unusable(iterations):
        problems.append("A number of steps per second is not a usable number.")
    return result.result(
        lines,
        UNIT,
        problems,
        value=None if problems else result.middle(iterations),
        iterations=iterations,
        series=result.scaled(iterations, 1),
        **told,
    )


def printed_once(numbers: list[float | None]) -> list[float | None]:
    """Leave out the second copy of each number where TensorFlow's logger and Python's root logger both print every line."""
    return numbers[::2] if len(numbers) > 1 and numbers[::2] == numbers[1::2] else numbers


def measured(numbers: list[float | None]) -> list[float | None]:
    """Leave out zeros at the beginning: the hook prints them before the first step is done."""
    first = next((place for place, number in enumerate(numbers) if number != 0), None)
    return numbers if first is None else numbers[first:]


def iteration_of(options: Options) -> Optional[IterationOf]:
    """The function that finds a value in a line: by the user's pattern, else TensorFlow's own line."""
    return by_pattern.iteration_of(options) or value_of_line(STEPS, 1)


WORKLOAD = WorkloadKind(
    "the demo of the vendor's TensorFlow with dynamic embedding, one process on the launcher",
    OPTIONS,
    build,
    parse,
    UNIT,
    "the median of the printed speeds of the process",
    lambda parameters: f"TTF demo {parameters.get('demo') or DEMOS[0]}",
    needs,
    TOTAL,
    iteration="interval",
    mpi=False,
    unread=("lightcc", "mca"),
    iteration_of=iteration_of,
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Read what the TTF demo prints.

What its train.py prints is not public. TensorFlow itself has one public line with a speed, that of StepCounterHook
(https://github.com/tensorflow/tensorflow, tensorflow/python/training/basic_session_run_hooks.py): "global_step/sec: 12.3",
one for each interval of steps. That is read, unless the option `pattern` says what else to look for.
"""

import re
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.workloads import command_parser, result
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of, values

UNIT = "steps/s"
STEPS = re.compile(r"(?:.{0,300}[\s:\]])?global_step/sec: (\S+)\s*$")
NOTHING = (
    "The output has no line 'global_step/sec' of TensorFlow, and what else the demo prints is not known: set benchmark_pattern "
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
        return dict(command_parser.parse(text, None, device, dict(options, unit=options.get("unit") or UNIT)), **told)
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

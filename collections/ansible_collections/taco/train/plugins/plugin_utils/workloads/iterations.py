# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Find in a line of a running benchmark the value of an iteration. Text in, number out."""

import re
from typing import Any, Callable, Dict, Optional, Pattern, Union

from ansible_collections.taco.train.plugins.plugin_utils.workloads import horovod_parser, tf_cnn_parser, ttf_parser
from ansible_collections.taco.train.plugins.plugin_utils.workloads import pattern as parse_pattern
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import clean
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.result import finite

IterationOf = Callable[[str], Optional[float]]


def _group(pattern: Pattern[str], group: Union[int, str]) -> IterationOf:
    def value(line: str) -> Optional[float]:
        match = pattern.match(clean(line).text)
        return finite(match.group(group)) if match else None

    return value


def _users(pattern: Pattern[str]) -> IterationOf:
    def value(line: str) -> Optional[float]:
        match = parse_pattern.found_in(pattern, line)
        return finite(match.group("value")) if match else None

    return value


def iteration_of(options: Dict[str, Any]) -> Optional[IterationOf]:
    """Return the function for a run's workload, None for one that prints nothing on its way.

    Of tf_cnn_benchmarks every rank prints its steps, so there the last rank to reach a step is shown too.
    """
    workload = options["workload"]
    if workload in ("command", "ttf_dynamic_embedding") and options.get("pattern"):
        return _users(re.compile(options["pattern"]))
    known = {
        "horovod_synthetic": _group(horovod_parser.ITERATION, 2),
        "tf_cnn_benchmarks": _group(tf_cnn_parser.STEP, 2),
        "ttf_dynamic_embedding": _group(ttf_parser.STEPS, 1),
    }
    return known.get(workload)


def count_of(options: Dict[str, Any]) -> Optional[int]:
    """Return how many values a run prints, where that is known."""
    return options["num_iters"] if options["workload"] == "horovod_synthetic" else None


def unit_of(options: Dict[str, Any]) -> str:
    """Return the unit of what a run prints for each iteration, which of Horovod is that of one device."""
    unit = options.get("unit") or WORKLOADS[options["workload"]].unit
    return f"{unit} per device" if options["workload"] == "horovod_synthetic" else unit

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that a benchmark's script which can only be a file on the controller is there."""

from typing import Any, Callable, List, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import VALID, InvalidValue
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import is_of_controller

EXPECTED = "a file on the controller, a URL, or an absolute path in the training image"


def scripts_of(variables: Mapping[str, Any]) -> dict[str, str]:
    """{script: variable} of all scripts that a host's variables name."""
    workloads = variables.get("compare_workloads")
    compared = (
        [workload.get("script") for workload in workloads if isinstance(workload, dict)]
        if isinstance(workloads, list)
        else []
    )
    options = variables.get("benchmark_options")
    named = [(options.get("script") if isinstance(options, Mapping) else None, "benchmark_options.script")]
    named += [(script, "compare_workloads") for script in compared]
    return {script: variable for script, variable in reversed(named) if isinstance(script, str) and script}


def absent_scripts(variables: Mapping[str, Any], find: Callable[[str], Optional[str]]) -> List[InvalidValue]:
    """The scripts that only the controller can have and that find does not find there."""
    return [
        InvalidValue(
            Check(
                VALID,
                "fail",
                EXPECTED,
                f"{variable}: {script}, which is no file on the controller",
                f"correct {variable}",
            ),
            variable,
        )
        for script, variable in scripts_of(variables).items()
        if is_of_controller(script) and not script.startswith("-") and not find(script)
    ]

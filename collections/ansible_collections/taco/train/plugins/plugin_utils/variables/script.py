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
    workloads, options = variables.get("compare_workloads"), variables.get("benchmark_options")
    named = [(workload, "compare_workloads") for workload in (workloads if isinstance(workloads, list) else [])]
    named.append((options, "benchmark_options.script"))
    scripts = [(holder.get("script"), variable) for holder, variable in named if isinstance(holder, Mapping)]
    return {script: variable for script, variable in scripts if isinstance(script, str) and script}


def absent_scripts(variables: Mapping[str, Any], find: Callable[[str], Optional[str]]) -> List[InvalidValue]:
    """The scripts that only the controller can have and that find does not find there."""
    absent = [
        (f"{variable}: {script}, which is no file on the controller", variable)
        for script, variable in scripts_of(variables).items()
        if is_of_controller(script) and not script.startswith("-") and not find(script)
    ]
    return [InvalidValue(Check(VALID, "fail", EXPECTED, text, f"correct {name}"), name) for text, name in absent]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the runs that the variables of hosts describe, for a table of preflight: their options, arms and scripts."""

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.variables.play import variables_of
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import RUN_GROUPS, RUN_PREFIXES
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import VALID, Validator
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import is_of_controller

EXPECTED = "a file on the controller, a URL, or an absolute path in the training image"
# Returns the path of a file on the controller, or None.
Find = Callable[[str], Optional[str]]


def scripts_of(variables: Mapping[str, Any]) -> Dict[str, str]:
    """{script: variable} of all scripts that a host's variables name."""
    workloads, options = variables.get("compare_workloads"), variables.get("benchmark_options")
    named = [(workload, "compare_workloads") for workload in (workloads if isinstance(workloads, list) else [])]
    named.append((options, "benchmark_options.script"))
    scripts = [(holder.get("script"), variable) for holder, variable in named if isinstance(holder, Mapping)]
    return {script: variable for script, variable in scripts if isinstance(script, str) and script}


def absent_scripts(variables: Mapping[str, Any], find: Find) -> List[Check]:
    """The scripts that only the controller can have and that find does not find there."""
    absent = [
        (f"{variable}: {script}, which is no file on the controller", variable)
        for script, variable in scripts_of(variables).items()
        if is_of_controller(script) and not script.startswith("-") and not find(script)
    ]
    return [Check(VALID, "fail", EXPECTED, text, f"correct {name}") for text, name in absent]


def run_findings(action: Any, hosts: Sequence[str], find: Find) -> List[Dict[str, Any]]:
    """What is wrong with the runs of each host, as the module preflight takes it. Wrong values of single variables are left to it."""
    specs = {name: spec for name, spec in all_options().items() if name.startswith(RUN_PREFIXES)}
    read = {host: variables_of(action, host, specs) for host in hosts}
    fleet = tuple((host, values.get("taco_gpus_per_node")) for host, (values, _errors) in read.items())
    validator = Validator(specs, fleet, RUN_GROUPS)
    found: Dict[Check, List[str]] = {}
    for host, (values, errors) in read.items():
        checks = [one.check for one in validator.problems(values, list(errors)) if one.variable is None]
        for check in checks + absent_scripts(values, find):
            found.setdefault(check, []).append(host)
    return [
        {"hosts": names, "expected": check.expected, "found": check.found, "fix": check.fix}
        for check, names in found.items()
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the benchmark path."""

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import arm_of
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command as build_command
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS


def mpirun_command(spec):
    """Return the argument list of mpirun for a specification."""
    try:
        return build_command(spec)
    except InvalidValueError as error:
        raise AnsibleFilterError(f"mpirun_command: {error}") from error


def parse_benchmark(text, workload="horovod_synthetic", expected_ranks=None, device="GPU", options=None):
    """Return the numbers that a benchmark printed."""
    if workload not in WORKLOADS:
        raise AnsibleFilterError(
            "parse_benchmark: there is no workload {}; there is {}.".format(workload, ", ".join(WORKLOADS))
        )
    return WORKLOADS[workload].parse(text, expected_ranks=expected_ranks, device=device, options=options)


def benchmark_arm(value, variable="benchmark_arm"):
    """Return everything about an arm that is given by its name or as a mapping."""
    try:
        return arm_of(value, variable).document()
    except InvalidValueError as error:
        raise AnsibleFilterError(f"benchmark_arm: {error}") from error


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self):
        return {"benchmark_arm": benchmark_arm, "mpirun_command": mpirun_command, "parse_benchmark": parse_benchmark}

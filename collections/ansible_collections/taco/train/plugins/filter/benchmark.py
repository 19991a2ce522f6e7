# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the benchmark path."""

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ArmError, arm_of
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import MpirunError
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command as build_command
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS


def mpirun_command(spec):
    """Return the argument list of mpirun for a specification."""
    try:
        return build_command(spec)
    except MpirunError as error:
        raise AnsibleFilterError(f"mpirun_command: {error}") from error


def parse_benchmark(text, workload="horovod_synthetic", expected_ranks=None, device="GPU", options=None):
    """Return the numbers that a benchmark printed."""
    if workload not in WORKLOADS:
        raise AnsibleFilterError(
            "parse_benchmark: there is no workload {}; there is {}.".format(workload, ", ".join(WORKLOADS))
        )
    return WORKLOADS[workload].parse(text, expected_ranks=expected_ranks, device=device, options=options)


def benchmark_arm(value):
    """Return everything about an arm that is given by its name or as a mapping."""
    try:
        arm = arm_of(value)
    except ArmError as error:
        raise AnsibleFilterError(f"benchmark_arm: {error}") from error
    # Lists: before ansible-core 2.19 a loop refuses a tuple.
    commands = {key: [list(words) for words in getattr(arm, key)] for key in ("before", "after")}
    return dict(arm._asdict(), **commands, lossy=arm.lossy)


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self):
        return {"benchmark_arm": benchmark_arm, "mpirun_command": mpirun_command, "parse_benchmark": parse_benchmark}

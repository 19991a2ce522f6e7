# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Turn the options of the workload `command`, any program of the user's, into what is run."""

from typing import Sequence

from ansible_collections.taco.train.plugins.plugin_utils.workloads import pattern, workload
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options, Workload, WorkloadError


def words_of(options: Options, name: str) -> list[str]:
    """Return an option's list of words as texts."""
    given = options.get(name) or []
    if not isinstance(given, (list, tuple)) or not all(isinstance(word, (str, int, float)) for word in given):
        raise WorkloadError(f"benchmark_{name} is {given!r}; it must be a list of words.")
    return [str(word) for word in given]


def build(options: Options, slots: Sequence[int]) -> Workload:
    """Return the Workload of options and of the slots of each host, or raise the first that can't be run."""
    command = words_of(options, "command")
    if not command or not command[0]:
        raise WorkloadError("benchmark_command is empty; it must be a list of words, the program first.")
    if pattern.compiled(options, "pattern") is None:
        raise WorkloadError(
            "benchmark_pattern is not set; it must be a regular expression that finds one number of an iteration in a "
            "line, in a group named value."
        )
    pattern.compiled(options, "total_pattern")
    mpi = options.get("mpi", True)
    env = workload.environment(options, slots, workload.switches(options))
    if not mpi:
        env = workload.without_exports(env)
    return Workload(
        env,
        workload.mca_parameters(options) if mpi else {},
        command + workload.extra_args(options),
        workload.notes_of(env, options),
        mpi=bool(mpi),
        chdir=options.get("chdir") or None,
        cleanup=tuple(words_of(options, "cleanup")),
    )

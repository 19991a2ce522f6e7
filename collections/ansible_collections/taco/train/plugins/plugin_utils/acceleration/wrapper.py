# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrap the command of a rank, so that folders of its worker are at the front of variables, such as that which hides the
plugin of NCCL (module_utils/_acceleration/empty_library). Values in, values out.

The shell of the rank's own worker extends the variables, because their values differ between workers and launcher. Then it becomes the
command, which therefore gets the signals.
"""

import shlex
from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import BUILD_FILE
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import NAME
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm

LIBRARIES, PYTHON = "LD_LIBRARY_PATH", "PYTHONPATH"
# The file by which a rank knows the folder, and the test of the shell for it.
PROOFS = {LIBRARIES: (NAME, "[ -f {0} ] && [ ! -s {0} ]"), PYTHON: (BUILD_FILE, "[ -f {0} ]")}
# Its words are those of the symptom arm_folder.
FAILURE = 'echo "taco.train: $(uname -n) lacks "{} >&2; exit 97'


def variables_of(arm: Arm, mpi: bool = True) -> list[str]:
    """Return the variables to which an arm needs a folder prepended. A single process uses no network."""
    needed = {LIBRARIES: mpi and arm.plugin == "off", PYTHON: arm.horovod == "upstream"}
    return [variable for variable, needs in needed.items() if needs]


def folders_of(arm: Arm, workers: Mapping[str, Any], mpi: bool = True) -> dict[str, str]:
    """Return the folders of an arm by their variables, as the first prepared worker has them; none without such a worker."""
    prepared: list[Mapping[str, str]] = [(worker or {}).get("prepended") or {} for worker in workers.values()]
    found = {}
    for variable in variables_of(arm, mpi):
        folder = next((one[variable] for one in prepared if variable in one), None)
        if folder:
            found[variable] = folder
    return found


def unprepared(arm: Arm, workers: Mapping[str, Any], mpi: bool = True) -> dict[str, str]:
    """Return {host: why the arm is not active there}, of the workers that were inspected."""
    folders = folders_of(arm, workers, mpi)
    found = {host: _reason(arm, worker, variables_of(arm, mpi), folders) for host, worker in workers.items() if worker}
    return {host: reason for host, reason in found.items() if reason}


def _reason(arm: Arm, worker: Mapping[str, Any], variables: Sequence[str], folders: Mapping[str, str]) -> str:
    failed = worker.get("failed") or worker.get("unreachable")
    if failed and "prepended" not in worker:
        return str(worker.get("msg"))
    plugin = (worker.get("after") or {}).get("plugin") or {}
    if arm.plugin == "on" and plugin.get("problem"):
        return str(plugin["problem"])
    for variable in variables:
        folder = (worker.get("prepended") or {}).get(variable)
        if folder is None and (failed or folders):
            return str(worker.get("msg") or f"it was not prepared for the arm: no folder for {variable}")
        if folder != folders.get(variable):
            return (
                f"{variable} would begin with {folder}, and on another host with {folders[variable]}: use the same image, "
                "taco_state_dir, benchmark_horovod_version and benchmark_horovod_source on all hosts"
            )
    return ""


def wrapped(command: Sequence[str], folders: Mapping[str, str]) -> list[str]:
    """Return a command with folders at the front of variables, and the command itself without any."""
    if not folders:
        return list(command)
    steps = []
    for variable, folder in folders.items():
        name, test = PROOFS[variable]
        path = shlex.quote(f"{folder}/{name}")
        steps.append(f"{{ {test.format(path)}; }} || {{ {FAILURE.format(path)}; }}")
        # Without a value of its own there must be no colon at the end, which would stand for the current folder.
        steps.append(f'export {variable}={shlex.quote(folder)}"${{{variable}:+:${variable}}}"')
    return ["sh", "-c", "; ".join([*steps, 'exec "$@"']), "taco.train", *command]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run needs in the workers, and which worker lacks it. Values in, sentences out."""

from typing import Any, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.text import grouped
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import FOLDER, required_sha256
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options

SCRIPT = "benchmark_options.script"
FIXES = {
    SCRIPT: "set benchmark_options.script to a URL or to a file on the controller, which is then delivered to the workers, or to its "
    "path in the training image",
    "benchmark_options.binary": "set benchmark_options.binary to its path in the training image, or use another taco_image",
    "benchmark_options.demo_dir": "set benchmark_options.demo_dir to the folder of the demos in the training image, or use "
    "another taco_image",
}
SAME = "use the same image on every host, or set benchmark_options.script to a file on the controller"


class Problem(NamedTuple):
    """Why a run can't start, and what fixes it."""

    found: str
    fix: str


def needs(options: Options) -> dict[str, str]:
    """{variable: path} of what a run needs in each of its workers."""
    return WORKLOADS[options["workload"]].needs(options)


def script_wanted(options: Options) -> Optional[tuple[str, Optional[str]]]:
    """The script of a run and its checksum, None for a run without a script of the user's."""
    uses = bool(options.get("script")) and SCRIPT in needs(options)
    return (options["script"], options.get("script_checksum") or None) if uses else None


def _sees(name: str, path: str, environment: Mapping[str, Any]) -> bool:
    """Whether the worker's own look decides: a program is also found by the PATH of the run."""
    return path.startswith("/") or (
        "/" not in path and environment.get("PATH") is None and name == "benchmark_options.binary"
    )


def _seen(workers: Mapping[str, Any], path: str) -> dict[str, Mapping[str, Any]]:
    """{host: what was observed of a path there}, of the workers that were inspected for it."""
    found = {host: ((worker or {}).get("requires") or {}).get(path) for host, worker in workers.items()}
    return {host: one for host, one in found.items() if one}


def problem(
    options: Options, workers: Mapping[str, Any], environment: Mapping[str, Any], container: str
) -> Optional[Problem]:
    """The first thing that a run needs and some of its workers lack. What was not observed is left to the run."""
    inside = f" in the container {container}" if container else ""
    for variable, path in needs(options).items():
        if not _sees(variable, path, environment):
            continue
        seen = _seen(workers, path)
        lacking = [host for host, one in seen.items() if one["path"] is None]
        if lacking:
            delivered_to = path.rpartition("/" + FOLDER + "/")[0]
            fix = FIXES[variable]
            if delivered_to and container:
                folder = f"{delivered_to}/{FOLDER.partition('/')[0]}"
                fix = f"mount {folder} of the host at {folder} in the container, as the role training_container does"
            return Problem(f"there is no {path}{inside} on {', '.join(lacking)} ({variable})", fix)
        if variable == SCRIPT:
            wrong = _wrong_script(options, path, {host: one["sha256"] for host, one in seen.items()})
            if wrong:
                return wrong
    return None


def _wrong_script(options: Options, path: str, sums: Mapping[str, Optional[str]]) -> Optional[Problem]:
    """What is wrong with the contents of a script that every worker has."""
    expected = required_sha256(None, options.get("script_checksum"))
    other = next((host for host, one in sums.items() if expected and one != expected), None)
    if other:
        found = (
            f"{path} on {other} is not the script that was promised: expected SHA-256 {expected}, found {sums[other]}"
        )
        return Problem(found, "correct benchmark_options.script_checksum or benchmark_options.script")
    if len(set(sums.values())) > 1:
        text = "; ".join(grouped((host, f"SHA-256 {one}") for host, one in sums.items()))
        return Problem(f"{path} is not the same on all workers: {text}", SAME)
    return None


def script_sha256(options: Options, workers: Mapping[str, Any]) -> Optional[str]:
    """The SHA-256 of the script that the workers have, None for a run without one and where it was not observed."""
    path = needs(options).get(SCRIPT)
    if path is None:
        return None
    return next((one["sha256"] for one in _seen(workers, path).values()), None)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the worker's part of the module acceleration where the worker is, and return its result."""

import os
from typing import Any, Dict

from ansible_collections.taco.train.plugins.module_utils._acceleration import (
    decision,
    horovod_build,
    horovod_prefix,
    nccl_plugin,
    observation,
    processes,
    worker,
)
from ansible_collections.taco.train.plugins.module_utils._files import atomic, created_folders, move
from ansible_collections.taco.train.plugins.module_utils._process import (
    idle,
    running_work,
    shortened,
    supervised,
    timed,
)
from ansible_collections.taco.train.plugins.module_utils._process.carried import answer, program
from ansible_collections.taco.train.plugins.module_utils._process.place import COMMAND_SECONDS, Place, PlaceError

# Each after those that it imports.
WORKER_MODULES = [
    timed,
    idle,
    running_work,
    processes,
    atomic,
    move,
    created_folders,
    shortened,
    supervised,
    nccl_plugin,
    horovod_prefix,
    horovod_build,
    decision,
    observation,
    worker,
]
# What a build does before and after pip, within its own limits.
BESIDE_PIP_SECONDS = 600


def _build_environment(variables: Dict[str, Any]) -> Dict[str, str]:
    """Return variables as text. YAML's true and false are 1 and 0."""
    return {
        str(name): str(int(value) if isinstance(value, bool) else value)
        for name, value in variables.items()
        if value is not None
    }


def _worker_options(params: Dict[str, Any], container: Dict[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Return the options of the worker's part."""
    return dict(
        params,
        prefix_dir=params["prefix_dir"] or os.path.join(params["state_dir"], "horovod"),
        horovod_build_env=_build_environment(params["horovod_build_env"]),
        container_id=container["id"],
        image_id=container["image_id"],
        check_mode=check_mode,
    )


def _run_worker(place: Place, options: Dict[str, Any]) -> Dict[str, Any]:
    """Run the worker's part and return its answer."""
    seconds = COMMAND_SECONDS
    if options["horovod"] == "upstream":
        seconds += options["build_timeout"] + BESIDE_PIP_SECONDS
    done = place.program(options["python"], program(WORKER_MODULES, options), seconds)
    stderr = " ".join(done.stderr.split())[-500:]
    # 126 and 127 are the engine's: there is no such program in the container.
    if done.status in (126, 127) or (done.status is None and not place.container):
        raise PlaceError(f"{place} has no {options['python']} to run ({stderr}): set python to the worker's Python 3")
    if done.status != 0:
        raise PlaceError(f"the work in {place} ended with status {done.status}: {stderr}")
    result = answer(done.stdout)  # type: Dict[str, Any]
    if "error" in result:
        raise PlaceError(f"{place}: {result['error']}")
    return result


def ensure(params: Dict[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Return the result of the module, or raise why there is none."""
    place = Place(params["container"], params["engine_command"])
    container = place.identify()
    result = _run_worker(place, _worker_options(params, container, check_mode))
    diff = {key: decision.in_words(result[key]) for key in ("before", "after")}
    for key in ("before", "after"):
        result[key]["container"] = container
    return dict(result, diff=diff)

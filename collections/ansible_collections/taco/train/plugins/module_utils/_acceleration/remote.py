# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the worker's part of the module acceleration where the worker is, and return its result."""

import os
from typing import Any, Dict

from ansible_collections.taco.train.plugins.module_utils._acceleration import (
    empty_library,
    horovod_build,
    horovod_prefix,
    observation,
    worker,
)
from ansible_collections.taco.train.plugins.module_utils._files import atomic, created_folders
from ansible_collections.taco.train.plugins.module_utils._node import nccl_plugin
from ansible_collections.taco.train.plugins.module_utils._process import shortened, supervised, timed
from ansible_collections.taco.train.plugins.module_utils._process.carried import answer, program
from ansible_collections.taco.train.plugins.module_utils._process.place import COMMAND_SECONDS, Place, PlaceError

# Each after those that it imports.
WORKER_MODULES = [
    timed,
    atomic,
    created_folders,
    shortened,
    supervised,
    nccl_plugin,
    empty_library,
    horovod_prefix,
    horovod_build,
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
    return dict(result, errors=[f"{place}: {text}" for text in result["errors"]])


def in_words(state: Dict[str, Any]) -> str:
    """Return the state of a worker as lines for a diff."""
    lines = [f"empty library in place of NCCL's plugin: {state['empty_library']}"] if state["empty_library"] else []
    return "".join(line + "\n" for line in lines + [f"Horovod built in {build}" for build in state["builds"]])


def ensure(params: Dict[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Return the result of the module, with errors and warnings; raise where there is none."""
    place = Place(params["container"], params["engine_command"])
    container = place.identify()
    result = _run_worker(place, _worker_options(params, container, check_mode))
    diff = {key: in_words(result[key]) for key in ("before", "after")}
    for key in ("before", "after"):
        result[key]["container"] = container
    return dict(result, diff=diff)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Put an arm in force on a worker. Runs in the worker, by its own Python, with what it imports carried there."""

import contextlib
import fcntl
import glob
import os
import shutil
import time
from typing import Any, Dict, Iterator

from ansible_collections.taco.train.plugins.module_utils._acceleration import (
    AccelerationError,
    Plan,
    observation,
    plan,
    worker_key,
)
from ansible_collections.taco.train.plugins.module_utils._atomic_file import FileError, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._horovod_build import Builder, BuildError
from ansible_collections.taco.train.plugins.module_utils._move_file import move_file, unfinished_copy
from ansible_collections.taco.train.plugins.module_utils._nccl_plugin import (
    PluginError,
    Step,
    record_text,
    renamed_paths,
)
from ansible_collections.taco.train.plugins.module_utils._worker_observation import RECORD, observe

LOCK_SECONDS = 10


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Hold the folder of states, so that two calls, one of which may have lost its controller, don't mix."""
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    deadline = time.monotonic() + LOCK_SECONDS
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise AccelerationError(
                        f"another call has been working on {folder} for {LOCK_SECONDS} s, such as a build that goes on "
                        "after its controller left: wait for it and run it again"
                    ) from error
                time.sleep(0.1)
        yield
    finally:
        os.close(descriptor)


def sweep(options: Dict[str, Any]) -> None:
    """Remove what a call that was killed had begun to write. No other call is at work."""
    path = options["plugin_path"]
    unfinished = [unfinished_copy(place) for place in [path] + renamed_paths(path)]
    for left in unfinished + glob.glob(os.path.join(glob.escape(options["state_dir"]), "." + RECORD + ".*.tmp")):
        remove_file(left)


def move_plugin(step: Step, path: str, worker: str, record_path: str) -> None:
    """Do the one step. What was there first is kept in mind before, and until the plugin is there again."""
    replace_file(record_path, record_text(step.record, path, worker).encode("utf-8"))
    if step.copied:
        remove_file(step.source)
    else:
        move_file(step.source, step.target)
    if step.forget:
        remove_file(record_path)


def apply(decided: Plan, options: Dict[str, Any], seen: Dict[str, Any], worker: str) -> None:
    """Do what was decided: first what may fail, then what takes no time."""
    if decided.build:
        Builder(decided.build, options, seen).build(decided.key)
    if decided.step:
        move_plugin(decided.step, options["plugin_path"], worker, seen["record_path"])
    if decided.forget:
        remove_file(seen["record_path"])
    for path in decided.remove:
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    if decided.remove and not os.listdir(options["prefix_dir"]):
        os.rmdir(options["prefix_dir"])


def ensure(options: Dict[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Bring the worker to what is asked for; return what it was, what it is, and what a run there has to be given."""
    seen = observe(options)
    worker = worker_key(options["container_id"], seen["root_layer"])
    decided = plan(options, seen, worker, options["image_id"])
    before = observation(options, seen)
    after = decided.after
    if not check_mode:
        apply(decided, options, seen, worker)
        after = observation(options, observe(options))
        if after != decided.after:
            raise AccelerationError(
                f"expected {decided.after} and found {after}: something else changed the worker at the same time, or the "
                "plugin is a link to a file that is not there"
            )
    changed = bool(decided.build or decided.step or decided.remove)
    return {"before": before, "after": after, "environment": decided.environment, "changed": changed}


def main(options: Dict[str, Any]) -> Dict[str, Any]:
    """Return the result, or {error: why there is none}."""
    try:
        if options["check_mode"]:
            return ensure(options, True)
        with locked(options["state_dir"]):
            sweep(options)
            return ensure(options, False)
    except (AccelerationError, PluginError, BuildError, FileError) as error:
        return {"error": str(error)}
    except OSError as error:
        return {"error": f"{error.filename}: {error.strerror}" if error.filename else str(error)}

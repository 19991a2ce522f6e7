# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Activate an arm on a worker. Runs in the worker, by its own Python, with what it imports carried there."""

import contextlib
import glob
import os
import shutil
from typing import Any, Dict, Iterator, List

from ansible_collections.taco.train.plugins.module_utils._acceleration.decision import (
    AccelerationError,
    Plan,
    observation,
    plan,
    worker_key,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_build import Builder, BuildError
from ansible_collections.taco.train.plugins.module_utils._acceleration.nccl_plugin import (
    PluginError,
    Step,
    record_text,
    renamed_paths,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.observation import RECORD, observe
from ansible_collections.taco.train.plugins.module_utils._acceleration.processes import worker_work
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError, held
from ansible_collections.taco.train.plugins.module_utils._files.move import move_file, unfinished_copy
from ansible_collections.taco.train.plugins.module_utils._process.running_work import require_idle

LOCK_SECONDS = 10
# Ranks of a run that was ended need this long to end.
WAIT_SECONDS = 15


@contextlib.contextmanager
def locked(options: Dict[str, Any]) -> Iterator[None]:
    """Hold the folder of states, and that of the builds where they matter, which other workers of the host may share.

    So two calls, one of which may have lost its controller, don't mix.
    """
    state_dir, builds = options["state_dir"], options["prefix_dir"]
    os.makedirs(state_dir, exist_ok=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(held(state_dir, LOCK_SECONDS, "changing the acceleration"))
        uses_builds = options["state"] == "absent" or options["horovod"] == "upstream"
        if uses_builds and os.path.isdir(builds) and not os.path.samefile(builds, state_dir):
            stack.enter_context(held(builds, LOCK_SECONDS, "building or removing Horovod"))
        yield


def folders_changed(decided: Plan, options: Dict[str, Any]) -> List[str]:
    """The folders whose files a plan changes; who doesn't see them is not affected."""
    folders = [os.path.dirname(options["plugin_path"])] if decided.step or decided.build else []
    return folders + ([options["prefix_dir"]] if decided.remove or decided.build else [])


def require_idle_worker(decided: Plan, options: Dict[str, Any]) -> str:
    """The warning about running work that a plan interrupts, empty without any; raise where it must not."""
    folders = folders_changed(decided, options)
    if not folders:
        return ""
    may = options["check_mode"] or options["interrupt_running_work"]
    place = f"container {options['container']}" if options["container"] else "this worker"
    found = worker_work(folders, place, 0 if may else WAIT_SECONDS)
    refusal = require_idle("The change of the acceleration", found, "interrupt")
    if refusal and not may:
        raise AccelerationError(refusal)
    return refusal


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


def remove_builds(paths: List[str]) -> None:
    """Remove every one of them that can be removed, and name the others."""
    problems = []
    for path in paths:
        try:
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except OSError as error:
            problems.append(f"{error.filename or path} ({error.strerror})")
    if problems:
        raise AccelerationError(f"could not be removed: {'; '.join(problems)}. Correct that and run this again")


def apply(decided: Plan, options: Dict[str, Any], seen: Dict[str, Any], worker: str) -> None:
    """Do what was decided: first what may fail, then what takes no time."""
    if decided.build:
        Builder(decided.build, options, seen).build(decided.key)
        # Work may have started meanwhile.
        require_idle_worker(decided, options)
    if decided.step:
        move_plugin(decided.step, options["plugin_path"], worker, seen["record_path"])
    if decided.forget:
        remove_file(seen["record_path"])
    remove_builds(decided.remove)
    if decided.remove and not os.listdir(options["prefix_dir"]):
        os.rmdir(options["prefix_dir"])


def ensure(options: Dict[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Bring the worker to what is asked for; return what it was, what it is, and what a run there has to be given."""
    seen = observe(options)
    worker = worker_key(options["container_id"], seen["root_layer"])
    decided = plan(options, seen, worker, options["image_id"])
    before = observation(options, seen)
    warning = require_idle_worker(decided, options)
    after = decided.after
    if not check_mode:
        apply(decided, options, seen, worker)
        after = observation(options, observe(options))
        if after != decided.after:
            raise AccelerationError(
                f"expected {decided.after} and found {after}: another process changed the worker at the same time, or the "
                "plugin is a link to a file that is not there"
            )
    changed = bool(decided.build or decided.step or decided.remove)
    answer = {"before": before, "after": after, "environment": decided.environment, "changed": changed}
    return dict(answer, requires=seen["requires"], warnings=[warning] if warning else [])


def main(options: Dict[str, Any]) -> Dict[str, Any]:
    """Return the result, or {error: why there is none}."""
    try:
        if options["check_mode"]:
            return ensure(options, True)
        if options["state"] == "absent" and not os.path.isdir(options["state_dir"]):
            nothing = ensure(options, True)
            if not nothing["changed"]:
                return nothing
        with locked(options):
            sweep(options)
            return ensure(options, False)
    except (AccelerationError, PluginError, BuildError, FileError, FoldersError) as error:
        return {"error": str(error)}
    except OSError as error:
        return {"error": f"{error.filename}: {error.strerror}" if error.filename else str(error)}

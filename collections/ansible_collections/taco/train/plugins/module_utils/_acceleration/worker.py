# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prepare a worker for runs of arms. Runs in the worker, by its own Python, with what it imports carried there.

Two folders are created, each once: one with an empty library in place of NCCL's plugin, one with an upstream Horovod. A run uses them
through variables of its ranks, so that nothing changes for other programs of the worker, and nothing has to be restored after a run.
"""

import os
import re
import shutil
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._acceleration.empty_library import (
    FOLDER,
    LibraryError,
    create_library,
    is_ready,
    remove_library,
    require_plain,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_build import Builder, BuildError
from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import (
    build_key,
    is_built,
    is_path,
    prefix_of,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.observation import (
    find_builds,
    find_packages,
    find_plugin,
    find_required,
    old_record_text,
    own_builds,
    sha256_of,
    users_of,
)
from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError, held

LOCK_SECONDS = 10
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!]*")
Options = Dict[str, Any]


class AccelerationError(Exception):
    """The options can't be applied on this worker."""


class Folder(NamedTuple):
    """A folder that ranks have at the front of a variable, and whether it had to be created."""

    variable: str
    path: str
    created: bool


def library_of(options: Options) -> str:
    return os.path.join(options["state_dir"], FOLDER)


def state(options: Options) -> Dict[str, Any]:
    """Return the state of the worker."""
    library = library_of(options)
    return {
        "plugin": find_plugin(options["plugin_path"]),
        "packages": find_packages(),
        "python": {"version": ".".join(map(str, sys.version_info[:3])), "executable": sys.executable},
        "builds": sorted(find_builds(options["prefix_dir"])),
        "empty_library": library if os.path.isdir(library) else None,
    }


def with_library(options: Options, _before: Dict[str, Any]) -> Optional[Folder]:
    """Create the folder with the empty library if an arm without the plugin needs it."""
    if options["plugin"] != "off":
        return None
    folder = library_of(options)
    require_plain(folder)
    missing = not is_ready(folder)
    if missing and not options["check_mode"]:
        create_library(folder)
    return Folder("LD_LIBRARY_PATH", folder, missing)


def _inputs(options: Options, before: Dict[str, Any]) -> Dict[str, Any]:
    """Return what a build depends on, or raise for a source that is not there."""
    source, version = options["horovod_source"], options["horovod_version"]
    if not VERSION.fullmatch(version):
        raise AccelerationError(f"horovod_version is {version!r}: expected a version such as 0.21.3")
    has_source = is_path(source) and os.path.isfile(source)
    if is_path(source) and not has_source:
        raise AccelerationError(
            f"horovod_source {source} is no file that the worker sees: copy it there, or mount its folder"
        )
    inputs = {name: before[name] for name in ("packages", "python")}
    return dict(
        inputs,
        pythonpath=os.environ.get("PYTHONPATH", ""),
        source_sha256=sha256_of(source) if has_source else None,
    )


def _is_built(options: Options, prefix: str, key: str) -> bool:
    return is_built(find_builds(options["prefix_dir"]).get(prefix), key)


def with_horovod(options: Options, before: Dict[str, Any]) -> Optional[Folder]:
    """Build upstream's Horovod if an arm needs it and no earlier call has built it."""
    if options["horovod"] != "upstream":
        return None
    inputs = _inputs(options, before)
    key = build_key(options, inputs, options["image_id"])
    prefix = prefix_of(options, key)
    require_plain(prefix)
    missing = not _is_built(options, prefix, key)
    if missing and "pip" not in before["packages"]:
        python = before["python"]
        raise AccelerationError(
            f"{python['executable']} ({python['version']}) has no pip to build Horovod with: install it in the image, or set "
            "python to one that has"
        )
    if missing and not options["check_mode"]:
        os.makedirs(options["prefix_dir"], exist_ok=True)
        # Other workers of the host may share the folder.
        with held(options["prefix_dir"], LOCK_SECONDS, "building or removing Horovod"):
            if not _is_built(options, prefix, key):
                Builder(prefix, options, inputs).build(key)
    return Folder("PYTHONPATH", prefix, missing)


def present(options: Options) -> Dict[str, Any]:
    """Create what the arms need. One that can't be created does not keep the other one from being created."""
    before = state(options)
    folders: List[Folder] = []
    errors: List[str] = []
    for make in (with_library, with_horovod):
        try:
            folder = make(options, before)
        except (AccelerationError, BuildError, FileError, FoldersError, LibraryError) as error:
            errors.append(str(error))
        except OSError as error:
            errors.append(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        else:
            folders += [folder] if folder else []
    after = state(options)
    if options["check_mode"]:
        paths = {folder.variable: folder.path for folder in folders}
        built = {paths["PYTHONPATH"]} if "PYTHONPATH" in paths else set()
        after["builds"] = sorted(set(before["builds"]) | built)
        after["empty_library"] = paths.get("LD_LIBRARY_PATH", before["empty_library"])
    return {
        "before": before,
        "after": after,
        "changed": any(folder.created for folder in folders),
        "prepended": {folder.variable: folder.path for folder in folders},
        "requires": {name: find_required(name) for name in options["requires"]},
        "errors": errors,
    }


def _remove_builds(folder: str) -> None:
    """Remove each build that can be removed, and name the others."""
    problems = []
    with held(folder, LOCK_SECONDS, "building or removing Horovod"):
        for path in own_builds(folder):
            try:
                if os.path.isdir(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)
            except OSError as error:
                problems.append(f"{error.filename or path} ({error.strerror})")
        if not os.listdir(folder):
            os.rmdir(folder)
    if problems:
        raise AccelerationError(f"could not be removed: {'; '.join(problems)}. Correct that and run this again")


def absent(options: Options) -> Dict[str, Any]:
    """Remove what calls with other options have created, unless running processes use it."""
    before = state(options)
    library, builds = library_of(options), own_builds(options["prefix_dir"])
    ours = builds + [library] * os.path.lexists(library)
    users = users_of(ours) if ours else []
    errors: List[str] = []
    if users and not options["interrupt_running_work"]:
        shown = ", ".join(map(str, users[:5])) + (f" and {len(users) - 5} more" if len(users) > 5 else "")
        errors.append(
            f"running processes ({shown}) use {', '.join(ours)}: end them, or set interrupt_running_work (taco_interrupt_running_work)"
        )
    elif not options["check_mode"]:
        try:
            remove_library(library)
            if builds:
                _remove_builds(options["prefix_dir"])
        except (AccelerationError, FoldersError, LibraryError) as error:
            errors.append(str(error))
    after = dict(before, builds=[], empty_library=None) if options["check_mode"] and not errors else state(options)
    return {
        "before": before,
        "after": after,
        "changed": bool(ours) and not errors,
        "prepended": {},
        "requires": {},
        "errors": errors,
    }


def main(options: Options) -> Dict[str, Any]:
    """Return the result, with errors and warnings."""
    result = absent(options) if options["state"] == "absent" else present(options)
    advice = old_record_text(options["state_dir"])
    return dict(result, warnings=[advice] if advice else [])

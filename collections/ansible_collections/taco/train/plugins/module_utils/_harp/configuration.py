# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configure HARP by its setup script or by rendered files, write the host manifest, and revert all of it."""

import os
from typing import Any, Callable, Dict, List, Mapping

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, replace_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.history import HistoryError
from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.changes import Change, changes, difference
from ansible_collections.taco.train.plugins.module_utils._harp.files import (
    alone,
    checksums,
    history,
    is_own_manifest,
    revert,
    settle,
    unsettled,
)
from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST
from ansible_collections.taco.train.plugins.module_utils._harp.script import ScriptError
from ansible_collections.taco.train.plugins.module_utils._harp.setup import apply_script
from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError
from ansible_collections.taco.train.plugins.module_utils._process.running_work import require_idle, running_work

ERRORS = (harp.HarpError, FoldersError, HistoryError, ScriptError, EniError, FileError, OSError, UnicodeError)


def configure(
    options: Mapping[str, Any], check_mode: bool, warn: Callable[[str], None], open_url: Callable[..., Any]
) -> Dict[str, Any]:
    """Apply the options of the module harp_config and return its result. Raises one of ERRORS. open_url is that of Ansible."""

    def permit() -> None:
        _permit_change(options, check_mode, warn)

    if options["state"] == "absent":
        diff = revert(options["state_dir"], options["force"], check_mode, permit)
        result: Dict[str, Any] = dict(changed=bool(diff), ran=False, enis=[], diff=diff)
    else:
        result = _present(options, check_mode, permit, open_url)
    files = checksums(options["config_dir"], options["config_glob"])
    return dict(result, files=[dict(path=path, size=os.path.getsize(path)) for path in files])


def _permit_change(options: Mapping[str, Any], check_mode: bool, warn: Callable[[str], None]) -> None:
    """Raise if work runs on the host. Warn instead in check mode, or if running work may be interrupted."""
    scope = dict(gpus=True, container=options["container"], containers=False, engine_command=["docker"])
    refusal = require_idle("The change of HARP's configuration", running_work(scope), "interrupt")
    if refusal and not options["interrupt_running_work"] and not check_mode:
        raise harp.HarpError(refusal)
    if refusal:
        warn(refusal)


def _present(
    options: Mapping[str, Any], check_mode: bool, permit: Callable[[], None], open_url: Callable[..., Any]
) -> Dict[str, Any]:
    target = harp.target_of(options)
    result: Dict[str, Any] = dict(changed=False, ran=False, diff=[], enis=target.enis)
    if options["source"] == "script":
        result.update(apply_script(options, target, check_mode, permit, open_url))
    written = _apply_template(options, target.minimum, check_mode, permit) if options["source"] == "template" else []
    if options["manifest"] and options["node"]:
        result["manifest"] = os.path.join(options["state_dir"], MANIFEST)
        written += _write_manifest(options, target.enis, check_mode)
    diff = result["diff"] + [difference(*change) for change in written]
    return dict(result, changed=bool(diff), diff=diff)


def _apply_template(
    options: Mapping[str, Any], minimum: int, check_mode: bool, permit: Callable[[], None]
) -> List[Change]:
    """Write the rendered files that differ and return their changes."""
    config_dir, config_glob, state_dir = options["config_dir"], options["config_glob"], options["state_dir"]
    contents = harp.checked_rendered(options["rendered"], config_dir)
    paths = harp.merged_files(list(checksums(config_dir, config_glob)), contents, config_dir, config_glob)
    harp.check_files(paths, minimum, config_dir, config_glob, "rendered (harp_template) has too few files")
    differing = changes(contents)
    _refuse_foreign(options, differing)
    if differing:
        permit()
    if differing and not check_mode:
        with alone(state_dir, create=True):
            settle(state_dir)
            # Another run may have changed the files meanwhile.
            differing = changes(contents)
            for path, before, after in differing:
                CreatedFolders(state_dir).make(os.path.dirname(path))
                history(state_dir).note(path, after, [], generated=True)
                replace_file(path, after, mode=0o644 if before is None else None)
    return differing


def _refuse_foreign(options: Mapping[str, Any], differing: List[Change]) -> None:
    """Raise where a file would be replaced that no earlier run wrote, unless that is permitted."""
    state_dir = options["state_dir"]
    known = set(history(state_dir).paths()) | set(unsettled(state_dir))
    there = [path for path, before, _after in differing if before is not None or os.path.islink(path)]
    foreign = [path for path in there if path not in known]
    if foreign and not options["force"]:
        raise harp.HarpError(
            f"rendered (harp_template) would replace {', '.join(foreign)}, which no earlier run wrote: move it away, let dest "
            "(harp_template_dest) name other files, or set force: true (harp_force) to replace it; state: absent (harp_state) "
            "then restores it"
        )


def _write_manifest(options: Mapping[str, Any], enis: List[str], check_mode: bool) -> List[Change]:
    """Write the host manifest if it differs and return its change."""
    path = os.path.join(options["state_dir"], MANIFEST)
    if not is_own_manifest(path):
        raise harp.HarpError(
            f"{path} was not written by harp_config: move it away, or set state_dir (taco_state_dir) to another folder"
        )
    differing = changes({path: harp.manifest_text(options["node"], enis)})
    if differing and not check_mode:
        CreatedFolders(options["state_dir"]).make_state_dir()
        replace_file(path, differing[0].after, mode=0o644)
    return differing

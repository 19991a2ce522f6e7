# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide by the observation whether a host has the desired configuration of HARP."""

import hashlib
import os.path
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.options import CONFIG_GLOB, MANIFEST, OPTIONS
from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import Known


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def decide(options: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of the module harp_config, or None when the host has to be asked.

    options are those of the module; node is what node_info returned. Whatever would change something or be refused is left to
    the module.
    """
    there = node.get("harp") or {}
    path = os.path.join(options["state_dir"], MANIFEST)
    # Both also say that it was this state_dir and these files that were looked at.
    if options["state"] != "present" or not options["manifest"] or there.get("manifest") != path:
        return None
    if options["config_glob"] != CONFIG_GLOB or options["config_dir"] != there["config_dir"]:
        return None
    found = [one for one in there["config_files"] if one["size"]]
    if not all(one.get("sha256") for one in found):
        return None
    files = {one["path"]: one["sha256"] for one in found}
    try:
        target = harp.target_of(options)
        if there.get("manifest_sha256") != _sha256(harp.manifest_text(node, target.enis)):
            return None
        result = _from_source(options, there.get("record"), files, target)
    except (harp.HarpError, EniError, UnicodeError):
        return None
    if result is None:
        return None
    listed = [{"path": one["path"], "size": one["size"]} for one in found]
    return {
        "changed": False,
        "ran": False,
        **result,
        "enis": target.enis,
        "files": listed,
        "manifest": path,
        "diff": [],
    }


def _from_source(
    options: Mapping[str, Any], record: dict[str, Any] | None, files: dict[str, str], target: harp.Target
) -> dict[str, Any] | None:
    """Return what a source adds to the result when it has nothing to do, else None."""
    if options["source"] == "script":
        return _from_script(options, record, files, target)
    if options["source"] == "template":
        wanted = harp.checked_rendered(options["rendered"], options["config_dir"])
        enough = len(harp.merged_files(list(files), wanted, options["config_dir"], CONFIG_GLOB)) >= target.minimum
        same = all(files.get(path) == _sha256(content) for path, content in wanted.items())
        return {} if enough and same else None
    return {}


def _from_script(
    options: Mapping[str, Any], record: dict[str, Any] | None, files: dict[str, str], target: harp.Target
) -> dict[str, Any] | None:
    expected = harp.promised_sha256(options)
    if record is None or not options["script"]:
        return None
    reason = harp.reason_to_run(record, options, expected, target, files)
    return {"sha256": record["sha256"]} if reason is None else None


# All options except node, which is the observation, and whatever option is added later.
KNOWN = Known(
    OPTIONS,
    frozenset(
        [
            *("state", "force", "source", "script", "script_content", "sha256", "allow_unverified", "interpreter"),
            *("expected_text", "environment", "timeout", "rendered", "config_dir", "config_glob", "eni_pattern"),
            *("enis", "minimum_files", "manifest", "container", "interrupt_running_work", "state_dir"),
        ]
    ),
    decide,
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the setup script of HARP where the host, the script or its settings changed since the last successful run."""

import hashlib
import json
import os
from typing import Any, Callable, Dict, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.fetch import fetch_script
from ansible_collections.taco.train.plugins.module_utils._harp.files import RUNNING, alone, checksums, recorded
from ansible_collections.taco.train.plugins.module_utils._harp.options import RECORD
from ansible_collections.taco.train.plugins.module_utils._harp.script import run_script


def apply_script(
    options: Mapping[str, Any],
    target: harp.Target,
    check_mode: bool,
    permit: Callable[[], None],
    open_url: Callable[..., Any],
) -> Dict[str, Any]:
    """Run the script where necessary and return a part of the result of the module."""
    if not options["script"]:
        raise harp.HarpError("source: script (harp_source) needs a script: set script (harp_script)")
    expected = harp.promised_sha256(options)
    result = _decision(options, expected, target)
    if not result["changed"]:
        return result
    if check_mode:
        permit()
        return result
    content = fetch_script(options, open_url)
    sha256 = hashlib.sha256(content).hexdigest()
    harp.check_sha256(options["script"], sha256, expected)
    with alone(options["state_dir"], create=True):
        # Another run may have changed the host meanwhile.
        result = _decision(options, expected, target)
        if result["changed"]:
            permit()
            record = harp.new_record(options, sha256, target, _run(options, content, sha256, target))
            text = json.dumps(record, indent=1, sort_keys=True) + "\n"
            replace_file(os.path.join(options["state_dir"], RECORD), text.encode("utf-8"), mode=0o600)
            result["sha256"] = sha256
    return result


def _decision(options: Mapping[str, Any], expected: Optional[str], target: harp.Target) -> Dict[str, Any]:
    """Return whether the script has to run, and why. expected is its checksum or None."""
    try:
        record = json.loads((read_bytes(os.path.join(options["state_dir"], RECORD)) or b"").decode("utf-8"))
    except ValueError:
        record = None
    files = checksums(options["config_dir"], options["config_glob"])
    reason = harp.reason_to_run(record, options, expected, target, files)
    if reason is None:
        return dict(changed=False, ran=False, sha256=record["sha256"])
    diff = [dict(prepared=f"HARP's setup script {options['script']} runs: {reason}\n")]
    return dict(changed=True, ran=True, sha256=expected or "", reason=reason, diff=diff)


def _run(options: Mapping[str, Any], content: bytes, sha256: str, target: harp.Target) -> Dict[str, str]:
    """Store the script, run it, and return the checksums of the configuration files, or raise if it failed."""
    config_dir, config_glob = options["config_dir"], options["config_glob"]
    folder = os.path.join(options["state_dir"], "harp")
    path = os.path.join(folder, "setup-" + sha256[:12])
    replace_file(path, content, mode=0o700)
    first_line = content.partition(b"\n")[0].decode("utf-8", "replace")
    argv = harp.interpreter_for(options["script"], first_line, options["interpreter"]) + [path]
    environment = {"TACO_ENI_INTERFACES": ",".join(target.enis)}
    environment.update((key, str(value)) for key, value in options["environment"].items())
    log = os.path.join(folder, "setup.log")
    # A run that fails or is killed from here on must be repeated, even if all settings are reverted.
    remove_file(os.path.join(options["state_dir"], RECORD))
    with recorded(options["state_dir"], config_dir, config_glob):
        run = run_script(argv, environment, options["timeout"], log, os.path.join(folder, RUNNING))
    harp.check_run(run.status, run.output, options["expected_text"], options["timeout"], log)
    files = checksums(config_dir, config_glob)
    harp.check_files(list(files), target.minimum, config_dir, config_glob, "the HARP setup script ended well")
    return files

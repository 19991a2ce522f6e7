# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configure HARP by its setup script, which may be downloaded, or by rendered files, write the host manifest, and revert it all."""

import hashlib
import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    read_bytes,
    remove_file,
    replace_file,
)
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.download import read_url
from ansible_collections.taco.train.plugins.module_utils._files.journal import Journal
from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.files import (
    RUNNING,
    Change,
    alone,
    changes,
    checksums,
    difference,
    foreign_files,
    is_own_manifest,
    journal_of,
    revert,
)
from ansible_collections.taco.train.plugins.module_utils._harp.harp import HarpError, is_url
from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST, RECORD
from ansible_collections.taco.train.plugins.module_utils._harp.script import ScriptError, run_script
from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError
from ansible_collections.taco.train.plugins.module_utils._process.running_work import require_idle, running_work

LARGEST_SCRIPT = 8 * 1024 * 1024
DOWNLOAD_SECONDS = 60


def fetch_script(options: Mapping[str, Any], open_url: Callable[..., Any]) -> bytes:
    """Return the bytes of the script, or raise HarpError."""
    script = options["script"]
    if options["script_content"] is not None:
        return str(options["script_content"]).encode("utf-8")
    if is_url(script):
        return _download(script, open_url)
    content = read_bytes(script)
    if content is None:
        raise HarpError(
            f"there is no {script} on this host: set script (harp_script, which may be a file on the controller too) to a "
            "path that is there, or to a URL"
        )
    return content


def _download(script: str, open_url: Callable[..., Any]) -> bytes:
    if not script.lower().startswith(("http://", "https://")):
        raise HarpError(f"{script} can't be downloaded: use http or https in script (harp_script)")
    try:
        content = read_url(script, LARGEST_SCRIPT + 1, open_url, timeout=DOWNLOAD_SECONDS, http_agent="taco.train")
    except OSError as error:
        raise HarpError(
            f"{script} can't be downloaded: {error}. Set script (harp_script) to a URL or path that works"
        ) from error
    if len(content) > LARGEST_SCRIPT:
        raise HarpError(
            f"{script} is larger than {LARGEST_SCRIPT} bytes and no setup script: correct script (harp_script)"
        )
    return content


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
    journal = journal_of(options["state_dir"])
    with alone(journal):
        # Another run may have changed the host meanwhile.
        result = _decision(options, expected, target)
        if result["changed"]:
            permit()
            record = harp.new_record(options, sha256, target, _run(journal, options, content, sha256, target))
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
    diff = [dict(prepared=_prepared(options, expected, reason))]
    return dict(changed=True, ran=True, sha256=expected or "", reason=reason, diff=diff)


def _prepared(options: Mapping[str, Any], expected: Optional[str], reason: str) -> str:
    """Describe the run of the script. Of its environment, which can hold secrets, the checksum."""
    content = options["script_content"]
    known = expected or (hashlib.sha256(str(content).encode("utf-8")).hexdigest() if content is not None else "unknown")
    environment = json.dumps(harp.settings(options), sort_keys=True)
    return (
        f"HARP's setup script {options['script']} runs: {reason}\nSHA-256 of the script: {known}\n"
        f"SHA-256 of its environment and interpreter: {hashlib.sha256(environment.encode('utf-8')).hexdigest()}\n"
    )


def _run(
    journal: Journal, options: Mapping[str, Any], content: bytes, sha256: str, target: harp.Target
) -> Dict[str, str]:
    """Store the script, run it, and return the checksums of the configuration files, or raise if it failed."""
    config_dir, config_glob = options["config_dir"], options["config_glob"]
    folder = os.path.join(options["state_dir"], "harp")
    path = os.path.join(folder, "setup-" + sha256[:12])
    journal.folders.make(folder, 0o700)
    replace_file(path, content, mode=0o700)
    first_line = content.partition(b"\n")[0].decode("utf-8", "replace")
    argv = harp.interpreter_for(options["script"], first_line, options["interpreter"]) + [path]
    environment = {"TACO_ENI_INTERFACES": ",".join(target.enis)}
    environment.update((key, str(value)) for key, value in options["environment"].items())
    log = os.path.join(folder, "setup.log")
    # A run that fails or is killed from here on must be repeated, even if all settings are reverted.
    remove_file(os.path.join(options["state_dir"], RECORD))
    journal.commit()
    journal.folders.record([config_dir])
    journal.begin({}, watched=(config_dir, config_glob))
    try:
        run = run_script(argv, environment, options["timeout"], log, os.path.join(folder, RUNNING))
    finally:
        journal.commit()
    harp.check_run(run.status, run.output, options["expected_text"], options["timeout"], log)
    files = checksums(config_dir, config_glob)
    harp.check_files(list(files), target.minimum, config_dir, config_glob, "the HARP setup script ended well")
    return files


ERRORS = (harp.HarpError, FoldersError, ScriptError, EniError, FileError, OSError, UnicodeError)


def configure(
    options: Mapping[str, Any], check_mode: bool, warn: Callable[[str], None], open_url: Callable[..., Any]
) -> Dict[str, Any]:
    """Apply the options of the module harp_config and return its result. Raises one of ERRORS. open_url is that of Ansible."""

    def permit() -> None:
        _permit_change(options, check_mode, warn)

    if options["state"] == "absent":
        diff = revert(options["state_dir"], options["force"], check_mode, permit)
        result: Dict[str, Any] = dict(changed=bool(diff), ran=False, enis=[], diff=diff, reason="state is absent")
        for path in foreign_files(options["state_dir"]):
            warn(f"{path} is not known to be written by harp_config and stays: remove it yourself if nobody needs it")
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
    result.setdefault("reason", "the files differ from those that source and node give" if diff else "nothing differs")
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
        journal = journal_of(state_dir)
        with alone(journal):
            journal.commit()
            # Another run may have changed the files meanwhile.
            differing = changes(contents)
            planned = {path: after for path, _before, after in differing}
            journal.begin(planned, shared=list(planned))
            for path, before, after in differing:
                journal.folders.make(os.path.dirname(path))
                replace_file(path, after, mode=0o644 if before is None else None)
            journal.commit()
    return differing


def _refuse_foreign(options: Mapping[str, Any], differing: List[Change]) -> None:
    """Raise where a file would be replaced that no earlier run wrote, unless that is permitted."""
    state_dir = options["state_dir"]
    journal = journal_of(state_dir)
    known = set(journal.paths()) | set(journal.pending())
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

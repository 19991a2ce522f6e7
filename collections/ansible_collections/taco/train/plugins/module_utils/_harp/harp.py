# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide whether HARP has to be configured, by what, and whether it was. Values in, values out.

The format of ztcp*.conf is the vendor's and not published. Nothing here writes or reads its contents.
"""

import fnmatch
import hashlib
import json
import os.path
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._harp.record import (
    Identity,
    changed_interfaces,
    identity,
    same_settings,
    settings_digest,
)
from ansible_collections.taco.train.plugins.module_utils._node.enis import AmbiguousError, find_enis

RECORD_VERSION = 2
MANIFEST_VERSION = 1
TAIL_LINES = 12
PER_ENI = "per_eni"

_SHA256 = re.compile(r"[0-9a-f]{64}")


class HarpError(Exception):
    """HARP can't be configured as asked, or was not."""


def _found(options: Mapping[str, Any], nics: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    try:
        return find_enis(nics, options["eni_pattern"] or None)
    except AmbiguousError:
        # Whoever configures HARP by other means knows which they are.
        if options["source"] == "none":
            return []
        raise


class Target(NamedTuple):
    """What the configuration is for."""

    enis: List[str]  # by name
    interfaces: List[Identity]
    minimum: int  # configuration files that there must be


def minimum_files(wanted: Any, enis: int) -> int:
    """Return how many configuration files there must be: the number given, or V(per_eni), which is one for each ENI."""
    text = str(wanted).strip()
    if text == PER_ENI:
        return enis or 1
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) < 1:
        raise HarpError(f"minimum_files (harp_minimum_files) is {wanted!r}: expected a number from 1, or {PER_ENI}")
    return int(text)


def target_of(options: Mapping[str, Any]) -> Target:
    """Return what the options of the module harp_config name: given ENIs, or those found among the interfaces of the node."""
    nics = (options["node"] or {}).get("nics") or []
    if options["enis"] is None:
        found = _found(options, nics)
        interfaces = [identity(nic) for nic in found]
        enis = [nic["name"] for nic in found]
    else:
        by_name = {nic["name"]: nic for nic in nics}
        enis = options["enis"]
        interfaces = [dict(identity(by_name.get(name, {"name": name})), key=name) for name in enis]
    return Target(enis, interfaces, minimum_files(options["minimum_files"], len(enis)))


def is_url(script: str) -> bool:
    """Return whether a script is to be downloaded."""
    return bool(re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", script))


def checked_sha256(expected: Optional[str], allow_unverified: bool) -> Optional[str]:
    """Return the checksum that the script must have, None when the user said that it needs none."""
    if expected:
        text = expected.strip().lower()
        if not _SHA256.fullmatch(text):
            raise HarpError(
                f"sha256 (harp_script_sha256) is {expected!r}: expected the 64 hexadecimal digits that `sha256sum` prints"
            )
        return text
    if allow_unverified:
        return None
    raise HarpError(
        "sha256 (harp_script_sha256) is not set: set it to the value that `sha256sum` prints for a script you have read, "
        "or set allow_unverified: true (harp_allow_unverified)"
    )


def check_sha256(script: str, found: str, expected: Optional[str]) -> None:
    """Raise unless the script is the one that was promised."""
    if expected is not None and found != expected:
        raise HarpError(
            f"{script} is not the script that was promised and was not run: expected SHA-256 {expected}, found {found}. "
            "Read the script; if it is right, set sha256 (harp_script_sha256) to what was found"
        )


def promised_sha256(options: Mapping[str, Any]) -> Optional[str]:
    """Return the checksum that the script must have, None when it needs none. One that is at hand must have it now."""
    expected = checked_sha256(options["sha256"], options["allow_unverified"])
    if options["script_content"] is None:
        return expected
    found = hashlib.sha256(options["script_content"].encode("utf-8")).hexdigest()
    check_sha256(options["script"], found, expected)
    return found


def interpreter_for(script: str, first_line: str, chosen: Optional[Sequence[str]]) -> List[str]:
    """Return what runs the script: what the user chose, else what its name says, else what its first line says.

    An empty list is a choice: the script is run by itself, as its own program.
    """
    if chosen is not None:
        return list(chosen)
    name = re.split(r"[?#]", script)[0].lower()
    if name.endswith(".sh"):
        return ["bash"]
    if name.endswith(".py"):
        # The vendor's document has `python`, which is Python 2 on CentOS 7 and missing on Ubuntu.
        return ["python3"]
    if first_line.startswith("#!") and first_line[2:].strip():
        return first_line[2:].split()
    raise HarpError(f"{script} has no known extension and no #! line: set interpreter (harp_interpreter), as to [bash]")


def settings(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The environment and the interpreter of the script. Its first line, which may name an interpreter, is a part of the script."""
    try:
        interpreter = interpreter_for(options["script"], "", options["interpreter"])
    except HarpError:
        interpreter = []
    environment = {str(name): str(value) for name, value in options["environment"].items()}
    return {"environment": environment, "interpreter": interpreter}


def reason_to_run(
    record: Optional[Dict[str, Any]],
    options: Mapping[str, Any],
    sha256: Optional[str],
    target: Target,
    files: Dict[str, str],
) -> Optional[str]:
    """Return why the script has to run, None when it did its job and nothing has changed since.

    files are the configuration files that are there, with their checksums. Without a checksum to compare, a script of
    the same name counts as the same. The record of another version lacks what has to be compared.
    """
    if not isinstance(record, dict) or record.get("source") != "script":
        return "it has not run before"
    if record.get("version") != RECORD_VERSION:
        return f"the record of its last run has version {record.get('version')}, expected {RECORD_VERSION}"
    try:
        return _difference(record, options, sha256, target, files)
    except (AttributeError, KeyError, TypeError, ValueError):
        return "the record of its last run is damaged"


def _difference(
    record: Dict[str, Any],
    options: Mapping[str, Any],
    sha256: Optional[str],
    target: Target,
    files: Dict[str, str],
) -> Optional[str]:
    if sha256 is not None and record["sha256"] != sha256:
        return "the script changed"
    if sha256 is None and record["script"] != options["script"]:
        return "the script changed"
    difference = changed_interfaces(record["interfaces"], target.interfaces)
    if difference:
        return difference
    if not same_settings(record["settings"], settings(options)):
        return "environment (harp_environment) or interpreter (harp_interpreter) changed"
    for path, checksum in sorted(record["files"].items()):
        if path not in files:
            return f"{path} is gone"
        if files[path] != checksum:
            return f"{path} changed"
    if len(files) < target.minimum:
        return f"there are {len(files)} configuration files, and {target.minimum} are needed"
    return None


def new_record(options: Mapping[str, Any], sha256: str, target: Target, files: Dict[str, str]) -> Dict[str, Any]:
    """Return the record of a script that did its job. Of its environment, which can hold secrets, it has a hash only."""
    return {
        "version": RECORD_VERSION,
        "source": "script",
        "script": options["script"],
        "sha256": sha256,
        "interfaces": target.interfaces,
        "settings": settings_digest(settings(options)),
        "files": files,
    }


def _tail(output: str) -> str:
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return " | ".join(lines[-TAIL_LINES:]) or "nothing"


def check_files(files: Sequence[str], minimum: int, folder: str, pattern: str, what: str) -> None:
    """Raise unless there are enough files that aren't empty."""
    if len(files) < minimum:
        found = ", ".join(sorted(os.path.basename(path) for path in files)) or "none"
        raise HarpError(
            f"{what}: expected at least {minimum} {'file' if minimum == 1 else 'files'} {pattern} in {folder} that "
            f"{'is' if minimum == 1 else 'are'} not empty, found {len(files)} ({found}). Attach the ENIs first, or correct "
            "minimum_files (harp_minimum_files)"
        )


def check_run(status: Optional[int], output: str, expected_text: Sequence[str], timeout: int, log: str) -> None:
    """Raise unless the script ended well and said so. Each alone has been seen without the other."""
    said = f"it said: {_tail(output)} (all of it in {log})"
    if status is None:
        raise HarpError(f"the script did not end within {timeout} s and was stopped: timeout (harp_timeout); {said}")
    if status != 0:
        raise HarpError(f"the HARP setup script failed with exit status {status}; {said}")
    if expected_text and not any(text in output for text in expected_text):
        wanted = " or ".join(repr(text) for text in expected_text)
        raise HarpError(f"the HARP setup script ended with exit status 0 but without saying {wanted}; {said}")


def checked_rendered(rendered: Sequence[Dict[str, str]], folder: str) -> Dict[str, str]:
    """Return {path: content} of what a user's template rendered, or say why it is no configuration."""
    if not rendered:
        raise HarpError(
            "rendered (harp_template) has no file: it needs one for each ENI. Where no ENI was found, check eni_pattern"
        )
    files = {}  # type: Dict[str, str]
    for entry in rendered:
        path = os.path.normpath(os.path.join(folder, entry["dest"]))
        if not entry["content"].strip():
            raise HarpError(f"rendered (harp_template) has nothing for {path}: expected the configuration of HARP")
        if path in files:
            raise HarpError(f"dest (harp_template_dest) is {path} for two ENIs: use index, or eni.name, in it")
        files[path] = entry["content"]
    return files


def merged_files(present: Sequence[str], written: Dict[str, str], folder: str, pattern: str) -> List[str]:
    """Return the configuration files that there are once the rendered ones have been written."""
    ours = [
        path
        for path in written
        if os.path.dirname(path) == os.path.normpath(folder) and fnmatch.fnmatchcase(os.path.basename(path), pattern)
    ]
    return sorted(set(present) | set(ours))


def manifest(node: Mapping[str, Any], enis: Sequence[str]) -> Dict[str, Any]:
    """Return what a host offers to HARP: its interfaces, GPUs, CPUs and hugepages. Nothing that changes by itself."""
    interfaces = [
        dict(
            {key: nic[key] for key in ("name", "mac", "pci", "numa_node", "driver", "kind", "primary", "addresses")},
            eni=nic["name"] in enis,
        )
        for nic in node["nics"]
        if nic["kind"] in ("physical", "bond", "bond_member") or nic["name"] in enis
    ]
    pools = [
        {
            "size_bytes": pool["size_bytes"],
            "total": pool["total"],
            "nodes": [{"node": entry["node"], "total": entry["total"]} for entry in pool["nodes"]],
        }
        for pool in node["hugepages"]["pools"]
    ]
    return {
        "version": MANIFEST_VERSION,
        "written_by": "taco.train",
        "note": "What this host offers to HARP. Not a configuration of HARP.",
        "hostname": node["hostname"],
        "interfaces": interfaces,
        "gpus": node["gpus"]["devices"],
        "cpus": node["cpu"]["count"],
        "hugepages": {"default_size_bytes": node["hugepages"]["default_size_bytes"], "pools": pools},
    }


def manifest_text(node: Mapping[str, Any], enis: Sequence[str]) -> str:
    """Return the text of the host manifest's file."""
    return json.dumps(manifest(node, enis), indent=1, sort_keys=True) + "\n"

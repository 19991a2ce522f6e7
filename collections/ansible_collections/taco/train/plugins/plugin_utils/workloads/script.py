# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the script of a run comes from, and where the workers have it. Values in, values out.

A script is a URL, a file on the controller, or a path in the training image. The first two are delivered to the workers, into a
folder that is named after the script's content: two scripts of one name never replace each other.
"""

import hashlib
import posixpath
import re
from typing import Any, Mapping, NamedTuple, Optional, Sequence
from urllib.parse import unquote, urlsplit

from ansible_collections.taco.train.plugins.plugin_utils.values import SHA256, InvalidValueError, is_placeholder
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Options

# The value of benchmark_options.script_checksum for a script that is run unverified.
WAIVED = "none"
# Below taco_state_dir. The training container mounts the first folder of it at the same path.
FOLDER = "horovod/scripts"
# Digits of a checksum that name a folder.
SHORT = 12
# Bytes that the name of a file has at most.
LONGEST_NAME = 255
URL = re.compile(r"(?i:https?)://[^\s/]+/\S+")
FORM = "sha256:<64 hexadecimal digits>, or none for a script without verification"


class Source(NamedTuple):
    """Where a script that is delivered comes from."""

    kind: str
    """url or controller."""
    source: str
    file: str
    """Its path on the controller, after the download of a URL."""
    sha256: Optional[str]
    """The required checksum, None where none is required."""


def is_url(script: str) -> bool:
    return "://" in script


def is_of_controller(script: str) -> bool:
    """Whether only a file on the controller can be meant: in an image a script has an absolute path."""
    return not is_url(script) and not script.startswith("/")


def read_checksum(text: str) -> Optional[str]:
    """The SHA-256 in a checksum of the form of ansible.builtin.get_url, None for the waiver; raise for any other text."""
    # A literal block of YAML has the end of its line.
    text = text.rstrip()
    if text == WAIVED:
        return None
    algorithm, _colon, digits = text.partition(":")
    if algorithm.lower() != "sha256" or not SHA256.match(digits):
        raise InvalidValueError(f"benchmark_options.script_checksum is {text!r}; it must be {FORM}.")
    if is_placeholder(digits.lower()):
        raise InvalidValueError(
            f"benchmark_options.script_checksum is {text!r}, a placeholder; it must be the output of sha256sum for the script."
        )
    return digits.lower()


def required_sha256(script: Optional[str], checksum: Optional[str]) -> Optional[str]:
    """The SHA-256 that a script must have, None where none is required; raise for a URL without a checksum or waiver."""
    if script and is_url(script) and (not URL.fullmatch(script) or not _can_be_file(name_of(script))):
        raise InvalidValueError(
            f"benchmark_options.script is {script}; a URL must begin with https:// or http:// and name a file."
        )
    if checksum:
        return read_checksum(checksum)
    if script and is_url(script):
        raise InvalidValueError(
            f"benchmark_options.script is {script}, and benchmark_options.script_checksum is not set: set it to sha256: and the "
            f"output of sha256sum for the script, or to {WAIVED} to run the script unverified."
        )
    return None


def _can_be_file(name: str) -> bool:
    """Whether a name out of a URL, where %00 and %0a are characters of it, can be that of a file."""
    return name not in ("", ".", "..") and name.isprintable() and len(name.encode()) <= LONGEST_NAME


def name_of(script: str) -> str:
    """The name of a script's file."""
    try:
        path = unquote(urlsplit(script).path) if is_url(script) else script
    except ValueError:
        # Such as a bracket of an IPv6 address that is not closed.
        return ""
    return posixpath.basename(path.rstrip("/"))


def source_of(script: str, checksum: Optional[str], found: Optional[str], downloads: str) -> Optional[Source]:
    """Where a script comes from, None for a path in the training image; raise for a file that the controller lacks.

    found is the file on the controller that Ansible finds by this name, downloads a folder there.
    """
    expected = required_sha256(script, checksum)
    if is_url(script):
        unverified = "unverified-" + hashlib.sha256(script.encode()).hexdigest()[:SHORT]
        prefix = expected[:SHORT] if expected else unverified
        return Source("url", script, posixpath.join(downloads, prefix, name_of(script)), expected)
    if found:
        return Source("controller", script, found, expected)
    if is_of_controller(script):
        raise InvalidValueError(
            f"benchmark_options.script is {script}, and there is no such file on the controller, neither in the playbook's folder nor in "
            "files beside the playbook: correct it, or set it to a URL or to an absolute path in the training image."
        )
    return None


def delivery(
    script: str, checksum: Optional[str], source: Source, found: Optional[str], state_dir: str
) -> dict[str, Any]:
    """What a play has to do for a script, and the path that the workers then have it at; found is the SHA-256 of the file."""
    if source.kind == "controller" and source.sha256 not in (None, found):
        raise InvalidValueError(
            f"benchmark_options.script is {script}: expected SHA-256 {source.sha256}, found {found}; correct "
            "benchmark_options.script_checksum or the file."
        )
    sha256 = source.sha256 or found
    folder = posixpath.join(state_dir, FOLDER, sha256[:SHORT] if sha256 else "unknown")
    return {
        "script": script,
        "checksum": checksum,
        "kind": source.kind,
        "source": source.source,
        "file": source.file,
        "present": found is not None,
        "sha256": sha256,
        "verified": source.sha256 is not None,
        "folder": folder,
        "path": posixpath.join(folder, name_of(script)),
    }


def with_delivered(options: Options) -> Options:
    """The options of a run with the path of its script on the workers, where it is delivered."""
    one = delivered(options, options["scripts"])
    return dict(options, script=one["path"]) if one else options


def delivered(options: Options, scripts: Sequence[Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
    """The delivery of the script of a run, None for a script that is not delivered."""
    wanted = (options.get("script"), options.get("script_checksum"))
    return next((one for one in scripts if (one["script"], one["checksum"]) == wanted), None)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Horovod built into a folder of its own, which a run puts before the image's by PYTHONPATH. Values in, values out."""

import hashlib
import json
import os
import re
from typing import Any, Dict, List, Optional

# LightCC's name changed between versions; both bring the package `horovod`, as upstream's does.
HOROVODS = ("horovod", "light-horovod", "tencent-lightcc")
# Horovod is built against those that are there.
FRAMEWORKS = ("mxnet", "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "torch", "ttensorflow")
BUILD_FILE = "taco-train-build.json"
# Beside a build's folder: itself until it is whole, and what pip said.
UNFINISHED = ".new"
LOG = ".log"
OWN_NAME = re.compile(r"horovod-[^/]+-[0-9a-f]{12}(\.new|\.log)?")
# The first pip that builds in isolation, where Horovod finds no framework to build against.
FIRST_ISOLATING_PIP = 10
# Of a build's log as many reasons and last lines are told.
FIRST_REASONS, LAST_LINES = 3, 4

_INFO = re.compile(r"(?P<name>.+?)-(?P<version>[0-9][^-]*)(-py[0-9.]+(-.+)?)?\.(dist-info|egg-info)")
_MISSING = re.compile(r"^(\S+) \S+ requires (\S+), which is not installed\.", re.M)
# What compilers, CMake, Python and pip begin the reason with, and what pip adds that is none.
_REASON = re.compile(r"(^|\s)(CMake Error|ERROR|error|fatal error|[A-Za-z.]+Error)( at | in |:)")
_NO_REASON = re.compile(r"subprocess-exited-with-error|^(note|hint): |\[end of output\]|^[×╰]|^$")
_UNFIT = re.compile(r"^(\S+) \S+ has requirement (.+), but you(?:'ll)? have .+\.$", re.M)


def parse_info(name: str) -> Optional[List[str]]:
    """Return [name, version] of a package from the name of the folder that describes it, None for any other folder."""
    match = _INFO.fullmatch(name)
    return [re.sub(r"[-_.]+", "-", match.group("name")).lower(), match.group("version")] if match else None


def is_path(source: Optional[str]) -> bool:
    return bool(source) and str(source).startswith("/")


def requirement(version: str, source: Optional[str]) -> str:
    return source or "horovod==" + version


def build_key(options: Dict[str, Any], seen: Dict[str, Any], image_id: Optional[str]) -> str:
    """Return a checksum of all that a build depends on."""
    inputs = {
        "requirement": requirement(options["horovod_version"], options["horovod_source"]),
        "sha256": seen["source_sha256"],
        "version": options["horovod_version"],
        "environment": options["horovod_build_env"],
        "pip_args": options["pip_args"],
        "python": seen["python"]["version"],
        "frameworks": {name: seen["packages"][name] for name in FRAMEWORKS if name in seen["packages"]},
        "image": image_id,
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode("utf-8")).hexdigest()


def prefix_of(options: Dict[str, Any], key: str) -> str:
    return os.path.join(options["prefix_dir"], f"horovod-{options['horovod_version']}-{key[:12]}")


def is_built(text: Optional[str], key: str) -> bool:
    """Return whether a folder's own description says that it is this build. It is written last, so all of it is there."""
    try:
        return text is not None and json.loads(text)["key"] == key
    except (ValueError, KeyError, TypeError):
        return False


def pip_install(pip_version: str, target: str, what: List[str], pip_args: List[str], whole: bool) -> List[str]:
    """Return the arguments of pip, with what is required too (whole) or without.

    pip's cache knows a built package by its name only, not by the environment it was built in.
    """
    words = ["install", "--no-cache-dir", "--disable-pip-version-check", "--target", target]
    if not whole:
        words.append("--no-deps")
    if int(re.split(r"\D", pip_version)[0] or 0) >= FIRST_ISOLATING_PIP and not whole:
        words.append("--no-build-isolation")
    return words + list(pip_args) + list(what)


def missing_requirements(checked: str) -> List[str]:
    """Return what Horovod requires and Python doesn't find, from the output of `pip check`."""
    found = _MISSING.findall(checked) + _UNFIT.findall(checked)
    return sorted({required.strip() for package, required in found if package.lower() == "horovod"})


def python_path(prefix: str, own: str) -> str:
    """Return the worker's PYTHONPATH with a prefix before what it already holds."""
    return os.pathsep.join([prefix] + [part for part in own.split(os.pathsep) if part and part != prefix])


def failure_words(log: str) -> str:
    """Return where a build's log begins to speak of errors, with the line after each, and how it ends."""
    lines = [line.strip() for line in log.splitlines()]
    lines = [line for line in lines if not _NO_REASON.search(line)]
    told = []
    for number in [number for number, line in enumerate(lines) if _REASON.search(line)][:FIRST_REASONS]:
        told += [near for near in range(number, min(number + 2, len(lines))) if near not in told]
    told += [near for near in range(max(0, len(lines) - LAST_LINES), len(lines)) if near not in told]
    return " | ".join(lines[number][:300] for number in told) or "nothing"

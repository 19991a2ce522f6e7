# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plan the activation of one arm of a comparison on a worker. Observation in, plan out.

An observation is what _acceleration_worker.observe returns. The plugin is moved by one step at most; a Horovod of its own is
built once, and costs nothing to switch to and from.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._acceleration.horovod_prefix import (
    build_key,
    is_built,
    is_path,
    prefix_of,
    python_path,
)
from ansible_collections.taco.train.plugins.module_utils._acceleration.nccl_plugin import (
    PluginError,
    Step,
    files_after,
    parse_record,
    plan_plugin,
    state_of,
)

VERSION = re.compile(r"[0-9][0-9A-Za-z.+!]*")


class AccelerationError(Exception):
    """The options cannot be applied on this worker; nothing was changed."""


class Plan(NamedTuple):
    """What is to be done, in this order, and what the worker is like afterwards."""

    build: Optional[str]
    key: str
    step: Optional[Step]
    forget: bool
    remove: List[str]
    after: Dict[str, Any]
    environment: Dict[str, str]


def worker_key(container_id: Optional[str], root_layer: Optional[str]) -> str:
    """Return what tells this worker from one made anew under the same name.

    A pod is not told its container's id, but the writable layer of its file system is nobody else's.
    """
    return container_id or root_layer or "host"


def root_layer(mountinfo: str) -> Optional[str]:
    """Return the writable layer of an overlay at /, from /proc/self/mountinfo; None for any other file system."""
    found = None
    for line in mountinfo.splitlines():
        fields, _dash, kind = line.partition(" - ")
        if fields.split()[4:5] == ["/"] and kind.startswith("overlay "):
            layers = [word[9:] for word in kind.split(" ")[2].split(",") if word.startswith("upperdir=")]
            found = layers[0] if layers else found
    return found


def _plugin_wanted(options: Dict[str, Any]) -> str:
    return options["plugin"] if options["state"] == "present" else "first"


def _require_sole(options: Dict[str, Any], elsewhere: List[str]) -> None:
    if elsewhere and _plugin_wanted(options) == "off":
        raise AccelerationError(
            f"NCCL would load another plugin, {', '.join(elsewhere)}: move it out of the way, or set plugin_path to it"
        )


def _plan_horovod(options: Dict[str, Any], seen: Dict[str, Any], image_id: Optional[str]) -> Dict[str, Any]:
    """Return the prefix, its key, and whether it has to be built first."""
    if not VERSION.fullmatch(options["horovod_version"]):
        raise AccelerationError(f"horovod_version is {options['horovod_version']!r}: expected a version such as 0.21.3")
    source = options["horovod_source"]
    if is_path(source) and seen["source_sha256"] is None:
        raise AccelerationError(
            f"horovod_source {source} is no file that the worker sees: copy it there, or mount its folder"
        )
    key = build_key(options, seen, image_id)
    prefix = prefix_of(options, key)
    missing = not is_built(seen["builds"].get(prefix), key)
    if missing and "pip" not in seen["packages"]:
        raise AccelerationError(
            f"{seen['python']['executable']} ({seen['python']['version']}) has no pip to build Horovod with: "
            "install it in the image, or set python to one that has"
        )
    return {"prefix": prefix, "key": key, "build": missing}


def plan(options: Dict[str, Any], seen: Dict[str, Any], worker: str, image_id: Optional[str]) -> Plan:
    """Return what is to be done, or raise what is in the way (also PluginError)."""
    path = options["plugin_path"]
    record = parse_record(seen["record"], path, worker, seen["record_path"])
    try:
        step = plan_plugin(_plugin_wanted(options), path, seen["files"], record)
    except PluginError as error:
        if seen["elsewhere"] and state_of(path, seen["files"]) == "missing":
            raise AccelerationError(f"{error}; it may be {', '.join(seen['elsewhere'])}") from error
        raise
    _require_sole(options, seen["elsewhere"])
    after = observation(options, dict(seen, files=files_after(path, seen["files"], step)))
    environment, build, key, remove = {}, None, "", []
    if options["state"] == "present" and options["horovod"] == "upstream":
        chosen = _plan_horovod(options, seen, image_id)
        key = chosen["key"]
        environment = {"PYTHONPATH": python_path(chosen["prefix"], seen["pythonpath"])}
        if chosen["build"]:
            build = chosen["prefix"]
            after["builds"] = sorted(set(after["builds"]) | {build})
    if options["state"] == "absent":
        remove, after["builds"] = seen["leftovers"], []
    # What is kept in mind of another worker, or of a change that never came, is of no use.
    forget = options["state"] != "present" and seen["record"] is not None
    return Plan(build, key, step, forget, remove, after, environment)


def observation(options: Dict[str, Any], seen: Dict[str, Any]) -> Dict[str, Any]:
    """Return what is told of a worker."""
    path = options["plugin_path"]
    state = state_of(path, seen["files"])
    at = {"on": path, "missing": None}
    if state == "off":
        at["off"] = next(file["path"] for file in seen["files"] if file["path"] != path)
    return {
        "plugin": {"path": at[state], "state": state},
        "packages": seen["packages"],
        "python": seen["python"],
        "builds": sorted(seen["builds"]),
    }


def in_words(told: Dict[str, Any]) -> str:
    """Return an observation as lines for a diff."""
    plugin = told["plugin"]
    place = f" ({plugin['path']})" if plugin["path"] else ""
    lines = [f"NCCL plugin: {plugin['state']}{place}"]
    lines += [f"Horovod built in {build}" for build in told["builds"]]
    return "\n".join(lines) + "\n"

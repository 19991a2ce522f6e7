# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Understand what a container engine says about itself. Text in, values out."""

import json
import re
from typing import Any, Dict, List, Optional

DOCKER, PODMAN, ROOTLESS = "docker", "podman", "rootless docker"
DAEMON_JSON = "/etc/docker/daemon.json"
DATA_ROOT = "/var/lib/docker"
# Every engine has it.
DEFAULT_RUNTIMES: Dict[str, Any] = {"runc": {}}
# A container of the module training_container says by it what it was made from: a checksum, a dot, and what no other container has.
OPTIONS_LABEL = "taco.train.options"


def parse_version(text: str) -> Optional[str]:
    """Return the version in a line such as C(Docker version 24.0.7, build afdd53b)."""
    match = re.search(r"\bversion:?\s+v?(\d[^\s,]*)", text)
    return match.group(1) if match else None


def parse_object(text: str) -> Dict[str, Any]:
    """Return what docker prints with C(--format '{{json .}}'); a client without a server prints nothing, or one that is mostly empty."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _runtimes(info: Dict[str, Any], running: bool, daemon: Dict[str, Any]) -> List[str]:
    """The runtimes of an engine. One that is stopped will have those of its configuration file."""
    found = info.get("Runtimes")
    if not running:
        configured = daemon.get("runtimes")
        found = dict(DEFAULT_RUNTIMES, **(configured if isinstance(configured, dict) else {}))
    return sorted(found or {})


def _kind(info: Dict[str, Any], client: str) -> str:
    """Return what the command docker reaches: podman by the package podman-docker, or by its socket in DOCKER_HOST."""
    of_podman = isinstance(info.get("host"), dict) or "containers/storage" in str(info.get("DockerRootDir"))
    if client.startswith("podman") or of_podman:
        return PODMAN
    return ROOTLESS if "name=rootless" in (info.get("SecurityOptions") or []) else DOCKER


def judge_engine(
    info: str, error: str, client: str, toolkit: str, daemon: str = "", rootless: bool = False
) -> Dict[str, Any]:
    """Return the engine from the outputs of docker info, docker --version and nvidia-ctk --version, and from daemon.json.

    An engine that this user isn't allowed to talk to runs nevertheless. rootless is whether a user runs a daemon: where that of the
    system is stopped, somebody has chosen the other one.
    """
    known = parse_object(info)
    kind = _kind(known, client)
    podman = known.get("version") or {} if kind == PODMAN else {}
    version = known.get("ServerVersion") or podman.get("Version") or None
    running = kind != PODMAN and (bool(version) or "permission denied" in error.lower())
    return {
        "name": ROOTLESS if rootless and kind == DOCKER and not running else kind,
        "version": version or parse_version(client),
        "running": running,
        "runtimes": _runtimes(known, running, parse_object(daemon)),
        "nvidia_toolkit": parse_version(toolkit),
    }


def _label(inspected: Dict[str, Any]) -> Optional[str]:
    return ((inspected.get("Config") or {}).get("Labels") or {}).get(OPTIONS_LABEL)


def _digest(image: Dict[str, Any]) -> Optional[str]:
    """The digest under which a registry knows an image, None for an image that was never in one."""
    digests = [text for text in image.get("RepoDigests") or [] if isinstance(text, str)]
    return digests[0].partition("@")[2] or None if digests else None


def is_ours(container: Dict[str, Any], image: Dict[str, Any]) -> bool:
    """Whether the module training_container made a container, by what the engine says of it and of the image that it was made from.

    docker commit gives an image the labels of its container, and every container of that image has them.
    """
    own = _label(container)
    return own is not None and own != _label(image)


def judge_container(known: Dict[str, Any], image: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Return a container from what docker container inspect says, None when it says of none.

    image is what docker image inspect says of the image that the container was made from.
    """
    if not known.get("Id"):
        return None
    host = known.get("HostConfig") or {}
    return {
        "name": (known.get("Name") or "").lstrip("/"),
        "id": known["Id"],
        "status": (known.get("State") or {}).get("Status"),
        "image": (known.get("Config") or {}).get("Image"),
        "image_id": known.get("Image"),
        "image_digest": _digest(image),
        "restart_policy": (host.get("RestartPolicy") or {}).get("Name"),
        "options_sha256": (_label(known) or "").partition(".")[0] if is_ours(known, image) else None,
    }


def stored_container(known: Dict[str, Any], name: str) -> Optional[Dict[str, Any]]:
    """A container from the file that a stopped engine keeps of it, None when that is another one's."""
    if (known.get("Name") or "").lstrip("/") != name or not known.get("ID"):
        return None
    inspected = {"Id": known["ID"], "Name": name, "Config": known.get("Config"), "Image": known.get("Image")}
    return judge_container(dict(inspected, State={"Status": "unknown"}), {})

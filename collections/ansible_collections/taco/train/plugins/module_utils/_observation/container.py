# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe the container engine and the training container."""

import glob
import os
from typing import Any, Dict, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._node.engine import (
    DAEMON_JSON,
    DATA_ROOT,
    image_of,
    judge_container,
    judge_engine,
    parse_object,
    stored_container,
)
from ansible_collections.taco.train.plugins.module_utils._node.packages import candidates
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

PACKAGES = ("docker-ce", "nvidia-container-toolkit")
# apt-cache would rewrite its cache files: to observe a host writes nothing.
WITHOUT_CACHE = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=")


def _data_root(daemon: str) -> str:
    """Return the folder of an engine that doesn't answer, by its configuration file."""
    return parse_object(daemon).get("data-root") or DATA_ROOT


def container_engine(root: Root) -> Tuple[Optional[Dict[str, Any]], Optional[int]]:
    """Return the engine, and the free space where it keeps images."""
    info = root.output("docker", "info", "--format", "{{json .}}")
    if info.missing:
        return None, None
    daemon = root.text(DAEMON_JSON)
    folder = parse_object(info.stdout).get("DockerRootDir") or _data_root(daemon)
    toolkit = root.output("nvidia-ctk", "--version")
    # A server that answers reports the version.
    client = "" if info.status == 0 else root.output("docker", "--version").stdout
    rootless = bool(glob.glob(root.join("/run/user/*/docker.sock")))
    engine = judge_engine(info.stdout, info.stderr, client, toolkit.stdout, daemon, rootless)
    return engine, root.free_bytes(folder)


def package_candidates(root: Root, engine: Optional[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """Return what the repositories offer of the packages of the engine, where one of them is missing. No index is updated."""
    if engine and engine["nvidia_toolkit"]:
        return {}
    found = root.output("apt-cache", *WITHOUT_CACHE, "policy", *PACKAGES)
    return candidates((root.output("yum", "-q", "-C", "list", *PACKAGES) if found.missing else found).stdout)


def training_container(root: Root, engine: Optional[Dict[str, Any]], name: Optional[str]) -> Optional[Dict[str, Any]]:
    """Return the container with this name, or None. The containers of a stopped engine are read from its folder."""
    if not name or not engine:
        return None
    if not engine["running"]:
        pattern = os.path.join(root.join(_data_root(root.text(DAEMON_JSON))), "containers", "*", "config.v2.json")
        stored = (stored_container(parse_object(root.text(path)), name) for path in sorted(glob.glob(pattern)))
        return next((container for container in stored if container), None)
    container = _inspect(root, "container", name)
    # The name of the image can have been given to a newer one.
    image = image_of(container)
    return judge_container(container, _inspect(root, "image", image) if image else {})


def _inspect(root: Root, kind: str, name: str) -> Dict[str, Any]:
    return parse_object(root.output("docker", kind, "inspect", "--format", "{{json .}}", name).stdout)

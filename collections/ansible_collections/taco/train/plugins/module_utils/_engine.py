# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Understand what a container engine says about itself. Text in, values out."""

import json
import re
from typing import Any, Dict, Optional


def parse_version(text: str) -> Optional[str]:
    """Return the version in a line such as C(Docker version 24.0.7, build afdd53b)."""
    match = re.search(r"\bversion:?\s+v?(\d[^\s,]*)", text)
    return match.group(1) if match else None


def parse_docker_info(text: str) -> Dict[str, Any]:
    """Return what C(docker info --format '{{json .}}') says; a client without a server prints one that is mostly empty."""
    try:
        info = json.loads(text)
    except ValueError:
        return {}
    return info if isinstance(info, dict) else {}


def judge_engine(info: str, error: str, client: str, toolkit: str) -> Dict[str, Any]:
    """Return the engine from the outputs of docker info, docker --version and nvidia-ctk --version.

    An engine that this user isn't allowed to talk to runs nevertheless.
    """
    known = parse_docker_info(info)
    version = known.get("ServerVersion") or None
    return {
        "name": "docker",
        "version": version or parse_version(client),
        "running": bool(version) or "permission denied" in error.lower(),
        "runtimes": sorted(known.get("Runtimes") or {}),
        "nvidia_toolkit": parse_version(toolkit),
    }

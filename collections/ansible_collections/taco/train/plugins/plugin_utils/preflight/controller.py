# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the controller: the collections and the Python packages that later steps import there."""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import yaml

from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.preflight.version_numbers import is_older

COLLECTION = str(Path(__file__).resolve().parents[3])
# The namespaces of the collections that only nodes of a Kubernetes cluster need, and that only other hosts need.
ON_CLUSTER = ("kubernetes",)
ELSEWHERE = ("community",)


class Controller(NamedTuple):
    """What the controller has."""

    required: Mapping[str, str]
    """The least version of each collection."""
    collections: Mapping[str, Optional[str]]
    """The version of each collection, None without the collection, an empty text when it isn't known."""
    statistics: str
    """Why the statistics of comparisons can't be imported, or an empty text."""


def _metadata(folder: str) -> Dict[str, Any]:
    """What a collection says of itself, installed or in its repository."""
    path = os.path.join(folder, "MANIFEST.json")
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            return dict(json.load(file)["collection_info"])
    path = os.path.join(folder, "galaxy.yml")
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            return dict(yaml.safe_load(file))
    return {}


def _version(name: str) -> Optional[str]:
    try:
        package = importlib.import_module("ansible_collections." + name)
    except ImportError:
        return None
    folders = list(getattr(package, "__path__", []))
    return str(_metadata(folders[0]).get("version") or "") if folders else ""


def collection_version() -> str:
    """The version of this collection."""
    return str(_metadata(COLLECTION).get("version") or "unknown")


def look() -> Controller:
    """The state of this machine. The least versions are those of the collection's own galaxy.yml."""
    # Imported here, in the process of the task: in that of the play, SciPy would make each task of each host slower.
    from ansible_collections.taco.train.plugins.plugin_utils.comparison.statistics import MISSING

    dependencies = _metadata(COLLECTION).get("dependencies") or {}
    required = {name: str(version).lstrip(">= ") for name, version in dependencies.items()}
    return Controller(required, {name: _version(name) for name in required}, MISSING or "")


def controller_checks(variables: Sequence[Mapping[str, Any]], controller: Controller) -> List[Check]:
    """The checks of the controller, for hosts with these variables."""
    on_cluster = any(host.get("taco_platform") in ("tke", "ack") for host in variables)
    elsewhere = not variables or any(host.get("taco_platform") not in ("tke", "ack") for host in variables)
    left_out = (() if on_cluster else ON_CLUSTER) + (() if elsewhere else ELSEWHERE)
    wanted = {name: least for name, least in controller.required.items() if name.partition(".")[0] not in left_out}
    problems = []
    for name, least in wanted.items():
        version = controller.collections.get(name)
        if version is None:
            problems.append((name, f"no {name}"))
        elif version and is_older(version, least):
            problems.append((name, f"{name} {version}"))
    if problems:
        expected = " and ".join(f"{name} {wanted[name]} or newer" for name, _found in problems)
        install = " ".join(f"'{name}:>={wanted[name]}'" for name, _found in problems)
        fix = f"`ansible-galaxy collection install --upgrade {install}` on the controller"
        collections = Check(
            "controller.collections", "fail", expected, ", ".join(found for _name, found in problems), fix
        )
    else:
        collections = Check("controller.collections", "pass", found=", ".join(wanted))
    return [collections, _packages(controller)]


def _packages(controller: Controller) -> Check:
    identity = "controller.packages"
    if not controller.statistics:
        return Check(identity, "pass", found="scipy")
    fix = f"`{sys.executable} -m pip install 'scipy>=1.15'` on the controller before a comparison"
    return Check(identity, "warn", "SciPy 1.15 or newer, for comparisons", controller.statistics, fix)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables of all roles, from their argument_specs, and their rules, from rules.yml."""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Mapping

from ansible.module_utils.common.yaml import yaml_load

ROLES = str(Path(__file__).resolve().parents[3] / "roles")
# The variables that several roles share have the collection's name for a prefix.
PREFIXES = {"common": "taco_"}
Spec = Mapping[str, Any]
_RULES = yaml_load(Path(__file__).with_name("rules.yml").read_text(encoding="utf-8"))
KINDS: Dict[str, Dict[str, Any]] = _RULES["kinds"]
RULES: Dict[str, str] = _RULES["variables"]
FACTS: List[str] = _RULES["facts"]


def plain(value: Any) -> Any:
    """A value without what Ansible adds to it, as JSON and JMESPath know it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


@lru_cache(maxsize=None)
def role_options(folder: str = ROLES) -> Dict[str, Dict[str, Spec]]:
    """The documented variables of each role below a folder, those of all of its entry points."""
    return {role: options_of(role, folder) for role in role_names(folder)}


@lru_cache(maxsize=None)
def options_of(role: str, folder: str = ROLES) -> Dict[str, Spec]:
    """The documented variables of one role."""
    with open(_path(role, folder), encoding="utf-8") as file:
        entries = yaml_load(file)["argument_specs"]
    return {name: spec for entry in entries.values() for name, spec in entry["options"].items()}


@lru_cache(maxsize=None)
def shared_variables(role: str) -> FrozenSet[str]:
    """Return the variables of the role common that the files of a role name. Defaults of the role common only declare them."""
    folders = ("tasks", "vars") if role == "common" else ("tasks", "vars", "defaults", "templates")
    files = [path for folder in folders for path in Path(ROLES, role, folder).rglob("*") if path.is_file()]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return frozenset(words.intersection(options_of("common")))


def role_names(folder: str = ROLES) -> List[str]:
    """The roles that document their variables."""
    return [role for role in sorted(os.listdir(folder)) if os.path.isfile(_path(role, folder))]


def _path(role: str, folder: str) -> str:
    return os.path.join(folder, role, "meta/argument_specs.yml")


def all_options(folder: str = ROLES) -> Dict[str, Spec]:
    """The variables of all roles in one mapping."""
    return {name: spec for options in role_options(folder).values() for name, spec in options.items()}


def prefixes(folder: str = ROLES) -> List[str]:
    """The prefix of the variables of each role."""
    return [PREFIXES.get(role, role + "_") for role in role_options(folder)]

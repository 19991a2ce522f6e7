# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables of all roles, from their argument_specs, and their rules, from rules.yml."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Mapping

from ansible.module_utils.common.yaml import yaml_load

ROLES = Path(__file__).resolve().parents[3] / "roles"
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
def role_options() -> Dict[str, Dict[str, Spec]]:
    """The documented variables of each role, those of all of its entry points."""
    found = {}
    for path in sorted(ROLES.glob("*/meta/argument_specs.yml")):
        entries = yaml_load(path.read_text(encoding="utf-8"))["argument_specs"].values()
        found[path.parents[1].name] = {name: spec for entry in entries for name, spec in entry["options"].items()}
    return found


@lru_cache(maxsize=None)
def shared_variables(role: str) -> FrozenSet[str]:
    """Return the variables of the role common that the files of a role name. Defaults of the role common only declare them."""
    folders = ("tasks", "vars") if role == "common" else ("tasks", "vars", "defaults", "templates")
    files = [path for folder in folders for path in (ROLES / role / folder).rglob("*") if path.is_file()]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return frozenset(words.intersection(role_options()["common"]))


def all_options() -> Dict[str, Spec]:
    """The variables of all roles in one mapping."""
    return {name: spec for options in role_options().values() for name, spec in options.items()}


def prefixes() -> List[str]:
    """The prefix of the variables of each role."""
    return [PREFIXES.get(role, role + "_") for role in role_options()]

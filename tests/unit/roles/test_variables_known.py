# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The check for misspelt variables knows what the roles set, and the inventories here hold none."""

from pathlib import Path

import pytest
import yaml

from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import unknown_variables
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import (
    FACTS,
    ROLES,
    all_options,
    prefixes,
    role_options,
)
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import GROUPS
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import Validator

ROOT = Path(__file__).parents[3]
INVENTORIES = sorted(ROOT.glob("inventories/*/group_vars/*.yml"))
OPTIONS = role_options()
DECLARED = {name for options in OPTIONS.values() for name in options}


def facts_set(tasks):
    """Return the names of all facts that tasks set, also those in blocks."""
    names = set()
    for task in tasks:
        names.update(task.get("ansible.builtin.set_fact", {}))
        names.update([task["register"]] if "register" in task else [])
        for part in ("block", "rescue", "always"):
            names |= facts_set(task.get(part, []))
    return names


def test_facts_that_roles_set_are_no_misspelt_variables():
    files = sorted(Path(ROLES).glob("*/tasks/*.yml"))
    names = set().union(*(facts_set(yaml.safe_load(path.read_text()) or []) for path in files))
    assert {name for name in names if not name.startswith("__")} - {"cacheable"} == set(FACTS)


@pytest.mark.parametrize("inventory", INVENTORIES, ids=lambda path: path.parents[1].name)
def test_no_variable_of_an_inventory_is_misspelt(inventory):
    names = list(yaml.safe_load(inventory.read_text()))
    assert [unknown.name for unknown in unknown_variables(names, prefixes(), DECLARED)] == []


@pytest.mark.parametrize("inventory", INVENTORIES, ids=lambda path: path.parents[1].name)
def test_no_variable_of_an_inventory_has_a_wrong_value(inventory):
    given = yaml.safe_load(inventory.read_text())
    templates = [name for name, value in given.items() if "{{" in str(value)]
    variables = dict({name: spec.get("default") for name, spec in all_options().items()}, **given)
    gpus = variables["taco_gpus_per_node"]
    assert Validator(all_options(), (("a", gpus), ("b", gpus)), GROUPS).problems(variables, templates) == []

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A planned change names every fact and variable that it rests on, and no other one refuses a host."""

import copy
import random

import pytest
from planned import VARIABLES, node
from planned import results as of_four_roles

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import variable_facts
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import changes_of, differences
from ansible_collections.taco.train.plugins.plugin_utils.plan.roles import CONTENT, CONTENTS, ROLES
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options, options_of


def results():
    return {**of_four_roles(), "container_engine": {"changed": True, "msg": ["Docker Engine"]}}


CHANGES = changes_of(results(), node(), VARIABLES)
# Facts that no rule of a role reads.
IRRELEVANT = (
    "memory.available_bytes",
    "disk.root_free_bytes",
    "kernel.release",
    "kernel.boot_id",
    "gpus.driver_version",
)


# Variables of the roles that decide on no change, and why.
UNRELATED = {
    "reboot_boot_seconds": "the forecast",
    "harp_timeout": "how long a script may run",
    "harp_template": "the rendered files are in the diff",
    "container_engine_prove": "a check",
    "container_engine_prove_image": "a check",
    "training_container_require_harp": "a check",
    "training_container_may_stay": "set by the playbook rollback",
    "ssh_trust_prove": "a check",
}


def replaced(value, path, new):
    """A copy in which the value at a dotted path is another one."""
    changed = copy.deepcopy(value)
    *parents, last = path.split(".")
    inner = changed
    for parent in parents:
        inner[parent] = inner[parent] or {}
        inner = inner[parent]
    inner[last] = new
    return changed


@pytest.mark.parametrize("role", sorted(set(ROLES) - {"benchmark"}))
def test_a_change_rests_on_every_variable_of_its_role(role):
    documented = {name for name in options_of(role) if name not in UNRELATED}
    assert documented - set(ROLES[role].variables) == set()


def test_the_content_of_a_file_that_a_variable_names_is_a_fact():
    variables = {name for role in ROLES.values() for name in role.variables}
    assert {name for name in variables if name.startswith(CONTENT)} == {CONTENT + name for name in CONTENTS}
    assert set(CONTENTS) <= variables


def test_a_url_with_a_password_is_a_checksum():
    url = "https://mirror.example.com/docker"
    names = ("container_engine_deb_url", "container_engine_rpm_url", "taco_image")
    image = "registry.example.com/training@sha256:" + "1" * 64
    facts = variable_facts(dict(zip(names, (url, url.replace("//", "//user:geheim@"), image))), names)
    assert facts["container_engine_deb_url"] == url and facts["taco_image"] == image
    assert facts["container_engine_rpm_url"].startswith("sha256 ") and "geheim" not in str(facts)


def relevant(random_source):
    """(node, variables, results, name) with one thing changed that a planned change rests on."""
    change = random_source.choice(CHANGES)
    name = random_source.choice(sorted(change.facts))
    new = random_source.choice(["other", 4711, ["other"], {"other": 1}])
    observed, variables, decided = node(), dict(VARIABLES), results()
    if name.startswith("taco_node."):
        path = name[len("taco_node.") :]
        if "*" in path:
            before, _star, after = path.partition(".*.")
            items = observed[before] if before != "hugepages.pools" else observed["hugepages"]["pools"]
            random_source.choice(items)[after] = new
        else:
            # Of the pages that are reserved, the observation always has both.
            new = {"count": 4, "page_size": "2M"} if path == "boot.hugepages" else new
            observed = replaced(observed, path, new)
    elif name.startswith("file "):
        part = next(
            one
            for result in decided.values()
            for one in (result.get("diff") or [])
            if isinstance(one, dict) and one["before_header"] == name[len("file ") :]
        )
        part["before"] += "an edit\n"
    else:
        variables[name] = new
    return observed, variables, decided, name


def test_500_of_500_relevant_mutations_are_refused_and_named():
    source = random.Random(7)
    for number in range(500):
        observed, variables, decided, name = relevant(source)
        found = differences(CHANGES, changes_of(decided, observed, variables), observed, variables)
        assert name in {one.name for one in found}, (number, name, found)
        message = wording.refusal("gpu1", "plan.json", found)
        assert "gpu1" in message and f"{name}: in the plan " in message and ", now " in message


def test_0_of_500_irrelevant_mutations_are_refused():
    source = random.Random(8)
    only_pages = [change for change in CHANGES if change.role in ("hugepages", "reboot")]
    decided = {role: result for role, result in results().items() if role in ("hugepages", "reboot")}
    others = sorted({path for role in ("training_container", "ssh_trust") for path in ROLES[role].facts})
    others += [name for name in sorted(all_options()) if not any(name in ROLES[role].variables for role in decided)]
    for number in range(500):
        path, new = source.choice([*IRRELEVANT, *others]), source.choice(["other", 4711])
        observed, variables = (
            (node(), {**VARIABLES, path: new}) if path in all_options() else (replaced(node(), path, new), VARIABLES)
        )
        found = differences(only_pages, changes_of(decided, observed, variables), observed, variables)
        assert found == [], (number, path, found)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A planned change names every fact and variable that it rests on, and no other one refuses a host."""

import copy
import random
import re

import pytest
from guides import COLLECTION
from planned import VARIABLES, node
from planned import results as of_four_roles

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import variable_facts
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import changes_of, differences
from ansible_collections.taco.train.plugins.plugin_utils.plan.roles import CONTENT, CONTENTS, ROLES, UNRELATED
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options, options_of

# The observation of a host of each family, and the file that reserves its pages.
FAMILIES = {
    "debian": ({}, "/etc/default/grub.d/zz-taco-hugepages.cfg"),
    "redhat": (
        {
            "os": {
                "id": "rocky",
                "id_like": ["rhel", "centos", "fedora"],
                "version_id": "8.9",
                "name": "Rocky Linux 8.9",
            },
            "boot": {"layout": "bls", "firmware": "efi", "reason": "grubby is there"},
            "container_engine": None,
        },
        "/etc/default/grub",
    ),
}


def host(family):
    return {**node(), **FAMILIES[family][0]}


def results(family="debian"):
    found = {**of_four_roles(), "container_engine": {"changed": True, "msg": ["Docker Engine"]}}
    file = FAMILIES[family][1]
    found["hugepages"]["diff"][0].update(before_header=file, after_header=file)
    return found


CHANGES = {family: changes_of(results(family), host(family), VARIABLES) for family in FAMILIES}
# Facts that no rule of a role reads.
IRRELEVANT = (
    "memory.available_bytes",
    "disk.root_free_bytes",
    "kernel.release",
    "kernel.boot_id",
    "gpus.driver_version",
)


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
def test_a_change_rests_on_every_variable_that_its_role_desires_something_by(role):
    files = COLLECTION.glob(f"roles/{role}/vars/*.yml") if role != "reboot" else []
    lines = [line for file in files for line in file.read_text().splitlines()]
    read = {name for line in lines if not line.lstrip().startswith("#") for name in re.findall(r"\w+", line)}
    missing = (read & set(all_options()) | set(options_of(role))) - set(ROLES[role].variables)
    assert missing - set(UNRELATED) == set() and set(UNRELATED) <= set(all_options())


@pytest.mark.parametrize("role", ["container_engine", "harp", "reboot", "training_container"])
def test_a_plan_is_refused_with_another_permission_to_interrupt_running_work(role):
    planned = changes_of({role: results()[role]}, node(), dict(VARIABLES, taco_interrupt_running_work=False))
    variables = dict(VARIABLES, taco_interrupt_running_work=True)
    found = differences(planned, changes_of({role: results()[role]}, node(), variables), node(), variables)
    assert [one.name for one in found] == ["taco_interrupt_running_work"]


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


def kind(name):
    if not name.startswith("taco_node."):
        return "file" if name.startswith("file ") else "variable"
    return "package" if name.startswith(("taco_node.container_engine.", "taco_node.python.")) else "fact"


def relevant(source, family, name):
    """(node, variables, results) of a host on which one thing is changed that a planned change rests on."""
    new = source.choice(["other", ["other"], {"other": 1}])
    observed, variables, decided = host(family), dict(VARIABLES), results(family)
    if name.startswith("taco_node."):
        path = name[len("taco_node.") :]
        if "*" in path:
            before, _star, after = path.partition(".*.")
            items = observed[before] if before != "hugepages.pools" else observed["hugepages"]["pools"]
            source.choice(items)[after] = new
        else:
            observed = replaced(observed, path, new)
    elif name.startswith("file "):
        part = next(
            one
            for result in decided.values()
            for one in (result.get("diff") or [])
            if isinstance(one, dict) and one["before_header"] == name[len("file ") :]
        )
        # Edited, created or removed.
        part["before"] = source.choice([part["before"] + "an edit\n", "" if part["before"] else "new\n"])
    else:
        variables[name] = new
    return observed, variables, decided


def test_500_of_500_relevant_mutations_are_refused_and_named():
    source = random.Random(7)
    # Each fact once, the others at random.
    every = [(family, name) for family, changes in CHANGES.items() for change in changes for name in change.facts]
    for family in FAMILIES:
        assert {kind(name) for other, name in every if other == family} == {"fact", "file", "package", "variable"}
    for number, (family, name) in enumerate(every + source.choices(every, k=500 - len(every))):
        observed, variables, decided = relevant(source, family, name)
        found = differences(CHANGES[family], changes_of(decided, observed, variables), observed, variables)
        assert name in {one.name for one in found}, (number, family, name, found)
        message = wording.refusal("gpu1", "plan.json", found)
        assert "gpu1" in message and f"{name}: in the plan " in message and ", now " in message


def test_0_of_500_irrelevant_mutations_are_refused():
    source = random.Random(8)
    pages = ("hugepages", "reboot")
    others = sorted({path for role in ("training_container", "ssh_trust") for path in ROLES[role].facts})
    others += [name for name in sorted(all_options()) if not any(name in ROLES[role].variables for role in pages)]
    for number in range(500):
        family, path, new = (
            source.choice(list(FAMILIES)),
            source.choice([*IRRELEVANT, *others]),
            source.choice(["other", 4711]),
        )
        decided = {role: result for role, result in results(family).items() if role in pages}
        observed, variables = host(family), dict(VARIABLES)
        if path in all_options():
            variables[path] = new
        else:
            observed = replaced(observed, path, new)
        planned = [change for change in CHANGES[family] if change.role in pages]
        found = differences(planned, changes_of(decided, observed, variables), observed, variables)
        assert found == [], (number, family, path, found)

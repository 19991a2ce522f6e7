# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every playbook has a page in the sidebar of the site, with the tags that the playbook has and variables that exist."""

import re

import pytest
import yaml
from guides import COLLECTION

from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options

PLAYBOOKS = {path.stem: path for path in (COLLECTION / "playbooks").glob("*.yml")}
PREFIX = "playbook_"
PAGES = {
    path.stem.removeprefix(PREFIX): path.read_text()
    for path in (COLLECTION / "docs/docsite/rst").glob(f"{PREFIX}*.rst")
}
FIELDS = ["Hosts", "Variables", "Tags", "Check mode", "Exit status"]
BLOCKS = ("pre_tasks", "roles", "tasks", "post_tasks", "handlers", "block", "rescue", "always")


def of_playbook(name):
    """The plays of a playbook."""
    return yaml.safe_load(PLAYBOOKS[name].read_text())


def tags_of(entry):
    """The tags of a play, a role, a block or a task, with those of the entries in it and of an imported playbook."""
    found = set(entry.get("tags", []))
    imported = entry.get("ansible.builtin.import_playbook")
    inner = of_playbook(imported.removesuffix(".yml")) if imported else []
    for one in inner + [one for key in BLOCKS for one in entry.get(key, [])]:
        found |= tags_of(one)
    return found


def fields_of(page):
    """The text of each field of a page by its name."""
    found = re.findall(r"^:([A-Z][a-z ]+): (.+(?:\n  .+)*)", page, re.M)
    return dict(found)


def literals(text):
    return re.findall(r"``([^`]+)``", text)


def declared():
    """The variables of all roles, and those that only the playbook ack reads."""
    names = set(re.findall(r"\b(ack_\w+) \| default\(", PLAYBOOKS["ack"].read_text()))
    return names | set(all_options())


DECLARED = declared()


def test_every_playbook_has_a_page_and_every_page_a_playbook():
    assert PLAYBOOKS.keys() == PAGES.keys()


def test_the_sidebar_lists_every_page_once_in_the_group_of_playbooks():
    sections = yaml.safe_load((COLLECTION / "docs/docsite/extra-docs.yml").read_text())["sections"]
    listed = {
        section["title"]: [name for name in section["toctree"] if name.startswith(PREFIX)] for section in sections
    }
    assert sorted(listed.pop("Playbooks")) == sorted(PREFIX + name for name in PLAYBOOKS)
    assert not any(listed.values())


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_has_the_name_of_its_playbook_every_field_and_a_command(name):
    page = PAGES[name]
    assert f".. _ansible_collections.taco.train.docsite.{PREFIX}{name}:\n\nPlaybook {name}\n===" in page
    assert list(fields_of(page)) == FIELDS
    called = re.findall(r"^   ansible-playbook (\S+)", page, re.M)
    assert called and set(called) == {f"taco.train.{name}"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_lists_the_tags_of_its_playbook(name):
    tags = set().union(*map(tags_of, of_playbook(name))) - {"always", "never"}
    listed = literals(fields_of(PAGES[name])["Tags"])
    assert len(listed) == len(set(listed)) and set(listed) == tags


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_names_variables_and_roles_that_exist(name):
    page = PAGES[name]
    named = [one for field in ("Variables", "Check mode", "Exit status") for one in literals(fields_of(page)[field])]
    assert {one.partition(":")[0] for one in named if "_" in one} <= DECLARED
    for role in re.findall(r"<taco\.train\.(\w+)#role>", page):
        assert (COLLECTION / "roles" / role).is_dir(), role

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guide to troubleshooting has an entry for every check and none for what is no check any more; nor has it stale names."""

import re

import yaml
from guides import COLLECTION

from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import CHECKS
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options

PACKAGES = COLLECTION / "plugins/plugin_utils"
FILES = [
    *(PACKAGES / "preflight").glob("*.py"),
    *(PACKAGES / f"variables/{name}.py" for name in ("checks", "validation", "runs")),
]
GUIDE = (COLLECTION / "docs/docsite/rst/troubleshooting.rst").read_text()
# The third level of headings is that of the checks.
ENTRIES = re.findall(r"^(\S+)\n\^+$", GUIDE, re.M)


def defined():
    """Return the names of checks that stand in the files in which they are defined."""
    found = set()
    for path in FILES:
        found |= set(re.findall(r'"([a-z]+\.[a-z_]+)"', path.read_text()))
    # The groups of an API and names of files are written alike.
    return found - {"kubeflow.org", "galaxy.yml", "rules.yml"}


def test_every_check_has_one_entry_and_no_entry_is_stale():
    assert len(ENTRIES) == len(set(ENTRIES))
    assert set(ENTRIES) == set(CHECKS) == defined()


def test_an_entry_says_something():
    for entry in ENTRIES:
        text = GUIDE.split(f"\n{entry}\n^")[1].split("\n", 1)[1]
        said = re.split(r"^(?:\S+\n\^|.+\n---)", text, maxsplit=1, flags=re.M)[0]
        assert len(said.split()) >= 10, entry


def test_the_variables_that_it_names_are_those_of_roles():
    declared = set(all_options())
    named = set(re.findall(r"``([a-z]+_[a-z0-9_]+)(?:: \S+)?``", GUIDE))
    ours = {name for name in named if not name.startswith("ansible_")} - {"known_hosts", "bls", "container_engine"}
    assert ours and ours <= declared | {"training_container", "ssh_trust"}, ours - declared


def test_undoing_is_two_clicks_from_the_first_page():
    sections = yaml.safe_load((COLLECTION / "docs/docsite/extra-docs.yml").read_text())["sections"]
    # One click: the first page lists the guides by their titles. The second leads there from any other guide.
    assert "undo" in sections[0]["toctree"]
    undo = (COLLECTION / "docs/docsite/rst/undo.rst").read_text()
    assert "undo this" in undo.split("===")[0] and "\nHow do I undo this?\n---" in undo
    for name in [name for section in sections for name in section["toctree"]]:
        assert (COLLECTION / f"docs/docsite/rst/{name}.rst").exists()

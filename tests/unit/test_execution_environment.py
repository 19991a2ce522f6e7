# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an execution environment is built from is there, bounded, and what the tests run with."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"


def requirements(path):
    """Return {package: range} of a file of requirements."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return dict(re.match(r"([\w-]+)(.*)", line).groups() for line in lines if line)


def test_the_files_that_it_names_are_there_and_at_the_root_too():
    named = yaml.safe_load((COLLECTION / "meta/execution-environment.yml").read_text())["dependencies"]
    assert named == {"python": "requirements.txt", "system": "bindep.txt"}
    for name in named.values():
        assert (ROOT / name).resolve() == COLLECTION / name


def test_every_package_is_bounded_on_both_sides_and_in_the_range_of_the_tests():
    wanted = requirements(COLLECTION / "requirements.txt")
    assert all(re.match(r">=[\d.]+,<\d+$", bounds) for bounds in wanted.values()), wanted
    tested = requirements(ROOT / "requirements-run.txt") | requirements(ROOT / "requirements-dev.txt")
    assert {name: tested[name] for name in wanted} == wanted


def test_the_packages_that_plugins_import_where_they_are_needed_are_named():
    imported = set()
    for path in (COLLECTION / "plugins").rglob("*.py"):
        imported |= set(
            re.findall(r"^\s+(?:import|from) (jmespath|kubernetes|scipy|yaml|requests)\b", path.read_text(), re.M)
        )
    assert imported <= set(requirements(COLLECTION / "requirements.txt")) | {"yaml"}

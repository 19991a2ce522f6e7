# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The packages of plugin_utils and module_utils import only from packages below them, in the order of the architecture guide."""

import ast
import re

import pytest
from guides import COLLECTION

PLUGINS = COLLECTION / "plugins"
GUIDE = (COLLECTION / "docs/docsite/rst/architecture.rst").read_text()
MOST_LINES = 300
FEWEST_LINES = 20
# Files directly in plugin_utils.
MOST_FILES = 4


def order(kind):
    """The packages in the guide's table, the lowest first."""
    table = GUIDE.split(f".. _ansible_collections.taco.train.docsite.packages_{kind}:")[1].split("\n.. _")[0]
    return re.findall(r"^   \* - ``(\w+)``$", table, re.M)


def files(kind):
    return sorted((PLUGINS / kind).rglob("*.py"))


def package(kind, path):
    """The package of a file, an empty text for a file directly in plugin_utils."""
    parts = path.relative_to(PLUGINS / kind).parts
    return parts[0] if len(parts) > 1 else ""


def imported(kind, path):
    """The packages that a file imports from."""
    prefix = f"ansible_collections.taco.train.plugins.{kind}."
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(prefix):
            name = node.module[len(prefix) :].split(".")[0]
            yield "" if (PLUGINS / kind / f"{name}.py").is_file() else name


@pytest.mark.parametrize("kind", ["module_utils", "plugin_utils"])
def test_no_package_imports_from_one_above_it(kind):
    places = {name: place for place, name in enumerate(["", *order(kind)])}
    assert {package(kind, path) for path in files(kind)} - {""} == set(places) - {""}
    upwards = [
        f"{path.relative_to(PLUGINS)}: {name}"
        for path in files(kind)
        for name in imported(kind, path)
        if places[name] > places[package(kind, path)]
    ]
    assert upwards == []


def test_only_packages_and_few_files_lie_at_the_top():
    assert [path.name for path in files("module_utils") if not package("module_utils", path)] == []
    assert len([path for path in files("plugin_utils") if not package("plugin_utils", path)]) <= MOST_FILES


@pytest.mark.parametrize("kind", ["module_utils", "plugin_utils"])
def test_no_file_is_long_and_none_is_short_with_a_single_user(kind):
    lines = {path: len(path.read_text().splitlines()) for path in files(kind)}
    assert [path.name for path, count in lines.items() if count > MOST_LINES] == []
    code = {path: path.read_text() for path in PLUGINS.rglob("*.py")}
    for path in (path for path, count in lines.items() if count < FEWEST_LINES):
        folder = ".".join(path.relative_to(PLUGINS).parts[:-1])
        name = rf"plugins\.{folder}\.{path.stem} import|plugins\.{folder} import .*\b{path.stem}\b"
        users = [user for user, text in code.items() if user != path and re.search(name, text)]
        assert len(users) > 1, path

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A message that names a variable names one that exists, and a default has the same value everywhere."""

import ast
import re
from pathlib import Path

import yaml

from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read

COLLECTION = Path(__file__).parents[2] / "collections/ansible_collections/taco/train"
CODE = sorted(
    path
    for folder in ("action", "filter", "module_utils", "plugin_utils")
    for path in COLLECTION.glob(f"plugins/{folder}/**/*.py")
)
# Keys of facts, filters and Python modules that look like variables of a role.
OTHERS = {
    "benchmark_arm",
    "harp_config_dir",
    "harp_config_files",
    "mpijob_capacity",
    "mpijob_limits",
    "mpijob_manifest",
    "taco_run_dir",
}


def variables():
    """Return the variables of all roles and the names of all modules and roles."""
    names = {path.name for path in COLLECTION.glob("roles/*")} | {
        path.stem for path in COLLECTION.glob("plugins/modules/*.py")
    }
    known = set(OTHERS)
    for path in COLLECTION.glob("roles/*/meta/argument_specs.yml"):
        for one in yaml.safe_load(path.read_text())["argument_specs"].values():
            known |= set(one.get("options", {}))
    return names, known


NAMES, KNOWN = variables()
NAMED = re.compile(rf"\b(?:{'|'.join(sorted(NAMES | {'taco'}))})_[a-z0-9_]+\b")


def messages(path):
    """Return the texts with words in a file, without the documentation of its functions."""
    tree = ast.parse(path.read_text())
    places = (ast.Module, ast.ClassDef, ast.FunctionDef)
    described = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, places)}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return [text for text in texts - described if " " in text]


def test_every_variable_in_a_message_exists():
    named = {(name, str(path)) for path in CODE for text in messages(path) for name in NAMED.findall(text)}
    assert named and [one for one in sorted(named) if one[0] not in KNOWN | NAMES] == []


def test_every_variable_in_the_table_of_symptoms_exists():
    rows = yaml.safe_load((COLLECTION / "plugins/plugin_utils/explain/symptoms.yml").read_text())
    named = {(row["name"], name) for row in rows for name in NAMED.findall(f"{row['found']} {row['fix']}")}
    assert named and [one for one in sorted(named) if one[1] not in KNOWN | NAMES] == []


def test_a_module_names_its_own_options_and_variables_of_roles_in_parentheses_behind_them():
    """Whoever uses a module alone has no roles."""
    alone = {
        name
        for path in COLLECTION.glob("plugins/modules/*.py")
        for name in re.findall(r"(?m)^  (\w+):$", path.read_text())
    }
    named = [
        (name, path.name)
        for package in ("_acceleration", "_files", "_harp", "_node", "_observation", "_process", "_ssh")
        for path in (COLLECTION / "plugins/module_utils" / package).glob("*.py")
        for text in messages(path)
        for name in NAMED.findall(re.sub(r"\([^()]*\)", "", text))
    ]
    assert [one for one in named if one[0] in KNOWN - alone] == []


def test_the_number_of_repeats_has_one_default():
    role = yaml.safe_load((COLLECTION / "roles/compare/defaults/main.yml").read_text())["compare_repeats"]
    module = re.search(
        r"^  repeats:.*?default: (\d+)", (COLLECTION / "plugins/modules/comparison.py").read_text(), re.M | re.S
    )
    hosts, options = (
        [{"name": "gpu1", "slots": 2}],
        {"workload": "horovod_synthetic", "model": "VGG16", "batch_size": 8},
    )
    found = read({"arms": ["harp", "tcp"]}, hosts, options)
    assert found.repeats == role == int(module.group(1))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each module that an action plugin stands for documents the options that the action takes."""

import importlib
import json
import os
import subprocess
import sys

import pytest
from guides import COLLECTION

ACTIONS = {
    path.stem: importlib.import_module(f"ansible_collections.taco.train.plugins.action.{path.stem}")
    for path in sorted((COLLECTION / "plugins/action").glob("*.py"))
}
SPECS = {
    name: getattr(action, constant)
    for name, action in ACTIONS.items()
    for constant in ("ARGUMENT_SPEC", "ARGUMENTS")
    if hasattr(action, constant)
}


@pytest.fixture(scope="module")
def documented():
    """By ansible-doc, which adds the options that fragments hold."""
    names = [f"taco.train.{name}" for name in SPECS]
    command = [sys.executable, "-m", "ansible", "doc", "--json", "--type", "module", *names]
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(COLLECTION.parents[2]))
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def specification(options):
    """The argument specification that documented options describe."""
    found = {}
    for name, option in options.items():
        found[name] = {key: value for key, value in option.items() if key not in ("description", "suboptions")}
        if "suboptions" in option:
            found[name]["options"] = specification(option["suboptions"])
    return found


@pytest.mark.parametrize("name", SPECS)
def test_the_documentation_has_the_options_of_the_action(documented, name):
    assert specification(documented[f"taco.train.{name}"]["doc"]["options"]) == SPECS[name]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load every playbook, role and plugin with every supported ansible-core and the collections that belong to it."""

import json

import pytest
import yaml
from cores import CORES, controller
from integration.paths import COLLECTION, ROOT

# Nothing of this collection may be what a later release removes.
DEPRECATIONS = {"ANSIBLE_DEPRECATION_WARNINGS": "true", "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
TASKS = sorted(COLLECTION.glob("roles/*/tasks/*.yml"))
# What plugins of each kind are documented in.
PLUGINS = {"module": "modules/*.py", "filter": "filter/*.yml", "callback": "callback/*.py"}

pytestmark = pytest.mark.parametrize("release", CORES)


@pytest.fixture
def program(release, command):
    """Return a function that runs a program of a release, which must succeed without a word about deprecations."""

    def run(name, *arguments):
        done = command(controller(release) / name, *arguments, **DEPRECATIONS)
        assert done.returncode == 0, done.stdout
        assert "DEPRECATION" not in done.stdout, done.stdout
        return done.stdout

    return run


def test_it_is_the_release_that_the_table_names(release, program):
    assert f"[core {CORES[release].core}]" in program("ansible", "--version")


def test_every_playbook_can_be_loaded(release, program):
    printed = program("ansible-playbook", "--syntax-check", "-i", "gpu1,", *PLAYBOOKS)
    assert printed.count("playbook: ") == len(PLAYBOOKS) > 5


def test_every_file_of_tasks_can_be_loaded_with_the_modules_that_it_names(release, program, tmp_path):
    """As imports, since what is included is only loaded when it is reached."""
    imports = [{"import_role": {"name": f"taco.train.{one.parts[-3]}", "tasks_from": one.stem}} for one in TASKS]
    play = tmp_path / "all.yml"
    play.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": imports}]))
    program("ansible-playbook", "--syntax-check", "-i", "gpu1,", play)


@pytest.mark.parametrize("kind", PLUGINS)
def test_every_plugin_shows_its_documentation(release, program, kind):
    names = [f"taco.train.{path.stem}" for path in sorted((COLLECTION / "plugins").glob(PLUGINS[kind]))]
    printed = program("ansible-doc", "-t", kind, "--json", *names)
    shown = json.loads(printed[printed.index("{") :])
    assert sorted(shown) == names
    assert all(one["doc"]["description"] for one in shown.values())


def test_every_role_shows_its_arguments(release, program):
    printed = program("ansible-doc", "-t", "role", "--json", *sorted({f"taco.train.{one.parts[-3]}" for one in TASKS}))
    shown = json.loads(printed[printed.index("{") :])
    assert len(shown) == len(list((COLLECTION / "roles").iterdir()))
    assert all(one["entry_points"] for one in shown.values())

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hold what no linter does: defaults equal argument_specs, names carry their role's prefix, READMEs are there."""

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.taco.train.plugins.module_utils._process import sampler
from ansible_collections.taco.train.plugins.modules import counters
from ansible_collections.taco.train.plugins.plugin_utils.run import record_file
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import FACTS

COLLECTION = Path(__file__).parents[2] / "collections/ansible_collections/taco/train"
ROLES = sorted(path for path in (COLLECTION / "roles").iterdir() if path.is_dir())
# The variables that several roles share have the collection's name for a prefix.
PREFIX = {"common": "taco"}


def load(path):
    return yaml.safe_load(path.read_text())


@pytest.fixture(params=ROLES, ids=lambda role: role.name)
def role(request):
    return request.param


def test_every_promised_role_is_there():
    assert {role.name for role in ROLES} == {
        "benchmark",
        "common",
        "compare",
        "container_engine",
        "eni",
        "harp",
        "hugepages",
        "kubernetes_node",
        "locate",
        "mpijob",
        "placement",
        "plan",
        "preflight",
        "reboot",
        "report",
        "ssh_trust",
        "gpu_topology",
        "training_container",
    }


def main_options(role):
    """The variables of a role; those of the role common are not those of its entry point main."""
    entries = load(role / "meta/argument_specs.yml")["argument_specs"]
    return entries["variables" if role.name == "common" else "main"]["options"]


def test_defaults_are_what_the_argument_specs_say(role):
    options = main_options(role)
    defaults = load(role / "defaults/main.yml")
    documented = {name: option.get("default") for name, option in options.items() if not option.get("required")}
    assert defaults == documented


def test_variables_carry_the_prefix_of_their_role(role):
    prefix = PREFIX.get(role.name, role.name) + "_"
    assert all(name.startswith(prefix) for name in load(role / "defaults/main.yml"))
    for tasks in sorted((role / "tasks").glob("*.yml")):
        for name in re.findall(r"^\s+register: (\S+)$", tasks.read_text(), re.MULTILINE):
            assert name.startswith("__" + prefix) or name in FACTS, f"{tasks.name}: {name}"


# Actions that a role was made for.
ACTIONS = {"preflight.py": "preflight"}


def test_nothing_uses_internal_variables_of_another_role():
    names = "|".join(PREFIX.get(role.name, role.name) for role in ROLES)
    patterns = ("roles/**/*.yml", "roles/**/*.j2", "playbooks/*.yml", "plugins/**/*.py")
    for path in sorted(path for pattern in patterns for path in COLLECTION.glob(pattern)):
        parts = path.relative_to(COLLECTION).parts
        own = parts[1] if parts[0] == "roles" else ACTIONS.get(path.name)
        found = re.findall(rf"\b__(?:{names})_\w+", path.read_text())
        others = [name for name in found if own is None or not name.startswith(f"__{PREFIX.get(own, own)}_")]
        assert others == [], path


def test_every_option_is_described(role):
    for entry in load(role / "meta/argument_specs.yml")["argument_specs"].values():
        assert entry["short_description"] and entry["description"]
        assert all(option["description"] and option["type"] for option in entry["options"].values())


def test_the_readme_fits_a_screen_and_names_the_role(role):
    lines = (role / "README.md").read_text().splitlines()
    assert lines[0] == f"# {role.name}"
    assert len(lines) <= 60


BOOLEANS = {
    name
    for role in ROLES
    for entry in load(role / "meta/argument_specs.yml")["argument_specs"].values()
    for name, option in entry["options"].items()
    if option["type"] == "bool"
}
# What Ansible takes for an expression as it stands.
CONDITIONS = ("when", "that", "until", "changed_when", "failed_when")


def expressions(value, key=None):
    """Yield every Jinja expression in what a YAML file holds."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from expressions(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from expressions(one, key)
    elif isinstance(value, str) and key in CONDITIONS:
        yield value
    elif isinstance(value, str):
        yield from re.findall(r"{{(.*?)}}", value, re.DOTALL)


def bare_booleans(expression):
    """Return the boolean variables that decide in an expression as they come. To hand one on to a module is no decision."""
    if expression.strip() in BOOLEANS:
        return [] if expression != expression.strip() else [expression]
    without_texts = re.sub(r"'[^']*'|\"[^\"]*\"", "''", expression)
    handed_on = re.sub(r"(\w+) is none else \1 *$", "", without_texts)
    used = re.findall(r"\b(\w+)\b(?! *(?:\| *default\([^)]*\) *)?\| *bool\b)", handed_on)
    return [name for name in used if name in BOOLEANS]


@pytest.mark.parametrize(
    "expression, bare",
    [
        ("reboot_allowed", ["reboot_allowed"]),
        ("not reboot_allowed", ["reboot_allowed"]),
        ("not reboot_allowed | bool", []),
        ("not reboot_allowed | default(false) | bool", []),
        ("not reboot_allowed | default(false)", ["reboot_allowed"]),
        ("not reboot_allowed | boolean", ["reboot_allowed"]),
        (" reboot_allowed ", []),
        (" omit if taco_lab is none else taco_lab ", []),
        (" 1 if taco_lab else 2 ", ["taco_lab"]),
        ("x_taco_lab and taco_labs and 'taco_lab'", []),
    ],
)
def test_a_boolean_that_decides_as_it_comes_is_found(expression, bare):
    assert bare_booleans(expression) == bare


def test_a_boolean_given_as_text_decides_as_the_boolean():
    """`-e reboot_allowed=false` is a text, and one that isn't empty is true."""
    found = {}
    for folder in ("roles/*/tasks", "roles/*/vars", "roles/*/defaults", "playbooks"):
        for path in sorted(COLLECTION.glob(f"{folder}/*.yml")):
            bare = [name for expression in expressions(load(path)) for name in bare_booleans(expression)]
            if bare:
                found[str(path.relative_to(COLLECTION))] = bare
    assert found == {}


def test_no_failure_is_hidden():
    # Not below tests, where ansible-test writes while these tests run.
    folders = [folder for folder in COLLECTION.iterdir() if folder.name != "tests"]
    for path in (path for folder in folders for path in folder.rglob("*.yml")):
        hiding = r"ignore_errors:|failed_when: *false"  # kept because it forbids both: a task with one goes on after a failure unseen
        assert not re.search(hiding, path.read_text()), path


def test_the_rollback_removes_the_samples_of_a_run_whose_controller_was_killed():
    tasks = load(COLLECTION / "roles/benchmark/tasks/absent.yml")
    cleared = [task["taco.train.host_folders"] for task in tasks if "taco.train.host_folders" in task]
    (names,) = [one["names"] for one in cleared if one["paths"] == ["{{ taco_state_dir }}/" + counters.FOLDER]]
    own = [
        sampler.FILE,
        ".samples-x1y2z3",
        record_file.record_id("2026-01-31T12:00:00.123456Z", "harp", "0a1b2c") + ".log",
    ]
    assert all(re.fullmatch(names, name) for name in own) and not re.fullmatch(names, "notes.log")


def test_an_empty_list_is_a_value_where_the_default_is_not_an_empty_list(role):
    """A list that is tested for its truth, or by default(x, true), takes an empty one for a variable that is not set."""
    options = main_options(role)
    lists = [name for name, option in options.items() if option.get("type") == "list" and option.get("default") != []]
    texts = {
        path: path.read_text()
        for path in [*COLLECTION.glob("roles/*/*/*.yml"), *COLLECTION.glob("playbooks/*.yml")]
        if path.parent.name not in ("meta", "defaults")
    }
    tested = r"\b{0}\s+(or|and|else)\b|\b{0}\s*\|\s*default\([^()]*, *true\)|\b(if|not|and|or|when:)\s+{0}\b(?!\s*(is|==|!=|\|))"
    found = [(name, path) for name in lists for path, text in texts.items() if re.search(tested.format(name), text)]
    assert found == []

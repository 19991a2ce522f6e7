# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that an action takes are documented. Every documented example is valid YAML, and gives a module or a role only
options that it has, with values that they take."""

import ast
import importlib
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from jinja2 import Environment, nodes

from ansible_collections.taco.train.plugins.plugin_utils.container.options import OPTIONS as CONTAINER
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import (
    WORKLOADS,
    require_options,
)

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"
MODULES = sorted(path.stem for path in (COLLECTION / "plugins/modules").glob("*.py"))
SPECS = {path.parts[-3]: path for path in COLLECTION.glob("roles/*/meta/argument_specs.yml")}
ENTRIES = [
    (role, name, entry)
    for role, path in sorted(SPECS.items())
    for name, entry in yaml.safe_load(path.read_text())["argument_specs"].items()
]
# The entry point of the role common has another name, so that Ansible does not check all of its variables where other roles begin.
ENTERED = {"taco.train.common": "variables"}
DECLARED = {name: spec for _role, _name, entry in ENTRIES for name, spec in entry["options"].items()}
ACTIONS = {
    path.stem: importlib.import_module(f"ansible_collections.taco.train.plugins.action.{path.stem}")
    for path in sorted((COLLECTION / "plugins/action").glob("*.py"))
}
# The argument specs of the actions.
TAKEN = {
    name: getattr(action, constant)
    for name, action in ACTIONS.items()
    for constant in ("ARGUMENT_SPEC", "ARGUMENTS")
    if hasattr(action, constant)
} | {"training_container": CONTAINER["argument_spec"]}
MAGIC = set(Environment().globals) | {
    "groups",
    "hostvars",
    "inventory_hostname",
    "lookup",
    "omit",
    "playbook_dir",
    "query",
}
OF_THE_DOCUMENTATION = ("description", "suboptions", "version_added", "version_added_collection")
OF_A_SPEC = ("type", "elements", "choices", "required", "aliases")


def examples_of(module):
    """Read the constant without importing the module."""
    tree = ast.parse((COLLECTION / "plugins/modules" / f"{module}.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES":
            return ast.literal_eval(node.value)
    raise AssertionError(f"{module} has no EXAMPLES")


def tasks_of(found):
    """Yield every task of plays, blocks and lists of tasks."""
    for one in found or []:
        yield one
        for key in ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always"):
            yield from tasks_of(one.get(key))


def argument_spec(documented):
    """Build the argument spec from documented options. Defaults are left out, so that required options stay required."""
    spec = {}
    for name, option in documented.items():
        spec[name] = {key: option[key] for key in OF_A_SPEC if key in option}
        below = option.get("suboptions") or option.get("options")
        if below:
            spec[name]["options"] = argument_spec(below)
    return spec


def computed(value):
    """Whether a value, or a part of it, is known only when a play runs."""
    return "{{" in json.dumps(value)


def problems(documented, given):
    """List what the options don't take. A value with a template only has to have a name that is known."""
    spec = argument_spec(documented)
    for name, value in given.items():
        if computed(value) and name in spec:
            spec[name] = {"type": "raw"}
    return ArgumentSpecValidator(spec).validate(given).error_messages


@pytest.fixture(scope="session")
def documented():
    """Return {module: options}, with those of documentation fragments."""
    names = [f"taco.train.{module}" for module in MODULES]
    command = ["ansible-doc", "-t", "module", "--json", *names]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return {name.rpartition(".")[2]: one["doc"].get("options", {}) for name, one in json.loads(done.stdout).items()}


def specification(options):
    """The argument spec that documented options describe, with their defaults."""
    found = {}
    for name, option in options.items():
        found[name] = {key: value for key, value in option.items() if key not in OF_THE_DOCUMENTATION}
        if "suboptions" in option:
            found[name]["options"] = specification(option["suboptions"])
    return found


@pytest.mark.parametrize("name", TAKEN)
def test_the_documentation_has_the_options_of_the_action(documented, name):
    assert specification(documented[name]) == TAKEN[name]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_give_it_options_that_it_takes(module, documented):
    shown = 0
    for task in tasks_of(yaml.safe_load(examples_of(module))):
        for key, arguments in task.items():
            if key.startswith("taco.train."):
                name = key.rpartition(".")[2]
                shown += name == module
                assert not problems(documented[name], arguments or {}), task["name"]
    assert shown


def test_the_examples_of_module_benchmark_show_every_workload():
    tasks = yaml.safe_load(examples_of("benchmark"))
    options = [task["taco.train.benchmark"].get("options", {}) for task in tasks]
    assert {one.get("workload", "horovod_synthetic") for one in options} == set(WORKLOADS)
    for one in options:
        require_options(one.get("workload", "horovod_synthetic"), one, "options")


def variables_in(found):
    """Return the names of the variables in the templates of a value, of a task or of a play."""
    if isinstance(found, dict):
        return set().union(*map(variables_in, found.values()))
    if isinstance(found, list):
        return set().union(*map(variables_in, found))
    parsed = Environment().parse(found if isinstance(found, str) else "")
    return {node.name for node in parsed.find_all(nodes.Name) if node.ctx == "load"}


def undefined(examples):
    """Return the variables in examples that neither these define nor Ansible does. Conditions are templates without braces."""
    defined, used = set(), set()
    for task in tasks_of(examples):
        conditions = ["{{ %s }}" % task[key] for key in ("when", "until", "failed_when") if key in task]
        used |= variables_in(task) | variables_in(conditions)
        defined |= {task.get("register"), task.get("loop_control", {}).get("loop_var"), *task.get("vars", {})}
        defined |= {"item"} if "loop" in task else set()
        defined |= set(task.get("ansible.builtin.set_fact", {}))
    return {name for name in used - defined - MAGIC if not name.startswith("ansible_")}


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_define_or_register_each_variable_that_they_use(module):
    assert undefined(yaml.safe_load(examples_of(module))) == set()


def test_ansible_reads_the_examples_of_all_modules(tmp_path):
    plays = []
    for module in MODULES:
        examples = yaml.safe_load(examples_of(module))
        plays += examples if "hosts" in examples[0] else [{"name": module, "hosts": "all", "tasks": examples}]
    path = tmp_path / "examples.yml"
    path.write_text(json.dumps(plays))
    command = ["ansible-playbook", "-i", "gpu1,", "--syntax-check", str(path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    assert done.returncode == 0, done.stdout


def test_an_option_that_is_not_there_is_found(documented):
    assert problems(documented["benchmark"], {"hosts": [], "run_dir": "r", "modle": "VGG16"})
    assert problems(documented["benchmark"], {"hosts": [], "run_dir": "r", "platform": "nothing"})
    assert problems(documented["benchmark"], {"hosts": []})


@pytest.mark.parametrize("role, name, entry", ENTRIES, ids=[f"{role}: {name}" for role, name, _entry in ENTRIES])
def test_the_examples_of_a_role_set_variables_that_it_takes(role, name, entry):
    """The pages of roles on the site show them."""
    plays = yaml.safe_load(entry["examples"])
    used = []
    for play in plays:
        roles = [(one["role"], one.get("vars", {})) for one in play.get("roles", [])]
        for task in tasks_of(play.get("tasks")):
            call = task.get("ansible.builtin.include_role") or task.get("ansible.builtin.import_role")
            if call:
                used.append((call["name"], call.get("tasks_from", "main")))
                roles.append((call["name"], task.get("vars", {})))
        used += [(one, ENTERED.get(one, "main")) for one, _vars in roles if (one, name) not in used]
        given = dict(play.get("vars", {}))
        for _role, variables in roles:
            given.update(variables)
        assert set(given) <= set(DECLARED), set(given) - set(DECLARED)
        assert not problems({key: dict(DECLARED[key], required=False) for key in given}, given)
    assert (f"taco.train.{role}", name) in used


@pytest.mark.parametrize("role", sorted(SPECS))
def test_the_example_of_a_role_is_that_of_its_readme(role):
    entry = yaml.safe_load(SPECS[role].read_text())["argument_specs"][ENTERED.get(f"taco.train.{role}", "main")]
    shown = re.search(r"```yaml\n(- hosts.*?)```", (COLLECTION / "roles" / role / "README.md").read_text(), re.S)
    assert shown is None or shown.group(1).strip() == entry["examples"].strip()

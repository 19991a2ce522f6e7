# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands in the guides is tried, or says what it needs; and what it names is there."""

import ast
import configparser
import re
import shlex
import subprocess
from pathlib import Path

import playbook
import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from guides import COLLECTION, GUIDES, NEEDS, ROOT, blocks, commands

from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import role_options

BLOCKS = blocks()
SHELL = [block for block in BLOCKS if block.language in ("shell", "sh")]
ROLES = {path.name for path in (COLLECTION / "roles").iterdir()}
PREFIXES = {"taco_": "common", **{f"{role}_": role for role in ROLES}}
INVENTORY = "gpu_nodes: {hosts: {gpu1: {ansible_connection: local}, gpu2: {ansible_connection: local}}}\n"


def marked(name):
    """Return a decorator that gives a test every block that says it is tested by it."""
    found = [block for block in BLOCKS if (block.kind, block.mark) == ("tested", name)]
    return pytest.mark.parametrize("block", found, ids=[block.where for block in found])


def of(found):
    return pytest.mark.parametrize("block", found, ids=[block.where for block in found])


DECLARED = role_options()
KNOWN = {name: spec for options in DECLARED.values() for name, spec in options.items()}


@pytest.fixture
def project(tmp_path):
    """Return an empty project with an inventory of two hosts, which are this machine."""
    (tmp_path / "inventory.yml").write_text(INVENTORY)
    return tmp_path


def run(*arguments, cwd):
    environment = playbook.environment(ANSIBLE_CONFIG=playbook.NO_CONFIGURATION)
    done = subprocess.run(
        list(arguments), cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_playbook(*arguments, cwd):
    status, output = playbook.run(cwd, [*arguments, "-i", "inventory.yml"], ANSIBLE_CONFIG=playbook.NO_CONFIGURATION)
    assert status == 0, output
    return output


def of_roles(variables):
    """Return the variables that are those of roles, after holding them to what the roles declare."""
    ours = {}
    for name, value in variables.items():
        prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), None)
        if prefix:
            assert name in KNOWN, f"no role has {name}"
            ours[name] = value
    spec = {name: dict(KNOWN[name], required=False) for name in ours}
    result = ArgumentSpecValidator(spec).validate(ours)
    assert not result.error_messages, result.error_messages
    return ours


def test_there_are_blocks_to_look_at():
    assert len(BLOCKS) > 40
    assert {path.stem for path in GUIDES} >= {"quickstart", "undo", "inclusion", "troubleshooting"}


TESTS = {
    node.name
    for file in (Path(__file__), ROOT / "tests/integration/test_docs.py")
    for node in ast.parse(file.read_text()).body
    if isinstance(node, ast.FunctionDef)
}


@of(BLOCKS)
def test_a_block_says_which_test_runs_it_or_what_it_needs(block):
    assert block.kind, "no mark before it: `.. tested: NAME`, `.. needs: WHAT`, in Markdown <!-- tested: NAME -->"
    if block.kind == "needs":
        assert block.mark in NEEDS
    if block.kind == "shows":
        assert block.mark == "output"
    if block.kind == "tested":
        assert f"test_{block.mark}" in TESTS


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_guide_has_no_block_that_is_not_seen(path):
    assert not re.findall(r"^(?! *\.\. [\w-]+::).*::$", path.read_text(), re.M)


@marked("variables")
def test_variables(block):
    assert of_roles(yaml.safe_load(block.text))


@marked("inventory")
def test_inventory(block, project):
    (project / "inventory.yml").write_text(block.text)
    listed = yaml.safe_load(run("ansible-inventory", "-i", "inventory.yml", "--list", cwd=project))
    hosts = listed["gpu_nodes"]["hosts"]
    assert hosts
    for host in hosts:
        of_roles(listed["_meta"]["hostvars"][host])


@marked("play")
def test_play(block, project):
    (project / "play.yml").write_text(block.text)
    run_playbook("play.yml", "--syntax-check", cwd=project)
    for play in yaml.safe_load(block.text):
        for role in play.get("roles", []):
            of_roles(role.get("vars", {}))


@marked("manifest")
def test_manifest(block):
    """The manifest in the guide is the file that users apply."""
    assert block.text == (COLLECTION / "docs/kubernetes/permissions.yml").read_text()


@marked("requirements")
def test_requirements(block):
    galaxy = yaml.safe_load((COLLECTION / "galaxy.yml").read_text())
    for wanted in yaml.safe_load(block.text)["collections"]:
        url, _hash, folder = wanted["name"].partition(".git#/")
        assert wanted["type"] == "git" and url == galaxy["repository"] and (ROOT / folder / "galaxy.yml").exists()


@marked("configuration")
def test_configuration(block):
    read = configparser.ConfigParser()
    read.read_string(block.text)
    for name in read["defaults"]["callbacks_enabled"].split(","):
        assert (COLLECTION / "plugins/callback" / (name.strip().split(".")[-1] + ".py")).exists()


@marked("report")
def test_report(block, project):
    (project / "results/latest").mkdir(parents=True)
    for command in commands(block):
        run(*shlex.split(command), cwd=project)
    assert (project / "results/latest/report.html").exists()


def playbook_commands():
    """Return {words: where} of each way in which a playbook of the collection is called, once."""
    found = {}
    for block in SHELL:
        for command in commands(block):
            words = shlex.split(command)
            if words and words[0] == "ansible-playbook":
                named = [word for word in words[1:] if word.startswith(("taco.train.", "playbooks/"))]
                options = [word for option in ("--tags", "--skip-tags", "--limit") for word in after(words, option)]
                for name in named:
                    found.setdefault((name, *options), block.where)
    return found


def after(words, option):
    return [option, words[words.index(option) + 1]] if option in words else []


CALLS = playbook_commands()


@pytest.mark.parametrize("options", sorted({call[1:] for call in CALLS}), ids=" ".join)
def test_playbooks_that_commands_name_are_there_with_their_tags_and_hosts(options, project):
    calls = [call for call in CALLS if call[1:] == options]
    named = [name if name.startswith("taco.train.") else ROOT / name for name, *_options in calls]
    listed = run_playbook(*named, "--list-tasks", *options, cwd=project).split("\nplaybook: ")[1:]
    assert len(listed) == len(calls), listed
    for call, tasks in zip(calls, listed):
        # Of each play and each task. With a tag that doesn't exist only the tasks with the tag always are left.
        assert tasks.count("TAGS: [") > (2 if options else 1), (CALLS[call], tasks)


@of(SHELL)
def test_the_variables_and_targets_that_a_command_names_are_there(block):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for command in commands(block):
        words = shlex.split(command)
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets, command
        for option, value in zip(words, words[1:]):
            if option == "-e" and "=" in value:
                name, _equals, text = value.partition("=")
                of_roles({name: text})
                assert name in KNOWN or name in GUIDES_OWN or name in OF_PLAYBOOKS, command


# What a play in a guide declares itself.
GUIDES_OWN = {"change_window"}
# What only a playbook reads, and hands on to roles.
OF_PLAYBOOKS = {
    name
    for path in (COLLECTION / "playbooks").glob("*.yml")
    for name in re.findall(r"\b(ack_\w+) \| default\(", path.read_text())
}

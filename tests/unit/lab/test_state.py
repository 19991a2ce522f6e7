# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the lab writes down, and what reads it."""

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys

import keys
import pytest
import state

NODES = [
    {
        "name": "taco-lab-node-0",
        "address": "10.177.64.11",
        "port": 22,
        "enis": [],
        "host_key": "ssh-ed25519 AAAA0 comment",
    },
    {"name": "taco-lab-node-1", "address": "10.177.64.12", "port": 22, "enis": [], "host_key": "ssh-ed25519 AAAA1"},
]
SCRIPT = state.ROOT / "inventories/lab/nodes.py"


@pytest.fixture
def inventory():
    spec = importlib.util.spec_from_file_location("lab_inventory", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.inventory


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "deep/state.json"
    state.save("own", "200mbit", NODES, path)
    assert state.load(path) == {"schema": 1, "engine": "own", "rate": "200mbit", "nodes": NODES}
    assert [entry.name for entry in path.parent.iterdir()] == ["state.json"]


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"schema": 99}'])
def test_no_state_and_one_that_is_not_ours_are_the_same(tmp_path, text):
    path = tmp_path / "state.json"
    if text is not None:
        path.write_text(text)
    assert state.load(path) is None


def test_a_failed_write_keeps_the_old_text(tmp_path):
    path = tmp_path / "state.json"
    state.write(path, "old")
    with pytest.raises(UnicodeEncodeError):
        state.write(path, "\udc80")
    assert path.read_text() == "old"


def test_host_keys_are_pinned_by_address_and_name():
    assert keys.known_hosts(NODES) == (
        "10.177.64.11,taco-lab-node-0 ssh-ed25519 AAAA0\n10.177.64.12,taco-lab-node-1 ssh-ed25519 AAAA1\n"
    )


def test_the_inventory_holds_each_node_and_trusts_pinned_keys_only(inventory, tmp_path):
    folder = tmp_path / "a place with spaces"
    found = inventory({"nodes": NODES}, folder)
    assert found["gpu_nodes"]["hosts"] == ["taco-lab-node-0", "taco-lab-node-1"]
    variables = found["_meta"]["hostvars"]["taco-lab-node-1"]
    assert variables["ansible_host"] == "10.177.64.12"
    assert variables["ansible_port"] == 22
    assert variables["ansible_user"] == "root"
    words = shlex.split(variables["ansible_ssh_common_args"])
    assert f'UserKnownHostsFile="{folder}/known_hosts"' in words
    assert "StrictHostKeyChecking=yes" in words


def test_ssh_reads_the_arguments_as_they_are_meant(inventory, tmp_path):
    folder = tmp_path / "a place with spaces"
    variables = inventory({"nodes": NODES}, folder)["_meta"]["hostvars"]["taco-lab-node-0"]
    command = ["ssh", "-G", *shlex.split(variables["ansible_ssh_common_args"]), variables["ansible_host"]]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert f"userknownhostsfile {folder}/known_hosts" in said.replace('"', "")
    assert "stricthostkeychecking true" in said


def test_without_a_lab_the_inventory_says_how_to_start_one(tmp_path):
    script = tmp_path / "inventories/lab/nodes.py"
    script.parent.mkdir(parents=True)
    script.write_bytes(SCRIPT.read_bytes())
    done = subprocess.run([sys.executable, str(script), "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"make lab-up" in done.stderr
    (tmp_path / ".lab").mkdir()
    (tmp_path / ".lab/state.json").write_text(json.dumps({"nodes": NODES}))
    said = subprocess.run(
        [sys.executable, str(script), "--host", "taco-lab-node-0"], stdout=subprocess.PIPE, check=True
    ).stdout
    assert json.loads(said)["ansible_host"] == "10.177.64.11"


def test_the_inventory_is_read_beside_what_python_compiled(tmp_path):
    """The inventories of the other labs import this one's script."""
    for name in ("lab", "vm"):
        (tmp_path / "inventories" / name).mkdir(parents=True)
        source = SCRIPT.parents[1] / name / "nodes.py"
        shutil.copy(source, tmp_path / "inventories" / name / "nodes.py")
    for folder in (".lab", ".lab/vm"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "state.json").write_text(json.dumps({"nodes": NODES}))
    environment = dict(os.environ, ANSIBLE_CONFIG=str(state.ROOT / "ansible.cfg"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in ("vm", "lab"):
        command = ["ansible-inventory", "-i", str(tmp_path / "inventories" / name), "--list"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        assert done.returncode == 0 and b"taco-lab-node-1" in done.stdout, done.stdout.decode()
    assert (tmp_path / "inventories/lab/__pycache__").is_dir()

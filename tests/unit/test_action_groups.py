# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Defaults for a group of modules reach each of them, and no module is forgotten in a group."""

from pathlib import Path

import boot_host
import playbook
import yaml

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"
GROUPS = yaml.safe_load((COLLECTION / "meta/runtime.yml").read_text())["action_groups"]
MODULES = {path.stem: path.read_text() for path in (COLLECTION / "plugins/modules").glob("*.py")}
ACTIONS = {path.stem for path in (COLLECTION / "plugins/action").glob("*.py")}
# What a group is about, by an option that its modules share; what is in the folder named so is looked at.
PLAY = """
- name: Take defaults for a whole group
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/taco.train.node:
      state_dir: /of-the-group
  tasks:
    - name: Reserve pages
      taco.train.hugepages:
        count: 2
        sysroot: "{{ playbook_dir }}/root"
        regenerate: false
"""
# Nothing here names a folder of the run but the defaults of the group, which an action plugin takes in, too.
ACTION = """
- name: Take defaults for a whole group
  hosts: localhost
  gather_facts: false
  module_defaults:
    group/taco.train.all:
      run_dir: "{{ playbook_dir }}/run"
  tasks:
    - name: Render what is there
      taco.train.report:
"""


def test_the_defaults_of_a_group_reach_modules_and_actions(tmp_path):
    boot_host.debian_host(tmp_path / "root")
    (tmp_path / "run").mkdir()
    (tmp_path / "play.yml").write_text(PLAY + ACTION)
    command = ["play.yml", "-i", "localhost,", "-c", "local"]
    status, output = playbook.run(tmp_path, command, ANSIBLE_CONFIG=playbook.NO_CONFIGURATION)
    assert status == 0, output
    assert list((tmp_path / "root/of-the-group").iterdir())
    assert (tmp_path / "run/report.html").exists()


def test_every_module_and_action_is_in_the_group_of_all():
    assert sorted(GROUPS["all"]) == sorted(set(MODULES) | ACTIONS)


def test_the_group_node_holds_what_shares_the_option_state_dir():
    having = sorted(name for name, text in MODULES.items() if "\n  state_dir:\n" in text)
    assert sorted(GROUPS["node"]) == having and having

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host is observed once, and again in the next play when a role has changed it."""

import json

import playbook
import pytest
from observed import NODE
from played import run

PLAY = """
- name: Check the ENIs
  hosts: all
  gather_facts: false
  roles:
    - taco.train.eni
    - change
"""
CHANGE = """
- name: Mark the observation as outdated
  ansible.builtin.set_fact:
    taco_node: "{{ taco_node | combine({'observed_at': none}) }}"
  when: changes | bool
"""
GATHER = "taco.train.common : Gather the state of the host"
# When each host was observed, whether a role changes it, and how often it is observed in two plays.
HOSTS = [("2026-01-05T10:00:00Z", False, 0), (None, False, 1), ("now", True, 1), (None, True, 2)]


def test_a_host_is_observed_where_it_was_not_or_has_changed(tmp_path):
    (tmp_path / "roles/change/tasks").mkdir(parents=True)
    (tmp_path / "roles/change/tasks/main.yml").write_text(CHANGE)
    hosts = {
        f"gpu{number}": {"taco_node": dict(NODE, observed_at=time), "changes": changes, "taco_state_dir": str(tmp_path)}
        for number, (time, changes, _times) in enumerate(HOSTS)
    }
    options = {"eni_count": 0, "eni_pattern": "^none$", "taco_results_dir": str(tmp_path / "results")}
    status, output = run(tmp_path, PLAY + PLAY, hosts, dict(options, taco_platform="tke"))
    lines = [json.loads(line) for line in (tmp_path / playbook.RESULTS).read_text().splitlines()]
    looks = [line["host"] for line in lines if line["task"] == GATHER and not line["result"].get("skipped")]
    assert status == 0 and [looks.count(host) for host in hosts] == [times for *_host, times in HOSTS], output


def test_a_later_play_with_another_strategy_is_refused_too(tmp_path):
    play = PLAY + PLAY.replace("  roles:", "  strategy: free\n  roles:")
    variables = {"eni_count": 0, "eni_pattern": "^none$", "taco_results_dir": str(tmp_path / "results")}
    (tmp_path / "roles/change/tasks").mkdir(parents=True)
    (tmp_path / "roles/change/tasks/main.yml").write_text(CHANGE)
    status, output = run(tmp_path, play, {"gpu1": variables}, {"changes": False})
    assert status == 2 and ": the play 'Check the ENIs' has the strategy free" in output, output


CHECKED = """
- name: Check the shared variables
  hosts: all
  gather_facts: false
  vars: {taco_ssh_port: PORT}
  tasks:
    - ansible.builtin.import_role:
        name: taco.train.common
"""


@pytest.mark.parametrize(
    ("port", "inventory", "refused"),
    [
        # The variable of the play takes precedence over the inventory of each host.
        (0, {"gpu1": None, "gpu2": 22, "gpu3": 22}, "gpu1, gpu2, gpu3"),
        # Also where it equals the inventory of the host that the task runs on, or the default.
        (2022, {"gpu1": 2022, "gpu2": 0}, ""),
        (2222, {"gpu1": None, "gpu2": 0}, ""),
    ],
)
def test_a_variable_of_the_play_is_checked_for_every_host(tmp_path, port, inventory, refused):
    hosts = {host: {} if own is None else {"taco_ssh_port": own} for host, own in inventory.items()}
    options = {"taco_results_dir": str(tmp_path / "results"), "taco_state_dir": str(tmp_path)}
    status, output = run(tmp_path, CHECKED.replace("PORT", str(port)), hosts, options)
    assert f"{refused}: the role taco.train.common can't run" in output if refused else status == 0, output

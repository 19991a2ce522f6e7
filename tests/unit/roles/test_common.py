# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host is observed once, and again in the next play when a role has changed it."""

import re

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
- name: Keep that the observation is outdated
  ansible.builtin.set_fact:
    taco_node: "{{ taco_node | combine({'observed_at': none}) }}"
  when: changes | bool
"""
GATHERED = r"TASK \[taco.train.common : Gather facts about the host\] \**\nok: "


@pytest.mark.parametrize(
    ("observed_at", "changes", "times"),
    [("2026-01-05T10:00:00Z", False, 0), (None, False, 1), ("now", True, 1), (None, True, 2)],
)
def test_a_host_is_observed_where_it_was_not_or_has_changed(tmp_path, observed_at, changes, times):
    (tmp_path / "roles/change/tasks").mkdir(parents=True)
    (tmp_path / "roles/change/tasks/main.yml").write_text(CHANGE)
    variables = {"taco_node": dict(NODE, observed_at=observed_at), "eni_count": 0, "eni_pattern": "^none$"}
    options = {"changes": changes, "taco_results_dir": str(tmp_path / "results"), "taco_state_dir": str(tmp_path)}
    status, output = run(tmp_path, PLAY + PLAY, {"gpu1": variables}, dict(options, taco_platform="tke"))
    assert status == 0 and len(re.findall(GATHERED, output)) == times, output


def test_a_later_play_with_another_strategy_is_refused_too(tmp_path):
    play = PLAY + PLAY.replace("  roles:", "  strategy: free\n  roles:")
    variables = {"eni_count": 0, "eni_pattern": "^none$", "taco_results_dir": str(tmp_path / "results")}
    (tmp_path / "roles/change/tasks").mkdir(parents=True)
    (tmp_path / "roles/change/tasks/main.yml").write_text(CHANGE)
    status, output = run(tmp_path, play, {"gpu1": variables}, {"changes": False})
    assert status == 2 and ": the play 'Check the ENIs' has the strategy free" in output, output

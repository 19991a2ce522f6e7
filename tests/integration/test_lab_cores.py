# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The whole path on the Docker lab and back, with the oldest and the newest ansible-core and their collections."""

import json
import re

import pytest
from cores import CORES, controller
from integration.paths import ROOT

OLDEST_AND_NEWEST = [next(iter(CORES)), list(CORES)[-1]]
OWN_ARM = {"name": "mine", "base": "tcp", "before": [["true"]], "after": [["true"]]}


@pytest.fixture
def playbook(request, command, tmp_path):
    """Return a function that runs a playbook with the release of a test, and fails on a deprecation."""

    def run(release, name, *arguments):
        done = command(
            controller(release) / "ansible-playbook",
            ROOT / "playbooks" / f"{name}.yml",
            *("-i", "inventories/lab", "-e", f"taco_results_dir={tmp_path}", *arguments),
            timeout=600,
            ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
            ANSIBLE_DEPRECATION_WARNINGS="true",
        )
        assert done.returncode == 0, done.stdout
        assert "DEPRECATION" not in done.stdout, done.stdout
        return done.stdout

    return run


def changed(printed):
    """Return how many tasks changed something on all hosts together, by the recap."""
    return sum(int(number) for number in re.findall(r"^\S+\s+: ok=\d+\s+changed=(\d+)", printed, re.M))


@pytest.mark.parametrize("release", OLDEST_AND_NEWEST)
def test_bare_nodes_give_a_number_converge_and_come_back(release, playbook, tmp_path):
    playbook(release, "rollback")
    try:
        playbook(release, "site")
        records = (tmp_path / "latest/records.jsonl").read_text().splitlines()
        assert json.loads(records[-1])["outcome"] == "ok"
        assert changed(playbook(release, "prepare")) + changed(playbook(release, "deploy")) == 0
        # An arm of the user's own brings its commands, which built-in arms don't have.
        playbook(release, "benchmark", "-e", json.dumps({"benchmark_arm": OWN_ARM}))
    finally:
        playbook(release, "rollback")
    assert changed(playbook(release, "rollback")) == 0

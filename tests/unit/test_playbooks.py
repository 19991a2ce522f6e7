# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever part of a playbook a person asks for by its tag, the tasks that it relies on come with it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def listed(playbook, *arguments):
    command = ["ansible-playbook", f"playbooks/{playbook}.yml", "-i", "localhost,", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("playbook", ["prepare", "deploy", "benchmark", "rollback"])
def test_every_tag_of_a_playbook_brings_the_look_at_the_host(playbook):
    of_plays = re.findall(r"TASK TAGS: \[(.*)\]", listed(playbook, "--list-tags"))
    tags = set(re.findall(r"[\w-]+", " ".join(of_plays)))
    assert len(tags - {"always"}) > 0
    for tag in sorted(tags):
        assert "taco.train.cluster : Observe the host" in listed(playbook, "--list-tasks", "--tags", tag), tag

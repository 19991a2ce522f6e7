# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the modules under every target Python this machine has, by an ansible-core that supports it.

ansible-core 2.16 is the last that runs modules on Python 3.6, so it serves all but the newest.
"""

import pytest
from cores import CORES, core
from environments import pythons
from integration.paths import ROOT

PLAYBOOK = ROOT / "tests/integration/targets.yml"
PYTHONS = pythons()


@pytest.mark.parametrize("version", PYTHONS, ids=lambda version: "%d.%d" % version)
def test_the_modules_run_under(version, command, tmp_path):
    oldest = next(iter(CORES))
    playbook = core(oldest) / "ansible-playbook" if version <= (3, 12) else "ansible-playbook"
    done = command(
        playbook,
        PLAYBOOK,
        "-i",
        "localhost,",
        "-c",
        "local",
        "-e",
        "ansible_python_interpreter=" + PYTHONS[version],
        "-e",
        "folder=" + str(tmp_path),
        ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
        ANSIBLE_CALLBACKS_ENABLED="taco.train.summary",
        ANSIBLE_DISPLAY_OK_HOSTS="true",
    )
    assert done.returncode == 0, done.stdout
    assert "node_info ran under %d.%d" % version in done.stdout, done.stdout
    assert "failed=0" in done.stdout
    assert "Summary of 1 host: 1 changed" in done.stdout, done.stdout

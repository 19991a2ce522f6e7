# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the modules under every target Python this machine has, by an ansible-core that supports it.

ansible-core 2.16 is the last that runs modules on Python 3.6, so it serves all but the newest.
"""

import glob
import os
import shutil
import subprocess
import sys

import pytest
from integration.paths import ROOT

OLDEST_CORE = "ansible-core==2.16.19"
PLAYBOOK = ROOT / "tests/integration/targets.yml"
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def target_pythons():
    """Return {version: interpreter} of every Python 3.6 or newer on the path or under a pyenv folder."""
    found = {}
    candidates = [shutil.which("python3.%d" % minor) for minor in range(6, 15)]
    candidates += [sys.executable] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    for candidate in filter(None, candidates):
        answer = subprocess.run([candidate, "-c", VERSION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if answer.returncode == 0:
            version = tuple(int(part) for part in answer.stdout.decode().split("."))
            if version >= (3, 6):
                found["%d.%d" % version] = candidate
    return found


PYTHONS = target_pythons()


@pytest.fixture(scope="session")
def oldest_core():
    """Return the ansible-playbook of the oldest ansible-core that the collection supports, installed once."""
    folder = ROOT / ".venv/oldest-core"
    playbook = folder / "bin/ansible-playbook"
    if not playbook.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", OLDEST_CORE, "jmespath"]
        subprocess.run(pip, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return playbook


@pytest.mark.parametrize("version", sorted(PYTHONS, key=lambda text: int(text.split(".")[1])))
def test_the_modules_run_under(version, command, oldest_core, tmp_path):
    minor = int(version.split(".")[1])
    playbook = oldest_core if minor <= 12 else "ansible-playbook"
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
    )
    assert done.returncode == 0, done.stdout
    assert "node_info ran under " + version in done.stdout, done.stdout
    assert "failed=0" in done.stdout
    assert "Summary of 1 host: 1 changed" in done.stdout, done.stdout

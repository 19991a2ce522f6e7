# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the modules under every target Python this machine has, by an ansible-core that supports it: each Python is a host.

ansible-core 2.16 is the last that runs modules on Python 3.6, so it serves all but the newest.
"""

import json

import pytest
from cores import CORES, OF_VENV, core
from environments import pythons
from integration.paths import ROOT

PLAYBOOK = ROOT / "tests/integration/targets.yml"
OLDEST = next(iter(CORES))
HOSTS = {OLDEST: {}, OF_VENV: {}}
for version, interpreter in pythons().items():
    HOSTS[OLDEST if version <= (3, 12) else OF_VENV]["%d.%d" % version] = {"ansible_python_interpreter": interpreter}


@pytest.mark.parametrize("release", [release for release, hosts in HOSTS.items() if hosts])
def test_the_modules_run_under_every_python(release, command, tmp_path):
    hosts = HOSTS[release]
    inventory = {"all": {"hosts": hosts, "vars": {"ansible_connection": "local", "base": str(tmp_path)}}}
    (tmp_path / "inventory.json").write_text(json.dumps(inventory))
    done = command(
        core(release) / "ansible-playbook",
        PLAYBOOK,
        "-i",
        tmp_path / "inventory.json",
        ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"),
        ANSIBLE_CALLBACKS_ENABLED="taco.train.summary",
        ANSIBLE_DISPLAY_OK_HOSTS="true",
    )
    assert done.returncode == 0, done.stdout
    for host in hosts:
        assert "node_info ran under " + host in done.stdout, done.stdout
    assert done.stdout.count("failed=0") == len(hosts)
    number = "1 host" if len(hosts) == 1 else "%d hosts" % len(hosts)
    assert f"Summary of {number}: {len(hosts)} changed" in done.stdout, done.stdout

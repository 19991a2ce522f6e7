# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An inventory and a playbook with the role preflight, and the verdicts of their runs."""

import json
import re
import sys
from typing import NamedTuple

import playbook
import pytest
import yaml
from observed import NODE, VARIABLES

PLAYBOOK = [{"hosts": "gpu_nodes", "gather_facts": False, "roles": ["taco.train.preflight"]}]
GOOD = {"taco_node": NODE}
# Without other roles of the collection their variables have no default.
GROUP = dict(VARIABLES, ansible_connection="local", ansible_python_interpreter=sys.executable)


class Played(NamedTuple):
    returncode: int
    output: str


class Site:
    """An inventory and a playbook in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder

    def play(self, hosts, *arguments, group=None, plays=PLAYBOOK, pwd=None, without=()):
        group = {name: value for name, value in dict(GROUP, **(group or {})).items() if name not in without}
        inventory = {"gpu_nodes": {"hosts": hosts, "vars": group}}
        (self.folder / "inventory.json").write_text(json.dumps(inventory))
        (self.folder / "play.yml").write_text(yaml.safe_dump(plays))
        # A fast answer of an SSH server that isn't there.
        settings = {"ANSIBLE_CONFIG": playbook.NO_CONFIGURATION, "ANSIBLE_SSH_RETRIES": "0"}
        settings.update({} if pwd is None else {"PWD": str(pwd)})
        return Played(*playbook.run(self.folder, ["-i", "inventory.json", "play.yml", *arguments], **settings))

    def verdicts(self):
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("results/*/verdict.json"))]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def recap(output):
    """Return {host: {"ok": 1, ...}} of the lines under PLAY RECAP."""
    rows = re.findall(r"(?m)^(\S+)\s+: (ok=.*)$", output)
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", row)} for host, row in rows}


def status(verdict, host, identity):
    return next(check["status"] for check in verdict["hosts"][host]["checks"] if check["id"] == identity)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the role container_engine would do, in check mode. That it does it is tested on nodes that can be installed on."""

import json
import os
import subprocess
import sys

import pytest
from observed import NODE

PLAY = """
- hosts: all
  gather_facts: false
  roles:
    - taco.train.container_engine
"""
TOOLKIT_MISSING = dict(NODE["container_engine"], nvidia_toolkit=None)


@pytest.mark.parametrize(
    ("engine", "options", "said"),
    [
        (NODE["container_engine"], {}, None),
        (NODE["container_engine"], {"container_engine_prove": True}, None),
        (TOOLKIT_MISSING, {}, ["NVIDIA Container Toolkit"]),
        (TOOLKIT_MISSING, {"container_engine_gpu": False}, None),
        (None, {}, ["Docker Engine", "NVIDIA Container Toolkit"]),
    ],
)
def test_check_mode_says_what_would_be_installed_and_ends_well(tmp_path, engine, options, said):
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "taco_node": dict(NODE, container_engine=engine),
    }
    (tmp_path / "inventory.yml").write_text(json.dumps({"all": {"hosts": {"gpu-0": variables}}}))
    (tmp_path / "play.yml").write_text(PLAY)
    collections = os.path.join(os.path.dirname(__file__), "../../../collections")
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=collections, ANSIBLE_LOCALHOST_WARNING="0")
    environment.pop("ANSIBLE_CONFIG", None)
    argv = ["ansible-playbook", "--check", "-i", "inventory.yml", "play.yml", "-e", json.dumps(options)]
    done = subprocess.run(
        argv, cwd=str(tmp_path), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    assert ("changed=1" if said else "changed=0") in done.stdout
    for words in said or []:
        assert f'"{words}"' in done.stdout

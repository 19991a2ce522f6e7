# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the role container_engine would do, in check mode. That it does it is tested on nodes that can be installed on."""

import pytest
from observed import NODE
from played import check

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
    hosts = {"gpu-0": {"taco_node": dict(NODE, container_engine=engine)}}
    status, output = check(tmp_path, PLAY, hosts, options)
    assert status == 0, output
    assert ("changed=1" if said else "changed=0") in output
    for words in said or []:
        assert f'"{words}"' in output

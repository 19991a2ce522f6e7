# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of HARP are observed by their names."""

import hashlib

import pytest

from ansible_collections.taco.train.plugins.module_utils._observation.node import harp
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root


@pytest.mark.parametrize("running", [True, False])
def test_the_files_are_those_with_the_name_of_a_configuration(tmp_path, running):
    for name, text in {
        "opt/harp/ztcp0.conf": "[dpdk]\n",
        "opt/harp/ztcp1.conf": "",
        "opt/harp/ztcp0.conf.old": "x",
        "opt/state/host-manifest.json": "{}",
        "opt/state/harp/state.json": '{"version": 2}',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    root = Root(str(tmp_path))
    root.is_running_system = running

    def checksum(text):
        return hashlib.sha256(text).hexdigest() if running else None

    assert harp(root, "/opt/harp", "/opt/state") == {
        "config_dir": "/opt/harp",
        "config_files": [
            {"path": "/opt/harp/ztcp0.conf", "size": 7, "sha256": checksum(b"[dpdk]\n")},
            {"path": "/opt/harp/ztcp1.conf", "size": 0, "sha256": checksum(b"")},
        ],
        "manifest": "/opt/state/host-manifest.json",
        "record": {"version": 2},
    }

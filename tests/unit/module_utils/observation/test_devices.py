# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""GPUs are observed where nvidia-smi hangs."""

import json
import os
import time

from ansible_collections.taco.train.plugins.module_utils._observation import node
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

WEDGED = """#!/bin/sh
setsid sleep 60 &
exec sleep 60
"""


def test_a_wedged_nvidia_smi_ends_with_the_details_of_the_manifest(monkeypatch, tmp_path):
    """nvidia-smi hangs and what it started holds its pipes; the next observation has what the manifest keeps of the same GPUs."""
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(WEDGED)
    program.chmod(0o755)
    device = {"index": 0, "pci": "0000:3b:00.0", "name": "A100", "uuid": "GPU-0"}
    (tmp_path / "host-manifest.json").write_text(json.dumps({"gpus": [device]}))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(node, "QUERY_SECONDS", 1)
    monkeypatch.setattr(node, "pci_gpus", lambda root: [dict(device, index=None, name=None, uuid=None)])
    started = time.monotonic()
    gpus = node.gpus(Root("/"), str(tmp_path))
    assert time.monotonic() - started < 40
    assert gpus["devices"] == [device] and gpus["problem"] == "nvidia-smi took longer than 1 s"

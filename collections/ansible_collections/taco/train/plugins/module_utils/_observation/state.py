# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe what the modules harp_config and ssh_trust keep on a host."""

import glob
import os
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._harp.options import CONFIG_GLOB, MANIFEST, RECORD
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._ssh.folder import FOLDER, IDENTITY, PEERS, judge_trust


def harp(root: Root, config_dir: str, state_dir: str) -> Dict[str, Any]:
    """Return the configuration files with their sizes, the manifest and the record of the setup script."""
    names = glob.glob(os.path.join(glob.escape(root.join(config_dir)), CONFIG_GLOB))
    paths = [os.path.join(config_dir, os.path.basename(name)) for name in sorted(names)]
    manifest = os.path.join(state_dir, MANIFEST)
    return {
        "config_dir": config_dir,
        "config_files": [
            {"path": path, "size": os.path.getsize(root.join(path)), "sha256": root.sha256(path)} for path in paths
        ],
        "manifest": manifest if os.path.isfile(root.join(manifest)) else None,
        "record": root.json(os.path.join(state_dir, RECORD)),
    }


def ssh_trust(root: Root, state_dir: str) -> Optional[Dict[str, Any]]:
    """Return the public keys of the host or its training container and the state of its peers, or None without keys."""
    identity, peers = (os.path.join(state_dir, FOLDER, name) for name in (IDENTITY, PEERS))
    return judge_trust(root.json(identity), root.json(peers), root.sha256(peers))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe the trust between hosts that the module ssh_trust creates."""

import os
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._ssh.folder import FOLDER, IDENTITY, PEERS, PROOF, judge_trust
from ansible_collections.taco.train.plugins.module_utils._ssh.inspection import is_active


def ssh_trust(root: Root, state_dir: str, container: Optional[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    """Return the public keys of the host or its training container and the state of its peers, or None without keys."""
    identity, peers, proof = (os.path.join(state_dir, FOLDER, name) for name in (IDENTITY, PEERS, PROOF))
    container_id = container["id"] if container else ""
    trust = judge_trust(root.json(identity), root.json(peers), root.sha256(peers), root.text(proof), container_id)
    if trust is None:
        return None
    name = container["name"] if container and container["status"] == "running" and root.is_running_system else None
    active = name is not None and is_active(state_dir, name, trust["address"], trust["port"])
    return dict(trust, active_in=name if active else None)

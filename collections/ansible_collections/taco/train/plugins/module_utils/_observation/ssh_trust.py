# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe the trust between hosts that the module ssh_trust creates."""

import os
from typing import Any, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._ssh.folder import FOLDER, IDENTITY, PEERS, judge_trust


def ssh_trust(root: Root, state_dir: str) -> Optional[Dict[str, Any]]:
    """Return the public keys of the host or its training container and the state of its peers, or None without keys."""
    identity, peers = (os.path.join(state_dir, FOLDER, name) for name in (IDENTITY, PEERS))
    return judge_trust(root.json(identity), root.json(peers), root.sha256(peers))

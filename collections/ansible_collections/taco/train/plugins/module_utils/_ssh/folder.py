# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module ssh_trust keeps on a host about itself and its peers, and what that tells whoever looks later."""

import hashlib
import json
from typing import Any, Dict, Optional, Sequence

FOLDER = "ssh"  # below the state_dir
IDENTITY = "identity.json"
PEERS = "peers.json"
# The checksum of the peers that were reached, and the id of the container that they were reached from.
PROOF = "proven"
PUBLISHED = ("public_key", "host_key", "port")


def checksum(peers: str) -> str:
    """Return the checksum of the peers in the text of their file."""
    return hashlib.sha256(peers.encode("utf-8")).hexdigest()


def peers_text(peers: Sequence[Dict[str, Any]]) -> str:
    """The text of the file PEERS."""
    return json.dumps(peers, indent=1, sort_keys=True) + "\n"


def proof_text(peers_sha256: str, container_id: str) -> str:
    """The text of the file PROOF. The id is empty where the server runs on the host itself."""
    return f"{peers_sha256} {container_id}".strip() + "\n"


def judge_trust(identity: Any, peers: Any, peers_sha256: Optional[str]) -> Optional[Dict[str, Any]]:
    """Return whom a host trusts and how it is known to them, None without keys.

    identity and peers are the values in their files, whatever somebody made of these.
    """
    if not isinstance(identity, dict) or not all(map(identity.get, PUBLISHED)):
        return None
    known = {key: identity[key] for key in PUBLISHED}
    listed = [peer for peer in peers if isinstance(peer, dict)] if isinstance(peers, list) else []
    itself = next((peer for peer in listed if all(peer.get(key) == known[key] for key in PUBLISHED)), {})
    own = {key: itself.get(key) for key in ("name", "address")}
    return dict(known, peers=len(listed), peers_sha256=peers_sha256, **own)

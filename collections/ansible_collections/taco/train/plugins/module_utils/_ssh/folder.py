# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module ssh_trust keeps on a host about itself and its peers, and what that tells whoever looks later."""

import hashlib
import json
import os
import re
from typing import Any, Dict, List, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes
from ansible_collections.taco.train.plugins.module_utils._ssh.files import MARK

FOLDER = "ssh"  # below the state_dir
IDENTITY = "identity.json"
PEERS = "peers.json"
# The checksum of the peers that were reached, and the id of the container that they were reached from.
PROOF = "proven"
PUBLISHED = ("public_key", "host_key", "port")
# The files that the module writes, what a kill left of them, and the text by which they are known.
NAMES = re.compile(
    r"(id_ed25519|ssh_host_ed25519_key)(\.pub)?|identity\.json|peers\.json|proven|authorized_keys|known_hosts|config|client_config"
    r"|sshd_config(\.new)?|sshd\.pid"
)
UNFINISHED = re.compile(r"new-key|\..+\.[0-9]+\.tmp")
AUTHORIZED = "authorized_keys"
OWN_KEY = re.compile(r"ssh-ed25519 \S+ [A-Za-z0-9_][A-Za-z0-9._-]*")
KEY_COMMENT = "taco-train@"
MARKS = {
    "sshd_config": MARK,
    "config": MARK,
    "id_ed25519.pub": KEY_COMMENT,
    "ssh_host_ed25519_key.pub": KEY_COMMENT,
}


def foreign_keys(folder: str) -> List[int]:
    """Return the numbers of the lines in authorized_keys that hold keys of others: ours end with the name of a peer."""
    text = (read_bytes(os.path.join(folder, AUTHORIZED)) or b"").decode("utf-8", "replace")
    keys = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [number for number, line in keys if line and not line.startswith("#") and not OWN_KEY.fullmatch(line)]


def foreign_files(folder: str) -> List[str]:
    """Return the files in the folder that have names of the module and are not its own.

    These are all where none carries the mark, else links, folders, keys whose public half has no mark, and authorized_keys with keys of
    others.
    """
    names = sorted(filter(NAMES.fullmatch, os.listdir(folder))) if os.path.isdir(folder) else []
    plain = [name for name in names if os.path.isfile(os.path.join(folder, name))]
    plain = [name for name in plain if not os.path.islink(os.path.join(folder, name))]
    contents = {name: read_bytes(os.path.join(folder, name)) or b"" for name in plain if name in MARKS}
    marked = {name for name, content in contents.items() if MARKS[name].encode() in content}
    keys = {name for name in contents if name.endswith(".pub")} - marked
    foreign = set(names) - set(plain) | keys | {name[: -len(".pub")] for name in keys}
    if marked and AUTHORIZED in plain and foreign_keys(folder):
        foreign.add(AUTHORIZED)
    return [name for name in names if name in foreign or not marked]


def own_files(folder: str) -> List[str]:
    """Return the files in the folder that the module or an unfinished run of it wrote."""
    foreign = foreign_files(folder)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    own = [name for name in names if NAMES.fullmatch(name) and name not in foreign]
    return own + [name for name in names if UNFINISHED.fullmatch(name) and (own or not foreign)]


def foreign_refusal(folder: str, names: Sequence[str]) -> str:
    """Return the message that refuses to write into a folder of somebody else."""
    if list(names) == [AUTHORIZED]:
        lines = ", ".join(map(str, foreign_keys(folder)[:5]))
        return (
            f"{folder}/{AUTHORIZED} holds keys that ssh_trust did not write (line {lines}), so nothing was changed: move them to the "
            "file of their user, such as /root/.ssh/authorized_keys"
        )
    return (
        f"{folder} holds {', '.join(names)}, which ssh_trust did not write, so nothing was changed: move the files away, or set "
        "state_dir (taco_state_dir) to another folder"
    )


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

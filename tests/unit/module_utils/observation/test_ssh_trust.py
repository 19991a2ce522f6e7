# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The trust between hosts is observed by the files that the module ssh_trust keeps, whatever somebody made of them."""

import hashlib
import json

import pytest

from ansible_collections.taco.train.plugins.module_utils._observation.node import ssh_trust
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

IDENTITY = {"public_key": "ssh-ed25519 A", "host_key": "ssh-ed25519 B", "port": 2222}
ITSELF = dict(IDENTITY, name="node-0", address="10.0.2.8")
UNKNOWN = {"name": None, "address": None, "peers": 0, "peers_sha256": None}


def trust_of(folder, files, running=False):
    """Return the observed trust of a host with these files; checksums are those of the running system."""
    (folder / "ssh").mkdir()
    for name, text in files.items():
        (folder / "ssh" / name).write_text(text)
    return ssh_trust(Root("/"), str(folder)) if running else ssh_trust(Root(str(folder)), "/")


@pytest.mark.parametrize(
    ("text", "trust"),
    [
        (json.dumps(dict(IDENTITY, x=1)), dict(IDENTITY, **UNKNOWN)),
        ('{"public_key": "ssh-ed25519 A"}', None),
        ("{", None),
        ("[]", None),
        ("", None),
    ],
)
def test_the_identity_is_whole_or_none(tmp_path, text, trust):
    assert trust_of(tmp_path, {"identity.json": text}) == trust


@pytest.mark.parametrize(
    ("peers", "names"),
    [
        (
            [dict(ITSELF, name="other", host_key="ssh-ed25519 C"), ITSELF],
            {"name": "node-0", "address": "10.0.2.8", "peers": 2},
        ),
        ([dict(ITSELF, port=22)], {"name": None, "address": None, "peers": 1}),
        (["node-0", None], {"name": None, "address": None, "peers": 0}),
        ({"node-0": ITSELF}, {"name": None, "address": None, "peers": 0}),
    ],
)
def test_a_host_is_known_to_its_peers_by_what_its_own_list_of_them_says(tmp_path, peers, names):
    trust = trust_of(tmp_path, {"identity.json": json.dumps(IDENTITY), "peers.json": json.dumps(peers)})
    assert trust == dict(IDENTITY, peers_sha256=None, **names)


def test_the_checksum_of_the_peers_is_that_of_their_file_on_the_running_system(tmp_path):
    trust = trust_of(tmp_path, {"identity.json": json.dumps(IDENTITY), "peers.json": "[]"}, running=True)
    assert trust["peers_sha256"] == hashlib.sha256(b"[]").hexdigest()

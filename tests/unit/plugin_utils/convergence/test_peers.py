# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host trusts as many peers as there are hosts, and is one of them under its own name and address; else they are told anew."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.convergence.peers import agreed_peers

TRUST = {
    "public_key": "ssh-ed25519 A",
    "host_key": "ssh-ed25519 B",
    "port": 2222,
    "name": "node-0",
    "address": "10.0.2.8",
    "peers": 2,
    "peers_sha256": "abc",
    "active_in": "taco-train",
}
ASKED = {"container": "taco-train", "address": "10.0.2.8", "port": "2222"}


def test_a_host_that_is_known_as_it_is_reached_has_peers_to_compare():
    assert agreed_peers(ASKED, TRUST, "node-0", 2, False) == "abc"


@pytest.mark.parametrize(
    ("asked", "trust", "hosts", "limited"),
    [
        (dict(ASKED, address="10.0.2.9"), TRUST, 2, False),
        (dict(ASKED, port="2223"), TRUST, 2, False),
        (dict(ASKED, container="other"), TRUST, 2, False),
        (dict(ASKED, container=None), dict(TRUST, active_in=None), 2, False),
        (ASKED, dict(TRUST, active_in=None), 2, False),
        (dict(ASKED, port=""), TRUST, 2, False),
        (ASKED, dict(TRUST, name="node-1"), 2, False),
        (ASKED, dict(TRUST, name=None, address=None, peers=0, peers_sha256=None), 2, False),
        (ASKED, {"public_key": "ssh-ed25519 A", "host_key": "ssh-ed25519 B", "port": 2222}, 2, False),
        (ASKED, None, 2, False),
        (ASKED, TRUST, 3, False),  # a host came
        (ASKED, TRUST, 3, True),
        (ASKED, TRUST, 1, False),  # a host went, and is not to be trusted any longer
    ],
)
def test_what_has_changed_is_told_anew(asked, trust, hosts, limited):
    assert agreed_peers(asked, trust, "node-0", hosts, limited) is None


def test_a_run_on_a_part_of_the_hosts_takes_the_trust_from_nobody():
    assert agreed_peers(ASKED, TRUST, "node-0", 1, True) == "abc"

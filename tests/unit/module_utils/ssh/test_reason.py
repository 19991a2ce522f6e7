# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reason why ssh does not reach a host is told from its message, and each reason has a fix of its own."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._ssh.reason import PATTERNS, reason_of
from ansible_collections.taco.train.plugins.module_utils._ssh.trust import FIXES, explained

CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Offending ED25519 key in /root/.ssh/known_hosts:3
Host key for gpu2 has changed and you have requested strict checking.
Host key verification failed.
"""
PROXY = "ssh: Could not resolve hostname bastion: Name or service not known\nConnection closed by UNKNOWN port 65535\n"
# The message of ssh, the kind of the reason, and words of the fix between containers.
MESSAGES = [
    ("ssh: Could not resolve hostname gpu2: Temporary failure in name resolution", "name", "client_config"),
    (PROXY, "name", "ProxyJump"),
    (CHANGED, "host_key_changed", "no other host has the address"),
    ("No ED25519 host key is known for gpu2.\r\nHost key verification failed.", "host_key_unknown", "in one play"),
    ("root@10.0.2.9: Permission denied (publickey).", "authentication", "the keys of the other"),
    ("Permission denied, please try again.", "authentication", "the keys of the other"),
    ("ssh: connect to host 10.0.2.9 port 2222: Connection refused", "refused", "nothing listens on port 2222"),
    ("ssh: connect to host 10.0.2.9 port 2222: Connection timed out", "timeout", "pass TCP port 2222"),
    ("ssh took longer than 60 s", "timeout", "security group"),
    ("ssh: connect to host 10.0.2.9 port 2222: No route to host", "route", "ssh_trust_address"),
    ("kex_exchange_identification: read: Connection reset by peer", "closed", "what listens on port 2222"),
]


@pytest.mark.parametrize(("message", "kind", "fix"), MESSAGES)
def test_each_reason_has_its_own_fix_and_only_a_refused_or_dropped_connection_blames_the_port(message, kind, fix):
    assert reason_of(message)[0] == kind
    text = explained({"gpu2": message}, {"gpu2": 2222})
    assert fix in text and text.startswith("gpu2 (" + reason_of(message)[1])
    assert ("2222" in text.split("): ", 1)[1]) == (kind in ("refused", "timeout", "closed"))


def test_every_reason_has_a_fix():
    assert {kind for kind, _pattern in PATTERNS} == set(FIXES) == {kind for _message, kind, _fix in MESSAGES}


def test_another_message_is_shown_as_it_is():
    assert reason_of("bash: true: /bin/true: Permission denied\nstatus 126")[0] == ""
    assert explained({"gpu2": "Bad configuration option: x"}, {"gpu2": 1}).startswith(
        "gpu2 (Bad configuration option: x)"
    )


def test_peers_with_the_same_reason_are_named_together_and_a_message_about_200_is_short():
    problems = {f"gpu{n:03}": MESSAGES[n % len(MESSAGES)][0] + "x" * 300 for n in range(200)}
    text = explained(problems, dict.fromkeys(problems, 2222))
    assert text.count("): ") == 3 and "more (" in text and len(text) < 2000
    refused = {f"gpu{n}": MESSAGES[6][0] for n in range(3)}
    assert explained(refused, dict.fromkeys(refused, 2222)).startswith("gpu0, gpu1, gpu2 (ssh: connect to host")

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of each file, and what can't go into one."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._ssh import files

KEY = "ssh-ed25519 " + "A" * 68


def peer(name, address="10.0.2.8", **changes):
    return dict(
        {"name": name, "address": address, "port": 2222, "public_key": KEY + " taco@x", "host_key": KEY}, **changes
    )


def test_files_name_every_peer():
    peers = files.checked_peers([peer("gpu2", "10.0.2.9"), peer("gpu1")])
    assert files.authorized_keys(peers) == f"{KEY} gpu1\n{KEY} gpu2\n"
    assert files.known_hosts(peers).splitlines()[0] == f"gpu1,[gpu1]:2222,[10.0.2.8]:2222 {KEY}"
    config = files.client_config(peers, "/s", "root")
    assert config.count("\nHost ") == 2
    assert "StrictHostKeyChecking yes" in config and "StrictHostKeyChecking no" not in config
    assert "Host gpu1\n  HostName 10.0.2.8\n  Port 2222\n  User root\n  IdentityFile /s/id_ed25519\n" in config


@pytest.mark.parametrize(
    ("peers", "words"),
    [
        ([peer("a b")], "'a b'"),
        ([peer("-oProxyCommand=x")], "ProxyCommand"),
        ([peer("*")], "letters, digits"),
        ([peer("a"), peer("a")], "listed twice"),
        ([peer("a", "0.0.0.0")], "peer a: .*ssh_trust_address"),
        ([peer("a", "")], "peer a: .*taco_interface"),
        ([peer("a", public_key="ssh-ed25519 AAAA\nssh-rsa B")], "peer a: the public_key"),
        ([peer("a", host_key="")], "peer a: the host_key"),
    ],
)
def test_peers_that_cannot_be_written_down(peers, words):
    with pytest.raises(files.SshFilesError, match=words):
        files.checked_peers(peers)


def test_peers_left_out_stay_without_purge():
    known = [peer("a"), peer("b", "10.0.0.2")]
    given = [peer("b", "10.0.0.3")]
    kept = files.merged_peers(known, given, purge=False)
    assert [(entry["name"], entry["address"]) for entry in kept] == [("a", "10.0.2.8"), ("b", "10.0.0.3")]
    assert files.merged_peers(known, given, purge=True) == given


@pytest.mark.parametrize(
    "own",
    [
        "",
        "Host x\n  Port 22\n",
        "Host x\n  Port 22",
        "# taco.train: SSH between the training containers\nInclude /s/config\nHost *\n",
        "\n\nHost *\n",
    ],
)
def test_a_users_lines_are_kept_and_ours_come_first_and_once(own):
    text = files.with_include(own, "/s/config")
    assert text.splitlines()[1] == "Include /s/config"
    assert text.count("Include /s/config") == 1
    assert files.with_include(text, "/s/config") == text
    assert files.without_include(text, "/s/config") == files.without_include(own, "/s/config")


def test_the_server_takes_keys_alone_on_one_address():
    lines = files.sshd_config("10.0.2.8", 2222, "root", "/s", "/run/p.pid", KEY).splitlines()
    for line in (
        "Port 2222",
        "ListenAddress 10.0.2.8",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "AuthenticationMethods publickey",
        "AllowUsers root",
        "UsePAM no",
        "HostKey /s/ssh_host_ed25519_key",
        "AuthorizedKeysFile /s/authorized_keys",
        "PidFile /run/p.pid",
    ):
        assert line in lines


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "eth0", ""])
def test_the_server_never_listens_everywhere(address):
    with pytest.raises(files.SshFilesError, match="ssh_trust_address"):
        files.sshd_config(address, 2222, "root", "/s", "/run/p.pid", KEY)


def test_the_banner_tells_which_configuration_runs():
    config = files.sshd_config("10.0.2.8", 2222, "root", "/s", "/run/p.pid", KEY)
    other = files.sshd_config("10.0.2.8", 2222, "root", "/s", "/run/p.pid", KEY.replace("A", "B"))
    ours = "SSH-2.0-OpenSSH_9.2p1 Debian-2 " + files.banner_of(config)
    assert files.judge_banner(ours, config) == "running"
    assert files.judge_banner(ours, other) == "stale"
    assert files.judge_banner("SSH-2.0-OpenSSH_9.2p1", config) == "foreign"
    assert files.judge_banner("", config) == "foreign"
    assert files.judge_banner(None, config) == "stopped"

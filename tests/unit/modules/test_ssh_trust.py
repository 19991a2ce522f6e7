# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts trust each other by real servers, real keys and real logins."""

import json
import socket

import pytest
from trusting_hosts import trusting

from ansible_collections.taco.train.plugins.module_utils._ssh import server


def test_every_host_reaches_every_host(hosts):
    results, peers = trusting(hosts)
    assert [result["server"] for result in results] == ["started", "started"], results
    for host in hosts:
        proven = host(peers=peers, prove=True)
        assert proven["proven"] == ["node-0", "node-1"], proven
        assert not proven["changed"]
        for other in hosts:
            assert host.login(other.name).stdout == "reached\n"


def test_a_second_run_changes_nothing(hosts):
    _results, peers = trusting(hosts)
    before = hosts[0].tree()
    again = hosts[0](peers=peers)
    assert (again["changed"], again["server"], again["files"]) == (False, "left alone", [])
    assert not hosts[0]("identity")["changed"]
    assert hosts[0].tree() == before


def test_what_was_not_proven_since_it_changed_is_told_of_until_it_is(hosts):
    results, peers = trusting(hosts)
    assert [result["unproven"] for result in results] == [True, True]
    # The other server is away, so nothing can be proven, and the next run, in which nothing changes, still says so.
    hosts[1].stop()
    assert hosts[0](peers=peers, prove=True)["failed"]
    again = hosts[0](peers=peers)
    assert (again["changed"], again["unproven"]) == (False, True)

    hosts[1](peers=peers)
    assert not hosts[0](peers=peers, prove=True)["unproven"]
    before = hosts[0].tree()
    assert not hosts[0](peers=peers, check=True)["unproven"] and not hosts[0](peers=peers)["unproven"]
    assert hosts[0].tree() == before

    # What was reached once and no longer is counts as little.
    hosts[1].stop()
    assert hosts[0](peers=peers, prove=True)["failed"]
    assert hosts[0](peers=peers)["unproven"]
    hosts[1](peers=peers)
    assert not hosts[0](peers=peers, prove=True)["unproven"]

    hosts[0].stop()
    assert hosts[0](peers=peers, check=True)["unproven"]
    assert hosts[0](peers=peers)["unproven"]


def test_logins_to_peers_that_another_run_has_replaced_meanwhile_prove_nothing(hosts, monkeypatch):
    _results, peers = trusting(hosts)
    unreachable = server.unreachable

    def overtaken(*arguments):
        problems = unreachable(*arguments)
        assert hosts[0](peers=peers[:1])["changed"]
        return problems

    monkeypatch.setattr(server, "unreachable", overtaken)
    assert hosts[0](peers=peers, prove=True)["unproven"]
    monkeypatch.undo()
    assert not (hosts[0].ssh / "proven").exists() and hosts[0](peers=peers[:1])["unproven"]


def test_a_proxy_of_the_user_for_all_hosts_does_not_apply_to_the_peers(hosts):
    hosts[0].config.parent.mkdir(parents=True)
    hosts[0].config.write_text("Host *\n  ProxyCommand false\n  ProxyJump nowhere.invalid\n")
    _results, peers = trusting(hosts)
    assert hosts[0](peers=peers, prove=True)["proven"] == ["node-0", "node-1"]


def test_private_keys_stay_private(hosts):
    results, _peers = trusting(hosts)
    answers = json.dumps(results)
    assert "PRIVATE" not in answers
    assert hosts[0].ssh.stat().st_mode & 0o777 == 0o700
    for name in ("id_ed25519", "ssh_host_ed25519_key"):
        private = hosts[0].ssh / name
        assert private.stat().st_mode & 0o777 == 0o600
        assert private.read_text().split("\n")[1] not in answers


def test_a_key_that_is_not_trusted_and_a_password_do_not_get_in(hosts):
    results, _peers = trusting(hosts)
    assert not results[0].get("failed")
    # The second host alone is trusted by itself: the first may no longer come.
    hosts[1](peers=[hosts[1].peer()])
    refused = hosts[0].login("node-1")
    assert refused.returncode != 0
    assert "(publickey)" in refused.stderr
    proof = hosts[0](prove=True, purge=False)
    assert proof["failed"]
    assert "1 of 2 peers can't be reached from this host: node-1 (" in proof["msg"], proof
    assert "Permission denied (publickey)" in proof["msg"] and "in one play" in proof["msg"]
    assert "port" not in proof["msg"], proof


def test_another_host_key_than_the_pinned_one_is_refused(hosts):
    _results, peers = trusting(hosts)
    forged = dict(peers[1], host_key=peers[0]["host_key"])
    hosts[0](peers=[peers[0], forged])
    refused = hosts[0].login("node-1")
    assert refused.returncode != 0
    assert "verification failed" in refused.stderr.lower() or "changed" in refused.stderr.lower()


def test_hosts_left_out_of_a_run_keep_the_trust(hosts):
    _results, peers = trusting(hosts)
    kept = hosts[0](peers=[peers[0]], purge=False)
    assert not kept["changed"]
    assert hosts[0].login("node-1").stdout == "reached\n"
    assert hosts[0](peers=[peers[0]])["changed"]


def test_a_server_with_another_configuration_is_restarted(hosts):
    _results, peers = trusting(hosts)
    first = hosts[0].pid()
    keys = ("ssh_host_ed25519_key", "ssh_host_ed25519_key.pub")
    for name in keys:
        (hosts[0].ssh / name).unlink()
    assert hosts[0]("identity")["changed"]
    result = hosts[0](peers=[hosts[0].peer(), peers[1]])
    assert result["server"] == "restarted", result
    assert hosts[0].pid() != first
    assert hosts[0].login("node-0").stdout == "reached\n"


def test_a_server_that_was_stopped_is_started(hosts):
    _results, peers = trusting(hosts)
    hosts[0].stop()
    again = hosts[0](peers=peers)
    assert (again["changed"], again["server"], again["files"]) == (True, "started", [])


def test_a_users_own_lines_stay(hosts):
    hosts[0].config.parent.mkdir(parents=True)
    kept = hosts[0].root / "dotfiles"
    kept.write_text("Host elsewhere\n  Port 1\n")
    kept.chmod(0o640)
    hosts[0].config.symlink_to(kept)
    trusting(hosts)
    assert hosts[0].config.read_text().endswith("\nHost elsewhere\n  Port 1\n")
    # The diff shows it as it was and as it is.
    (hosts[0].config).write_text("Host elsewhere\n  Port 1\n")
    predicted = hosts[0](peers=[], purge=False, check=True)["diff"]
    assert [one["before_header"] for one in predicted] == [str(hosts[0].config)] == [predicted[0]["after_header"]]
    changed = hosts[0](peers=[], purge=False)
    assert changed["diff"] == predicted and changed["files"] == [str(hosts[0].config)]
    assert predicted[0]["before"] == "Host elsewhere\n  Port 1\n"
    assert predicted[0]["after"] == hosts[0].config.read_text()
    assert hosts[0].config.is_symlink() and kept.stat().st_mode & 0o777 == 0o640
    assert hosts[1].config.stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_edited_is_written_again(hosts):
    _results, peers = trusting(hosts)
    for name in ("authorized_keys", "known_hosts", "config", "sshd_config", "identity.json", "peers.json"):
        path = hosts[0].ssh / name
        text = path.read_text()
        path.write_text(text + ("\n" if name == "peers.json" else "# an edit\n"))
        again = hosts[0](peers=peers)
        assert again["changed"] and str(path) in again["files"], again
        assert path.read_text() == text


def test_links_and_keys_of_somebody_else_in_the_folder_are_refused_and_stay(hosts):
    _results, peers = trusting(hosts)
    host, theirs = hosts[0], hosts[0].root / "known_hosts"
    theirs.write_text("their hosts\n")
    (host.ssh / "known_hosts").unlink()
    (host.ssh / "known_hosts").symlink_to(theirs)
    (host.ssh / "id_ed25519.pub").write_text("ssh-ed25519 AAAA alice@desk\n")
    refused = host(peers=peers)
    assert (
        refused["failed"]
        and "holds id_ed25519, id_ed25519.pub, known_hosts, which ssh_trust did not write" in refused["msg"]
    )
    assert host("absent")["server"] == "stopped"
    assert sorted(path.name for path in host.ssh.iterdir()) == ["id_ed25519", "id_ed25519.pub", "known_hosts"]
    assert theirs.read_text() == "their hosts\n" and not host("absent")["changed"]


def test_a_port_that_somebody_else_has(hosts, monkeypatch):
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((hosts[0].address, hosts[0].port))
        taken.listen()
        hosts[0]("identity")
        before = hosts[0].tree()
        monkeypatch.setattr(server, "BANNER_SECONDS", 0.2)
        result = hosts[0](peers=[hosts[0].peer()])
    assert result["failed"]
    assert f"port {hosts[0].port} on 127.0.0.2 is taken by something else" in result["msg"]
    assert "taco_ssh_port" in result["msg"]
    assert hosts[0].tree() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"address": "192.0.2.1"}, "is an address of this host"),
        ({"address": "0.0.0.0"}, "ssh_trust_address"),
        ({"address": ""}, "taco_interface"),
        ({"container": "no-such", "engine_command": ["/bin/false"]}, "run the role taco.train.training_container"),
        ({"container": "any", "engine_command": ["no-such-engine"]}, "no-such-engine is not installed"),
    ],
)
def test_what_cannot_work_says_what_to_do(hosts, monkeypatch, options, words):
    monkeypatch.setattr(server, "BANNER_SECONDS", 0.2)
    monkeypatch.setattr(server, "START_SECONDS", 0.5)
    hosts[0]("identity")
    result = hosts[0](peers=[hosts[0].peer()], **options)
    assert result["failed"] and words in result["msg"], result


def test_trust_needs_keys(hosts):
    result = hosts[0]()
    assert result["failed"] and "state: identity" in result["msg"]


def test_check_mode_predicts_and_writes_nothing(hosts):
    empty = hosts[0].tree()
    assert hosts[0]("identity", check=True)["changed"]
    assert hosts[0](check=True)["changed"]
    assert hosts[0].tree() == empty
    for host in hosts:
        host("identity")
    peers = [host.peer() for host in hosts]
    before = hosts[0].tree()
    predicted = hosts[0](check=True, peers=peers)
    assert hosts[0].tree() == before
    done = hosts[0](peers=peers)
    for key in ("changed", "server", "files", "diff", "identity", "unproven"):
        assert predicted[key] == done[key], key
    before = hosts[0].tree()
    assert not hosts[0](check=True, peers=peers)["changed"]
    assert hosts[0].tree() == before

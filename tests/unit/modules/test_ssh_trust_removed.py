# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The trust goes again, moves, and is written by one run at a time."""

import fcntl
import os

import pytest
from trusting_hosts import free_port, listening, trusting

from ansible_collections.taco.train.plugins.module_utils._ssh import identity as _ssh_identity
from ansible_collections.taco.train.plugins.module_utils._ssh import removal, server


def test_all_of_it_goes_again(hosts):
    hosts[0].config.parent.mkdir(parents=True)
    hosts[0].config.write_text("Host elsewhere\n")
    _results, peers = trusting(hosts)
    assert hosts[0](peers=peers, prove=True)["proven"]
    predicted = hosts[0]("absent", check=True)
    gone = hosts[0]("absent")
    assert gone["changed"] and gone["server"] == "stopped"
    assert (predicted["files"], predicted["server"]) == (gone["files"], gone["server"])
    assert list(hosts[0].ssh.iterdir()) == []
    assert hosts[0].config.read_text() == "Host elsewhere\n"
    assert not hosts[0]("absent")["changed"]


def test_a_server_that_moves_leaves_no_other_one_behind(hosts):
    _results, peers = trusting(hosts)
    first = hosts[0]
    old = first.port
    first.port = free_port(first.address)
    assert first(peers=peers)["server"] == "started"
    assert listening(first.address, first.port) and not listening(first.address, old)


def test_absent_finds_the_server_without_being_told_where(hosts):
    trusting(hosts)
    assert hosts[0](state="absent", address=None)["server"] == "stopped"
    assert not listening(hosts[0].address, hosts[0].port)


def test_two_runs_do_not_write_the_trust_of_a_host_at_the_same_time(hosts, monkeypatch):
    host = hosts[0]
    trusting(hosts)
    monkeypatch.setattr(_ssh_identity, "LOCK_SECONDS", 0.2)
    before = host.tree()
    holder = os.open(os.path.dirname(host.ssh), os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for options in ({"peers": []}, {"state": "absent"}, {"state": "identity", "port": host.port + 1}):
        refused = host(**options)
        assert refused["failed"] and "another run has been changing this host" in refused["msg"], refused
    # Check mode waits for nobody.
    assert host(check=True, state="absent")["changed"]
    os.close(holder)
    assert host.tree() == before
    assert not host(peers=[one.peer() for one in hosts])["changed"]


def test_two_first_runs_agree_on_the_keys(hosts, monkeypatch):
    host = hosts[0]
    make_key, made = server.make_key, []

    def overtaken(place, comment, around):
        # Another run begins now and must wait.
        made.append(comment)
        holder = os.open(os.path.dirname(host.ssh), os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(holder)
        return make_key(place, comment, around)

    monkeypatch.setattr(server, "make_key", overtaken)
    assert host("identity")["changed"] and len(made) == 2


def test_absent_removes_what_it_can_names_the_rest_and_goes_on(hosts, monkeypatch):
    host = hosts[0]
    trusting(hosts)
    remove_any = removal.remove_any

    def one_stays(path):
        if path.endswith("authorized_keys"):
            raise OSError(1, "Operation not permitted", path)
        remove_any(path)

    def no_stop(*words):
        raise server.SshServerError("the SSH server did not stop")

    stop = server.stop
    (host.ssh / "notes").write_text("somebody's")
    monkeypatch.setattr(removal, "remove_any", one_stays)
    monkeypatch.setattr(server, "stop", no_stop)
    failed = host("absent")
    assert failed["failed"]
    for words in (f"{host.ssh / 'authorized_keys'} (", "the SSH server (the SSH server did not stop)"):
        assert words in failed["msg"], failed["msg"]
    left = ["authorized_keys", "notes", "ssh_host_ed25519_key", "sshd.pid", "sshd_config"]
    assert sorted(os.listdir(host.ssh)) == left
    assert str(host.ssh) not in host.config.read_text()
    # The server that goes on running is found again.
    monkeypatch.setattr(removal, "remove_any", remove_any)
    monkeypatch.setattr(server, "stop", stop)
    done = host("absent")
    assert done["changed"] and done["server"] == "stopped", done
    assert os.listdir(host.ssh) == ["notes"]


def test_a_key_of_somebody_else_is_named_and_stays(hosts):
    host = hosts[0]
    trusting(hosts)
    key = "ssh-rsa AAAAB3NzaC1yc2E= alice@desk\n"
    with open(host.ssh / "authorized_keys", "a") as file:
        file.write("# mine\n" + key)
    before = host.tree()
    refused = host(peers=[one.peer() for one in hosts])
    assert refused["failed"] and "(line 4)" in refused["msg"] and host.tree() == before, refused
    assert host("absent")["server"] == "stopped"
    assert os.listdir(host.ssh) == ["authorized_keys"] and key in (host.ssh / "authorized_keys").read_text()

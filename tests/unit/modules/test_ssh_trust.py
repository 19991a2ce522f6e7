# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two hosts on two addresses of this machine, with real servers, real keys and real logins."""

import getpass
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from ansible_collections.taco.train.plugins.modules import ssh_trust

USER = getpass.getuser()


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


class Host:
    """One host: its folders, its address and the options every task on it has."""

    def __init__(self, root, name, address, run):
        self.name = name
        self.address = address
        self.port = free_port(address)
        self.root = root / name
        self.state = self.root / "state"
        self.ssh = self.state / "ssh"
        self.config = self.root / "home/.ssh/config"
        self.state.mkdir(parents=True)
        self.runner = run

    def __call__(self, state="trusted", check=False, **options):
        common = {
            "state": state,
            "address": self.address,
            "port": self.port,
            "user": USER,
            "client_config": str(self.config),
            "state_dir": str(self.state),
        }
        common.update(options)
        return self.runner(ssh_trust.main, check=check, **common)

    def peer(self):
        identity = json.loads((self.ssh / "identity.json").read_text())
        return {"name": self.name, "address": self.address, **identity}

    def login(self, name):
        argv = ["ssh", "-F", str(self.config), name, "echo reached"]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def tree(self):
        return {
            str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
            for path in sorted(self.root.rglob("*"))
        }

    def pid(self):
        return int((self.ssh / "sshd.pid").read_text())

    def stop(self):
        """Stop the server and wait until it has removed its file."""
        os.kill(self.pid(), 15)
        deadline = time.monotonic() + 10
        while (self.ssh / "sshd.pid").exists() and time.monotonic() < deadline:
            time.sleep(0.05)

    def close(self):
        if (self.ssh / "sshd.pid").exists():
            self.stop()


@pytest.fixture
def hosts(run):
    # Not below /tmp: everybody may write there, and sshd trusts no file in such a folder.
    root = Path(tempfile.mkdtemp(prefix=".taco-train-test-", dir=Path.home()))
    made = [Host(root, f"node-{number}", f"127.0.0.{number + 2}", run) for number in range(2)]
    yield made
    for host in made:
        host.close()
    shutil.rmtree(root)


def trusting(hosts):
    """Bring trust to all hosts and return what each task answered."""
    for host in hosts:
        assert host("identity")["changed"]
    peers = [host.peer() for host in hosts]
    return [host(peers=peers) for host in hosts], peers


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
    assert (
        "1 of 2 peers can't be reached" in proof["msg"] and "node-1" in proof["msg"] and "taco_ssh_port" in proof["msg"]
    )


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
    hosts[0].config.write_text("Host elsewhere\n  Port 1\n")
    trusting(hosts)
    assert hosts[0].config.read_text().endswith("\nHost elsewhere\n  Port 1\n")
    assert hosts[0].config.stat().st_mode & 0o777 == 0o600


def test_a_port_that_somebody_else_has(hosts, monkeypatch):
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((hosts[0].address, hosts[0].port))
        taken.listen()
        hosts[0]("identity")
        before = hosts[0].tree()
        monkeypatch.setattr(ssh_trust.ssh_server, "BANNER_SECONDS", 0.2)
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
    monkeypatch.setattr(ssh_trust.ssh_server, "BANNER_SECONDS", 0.2)
    monkeypatch.setattr(ssh_trust.ssh_server, "START_SECONDS", 0.5)
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


CONTAINER = """#!/usr/bin/python3
# Stands in for an engine: it knows one container, and runs what it is to run there on this machine.
import os, sys
words = sys.argv[1:]
if words[0] == "inspect":
    print("true")
elif words[:2] == ["exec", "box"]:
    os.execvp(words[2], words[2:])
else:
    sys.exit("Error: No such container")
"""


def test_commands_run_in_the_container(hosts, tmp_path, monkeypatch):
    engine = tmp_path / "engine"
    engine.write_text(CONTAINER)
    engine.chmod(0o755)
    pid_file = tmp_path / "sshd.pid"
    monkeypatch.setattr(ssh_trust, "CONTAINER_PID_FILE", str(pid_file))
    options = {"container": "box", "engine_command": [str(engine)]}
    hosts[0]("identity", **options)
    peers = [hosts[0].peer()]
    result = hosts[0](peers=peers, **options)
    assert result["server"] == "started", result
    try:
        assert not hosts[0](peers=peers, **options)["changed"]
        assert hosts[0].login("node-0").stdout == "reached\n"
        assert hosts[0]("absent", **options)["server"] == "stopped"
    finally:
        if pid_file.exists():
            os.kill(int(pid_file.read_text()), 15)


def listening(address, port):
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two hosts on two addresses of this machine, with real servers, real keys and real logins."""

import fcntl
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

from ansible_collections.taco.train.plugins.module_utils._ssh import identity as _ssh_identity
from ansible_collections.taco.train.plugins.module_utils._ssh import inspection, removal, server
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


def test_an_observation_is_active_exactly_where_the_module_changes_nothing(hosts, monkeypatch):
    host = hosts[0]
    monkeypatch.setattr(inspection, "USER", USER)
    monkeypatch.setattr(inspection, "CLIENT_CONFIG", str(host.config))

    def active(port=host.port):
        return inspection.is_active(str(host.state), "", host.address, port)

    assert not active()
    trusting(hosts)
    before = host.tree()
    assert active() and not active(free_port(host.address)) and host.tree() == before
    for name in ("authorized_keys", "known_hosts", "config", "sshd_config", "identity.json", "peers.json"):
        text = (host.ssh / name).read_text()
        (host.ssh / name).write_text(text + "# an edit\n")
        assert not active(), name
        (host.ssh / name).write_text(text)
    host.config.write_text("Host *\n")
    assert not active() and host(peers=[], purge=False)["changed"] and active()
    host.stop()
    assert not active()


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
    monkeypatch.setattr(inspection, "CONTAINER_PID_FILE", str(pid_file))
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


CONTAINERS = """#!/usr/bin/python3
# Stands in for an engine with two containers that share the host's network and have a /run of their own, as real ones do.
import os, sys
words, folder = sys.argv[1:], os.path.dirname(os.path.abspath(__file__))
if words[0] == "inspect":
    print("true" if "State" in words[4] else open(os.path.join(folder, words[-1], "id")).read())
elif words[0] == "ps":
    print("one\\ntwo")
else:
    if words[2] == "ssh":
        words[3:3] = ["-F", "CONFIG"]
    mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", mount, folder + "/" + words[1], folder + "/run", *words[2:]])
"""


@pytest.fixture
def containers(hosts, tmp_path, monkeypatch):
    """The options of a task in each of two containers of the first host."""
    for name in ("run", "one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "id").write_text(f"id-of-{name}")
    engine = tmp_path / "engine"
    engine.write_text(CONTAINERS.replace("CONFIG", str(hosts[0].config)))
    engine.chmod(0o755)
    monkeypatch.setattr(inspection, "CONTAINER_PID_FILE", str(tmp_path / "run/sshd.pid"))
    yield [{"container": name, "engine_command": [str(engine)]} for name in ("one", "two")]
    for name in ("one", "two"):
        left = tmp_path / name / "sshd.pid"
        if left.exists():
            os.kill(int(left.read_text()), 15)


def pid_in(tmp_path, name):
    return int((tmp_path / name / "sshd.pid").read_text())


def test_a_server_in_another_container_does_not_count_as_running(hosts, containers, tmp_path):
    one, two = containers
    host = hosts[0]
    host("identity", **one)
    peers = [host.peer()]
    assert host(peers=peers, **one)["server"] == "started"
    assert not host(peers=peers, prove=True, **one)["unproven"]
    assert not host(peers=peers, check=True, **one)["changed"]

    # The role's taco_container_name has changed. The container of the earlier name still runs.
    predicted = host(peers=peers, check=True, **two)
    assert (predicted["changed"], predicted["server"], predicted["unproven"]) == (True, "started", True)
    done = host(peers=peers, **two)
    assert (done["changed"], done["server"], done["unproven"]) == (True, "started", True)
    assert not (tmp_path / "one/sshd.pid").exists() and pid_in(tmp_path, "two")
    assert host.login("node-0").stdout == "reached\n"
    assert not host(peers=peers, **two)["changed"]
    assert not host(peers=peers, prove=True, **two)["unproven"]

    # A container that was recreated has the same name and another id.
    (tmp_path / "two/id").write_text("id-of-another")
    assert host(peers=peers, **two)["unproven"]


def test_a_pid_file_that_names_another_process_is_no_proof_of_a_server(hosts, containers, tmp_path):
    one, two = containers
    host = hosts[0]
    host("identity", **one)
    peers = [host.peer()]
    host(peers=peers, **one)
    for text in (f"{os.getpid()}\n", "999999999\n", "", "self\n", f"{pid_in(tmp_path, 'one')} x\n"):
        (tmp_path / "two/sshd.pid").write_text(text)
        assert host(peers=peers, check=True, **two)["server"] == "started", text
    (tmp_path / "two/sshd.pid").unlink()


def test_absent_stops_the_server_in_the_container_of_an_earlier_name(hosts, containers):
    one, two = containers
    host = hosts[0]
    host("identity", **one)
    host(peers=[host.peer()], **one)
    assert host("absent", **two)["server"] == "stopped"
    assert not listening(host.address, host.port)


def test_a_server_that_no_container_has_is_left_alone(hosts, containers, tmp_path):
    one, two = containers
    host = hosts[0]
    host("identity", **one)
    peers = [host.peer()]
    host(peers=peers, **one)
    pid_file = tmp_path / "one/sshd.pid"
    kept = pid_file.read_text()
    pid_file.unlink()
    try:
        refused = host(peers=peers, **two)
        assert refused["failed"] and "runs neither in the container two nor in another container" in refused["msg"]
        assert listening(host.address, host.port)
    finally:
        pid_file.write_text(kept)


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


def test_two_runs_do_not_write_the_trust_of_a_host_at_the_same_time(hosts, monkeypatch):
    host = hosts[0]
    trusting(hosts)
    monkeypatch.setattr(_ssh_identity, "LOCK_SECONDS", 0.2)
    before = host.tree()
    holder = os.open(host.ssh, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    for options in ({"peers": []}, {"state": "absent"}, {"state": "identity", "port": host.port + 1}):
        refused = host(**options)
        assert refused["failed"] and "another run has been changing the SSH trust" in refused["msg"], refused
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
        holder = os.open(host.ssh, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(holder)
        return make_key(place, comment, around)

    monkeypatch.setattr(server, "make_key", overtaken)
    assert host("identity")["changed"] and len(made) == 2


def test_absent_removes_what_it_can_names_the_rest_and_goes_on(hosts, monkeypatch):
    host = hosts[0]
    trusting(hosts)
    remove_file = removal.remove_file

    def one_stays(path):
        if path.endswith("authorized_keys"):
            raise OSError(1, "Operation not permitted", path)
        remove_file(path)

    def no_stop(*words):
        raise server.SshServerError("the SSH server did not stop")

    stop = server.stop
    monkeypatch.setattr(removal, "remove_file", one_stays)
    monkeypatch.setattr(server, "stop", no_stop)
    failed = host("absent")
    assert failed["failed"]
    for words in (f"{host.ssh / 'authorized_keys'} (", "the SSH server (the SSH server did not stop)"):
        assert words in failed["msg"], failed["msg"]
    left = ["authorized_keys", "ssh_host_ed25519_key", "sshd.pid", "sshd_config"]
    assert sorted(os.listdir(host.ssh)) == left
    assert str(host.ssh) not in host.config.read_text()
    # The server that goes on running is found again.
    monkeypatch.setattr(removal, "remove_file", remove_file)
    monkeypatch.setattr(server, "stop", stop)
    done = host("absent")
    assert done["changed"] and done["server"] == "stopped", done
    assert os.listdir(host.ssh) == []

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The SSH server in a container, and in another one than before."""

import os

import pytest
from trusting_hosts import listening

from ansible_collections.taco.train.plugins.module_utils._ssh import inspection

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

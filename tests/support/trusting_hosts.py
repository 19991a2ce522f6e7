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


def listening(address, port):
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0

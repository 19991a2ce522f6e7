# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the files and the server of a host with its peers. Nothing is changed here."""

import json
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._process.place import Place
from ansible_collections.taco.train.plugins.module_utils._ssh import files as ssh_files
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh import server as ssh_server
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import identity_text, read

# The container can't write to the folder that it shares with the host.
CONTAINER_PID_FILE = "/run/taco-train-sshd.pid"


class Inspection(NamedTuple):
    """The expected files of a host, and what differs from them."""

    peers: List[ssh_files.Peer]
    texts: Dict[str, str]
    """The expected text of every file in the folder, by path."""
    before: Dict[str, Optional[str]]
    """The texts now, None where there is no file."""
    server: str
    """V(running), V(stale), V(stopped) or V(elsewhere)."""
    client_before: str
    client_text: str
    """The user's configuration of SSH now, and as expected."""

    @property
    def differing(self) -> Dict[str, str]:
        """The expected texts of the files that differ."""
        return {path: text for path, text in self.texts.items() if self.before[path] != text}

    @property
    def changed(self) -> bool:
        """Whether a file, the server or the user's configuration differs."""
        return bool(self.differing) or self.client_text != self.client_before or self.server != "running"


def pid_file_of(container: str, folder: str) -> str:
    """The pid file of the server, in the container or without one on this host."""
    return CONTAINER_PID_FILE if container else os.path.join(folder, "sshd.pid")


def runs(config: Optional[str]) -> bool:
    """Whether a server with this configuration answers at its address. None is no configuration."""
    if config is None:
        return False
    return ssh_files.judge_banner(ssh_server.read_banner(*ssh_files.listens_on(config)), config) == "running"


def inspect(place: Place, options: Mapping[str, Any], folder: str, identity: Dict[str, str]) -> Inspection:
    """The files and the server of a host with keys. Raises SshServerError where something else has the port."""
    known = json.loads(read(os.path.join(folder, ssh_folder.PEERS)) or "[]")
    peers = ssh_files.merged_peers(known, options["peers"], options["purge"])
    pid_file = pid_file_of(options["container"], folder)
    named = {
        "authorized_keys": ssh_files.authorized_keys(peers),
        "known_hosts": ssh_files.known_hosts(peers),
        "config": ssh_files.client_config(peers, folder, options["user"]),
        ssh_folder.IDENTITY: identity_text(identity, options["port"]),
        ssh_folder.PEERS: ssh_folder.peers_text(peers),
        "sshd_config": ssh_files.sshd_config(
            options["address"], options["port"], options["user"], folder, pid_file, identity["host_key"]
        ),
    }
    texts = {os.path.join(folder, name): text for name, text in named.items()}
    before = {path: read(path) for path in texts}
    state = _server_state(place, options, named["sshd_config"], folder)
    client = place.read(options["client_config"])
    client_text = ssh_files.with_include(client, os.path.join(folder, "config"))
    return Inspection(peers, texts, before, state, client, client_text)


def _server_state(place: Place, options: Mapping[str, Any], config: str, folder: str) -> str:
    """The result of judge_banner, or V(elsewhere) for a server of ours that doesn't run in this place."""
    banner = ssh_server.read_banner(options["address"], options["port"])
    state = ssh_files.judge_banner(banner, config)
    if state == "foreign":
        raise ssh_server.SshServerError(
            f"port {options['port']} on {options['address']} is taken by something else (it says {banner!r}): "
            "set port (taco_ssh_port) to a free one"
        )
    # All containers that share the host's network share its addresses, so the banner doesn't tell whose server answers.
    pid_file = pid_file_of(options["container"], folder)
    if state != "stopped" and ssh_server.process(place, pid_file, os.path.join(folder, "sshd_config")) is None:
        return "elsewhere"
    return state

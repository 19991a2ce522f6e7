# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans of converged hosts. The collection converges one host, and all others have its files and its container.

What differs between hosts is written for each of them: name, address, keys, and the hosts that it trusts. A plan that finds a
change on one of them ends the bench, so that a wrong copy is no faster measurement.
"""

import http.client
import itertools
import json
import shutil
import socket
import subprocess

from bench import competitors, hosts
from bench.contest import BenchError, Contest, say

from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST
from ansible_collections.taco.train.plugins.module_utils._ssh import files as ssh_files
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import KEYS, find_identity, identity_text
from ansible_collections.taco.train.plugins.module_utils._ssh.inspection import pid_file_of

# The defaults of the collection: another value in one of them is a change in the plan.
CONTAINER, PORT, USER = "taco-train", 2222, "root"
TRUST = "var/lib/taco-train/" + ssh_folder.FOLDER
HARP = "var/lib/taco-train/" + MANIFEST
OWN = ("etc/hostname", "etc/ssh", TRUST, HARP, ".before")


class _Engine(http.client.HTTPConnection):
    """A connection to the engine of a host."""

    def __init__(self, host):
        super().__init__("engine")
        self.path = str(host.socket)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def call(self, method, path, value=None):
        """Send a request and return the value of the response."""
        self.request(method, path, body=json.dumps(value))
        response = self.getresponse()
        text = response.read()
        if response.status >= 400:
            raise BenchError(f"{self.path}: {method} {path}: {text.decode()}")
        return json.loads(text or b"null")


def run_container(host, container):
    """Run the same container on a host as on the one whose engine described it."""
    engine = _Engine(host)
    body = dict(container["Config"], Image=container["Config"]["Image"], HostConfig=container["HostConfig"])
    engine.call("POST", f"/containers/create?name={CONTAINER}", body)
    engine.call("POST", f"/containers/{CONTAINER}/start")
    engine.close()


def same_manifest(text, one, other):
    """The text of the host manifest of one host, with the values of another."""
    for key in ("name", "address", "mac"):
        text = text.replace(f'"{getattr(one, key)}', f'"{getattr(other, key)}')
    return text


def trust(group, layer):
    """Write the files by which the hosts of a group trust each other, those of all hosts once into their layer."""
    peers = []
    for host in group:
        folder = host.folder / "upper" / TRUST
        for name in KEYS.values():
            hosts.make_key(folder / name, f"taco-train@{host.name}")
        identity = find_identity(str(folder))
        hosts.write(folder / ssh_folder.IDENTITY, identity_text(identity, PORT))
        config = ssh_files.sshd_config(
            host.address, PORT, USER, f"/{TRUST}", pid_file_of(CONTAINER, f"/{TRUST}"), identity["host_key"]
        )
        hosts.write(folder / "sshd_config", config)
        peers.append(dict(identity, name=host.name, address=host.address, port=PORT))
    peers = ssh_files.checked_peers(peers)
    hosts.write(layer / TRUST / "authorized_keys", ssh_files.authorized_keys(peers))
    hosts.write(layer / TRUST / "known_hosts", ssh_files.known_hosts(peers))
    hosts.write(layer / TRUST / "config", ssh_files.client_config(peers, f"/{TRUST}", USER))
    hosts.write(layer / TRUST / ssh_folder.PEERS, ssh_folder.peers_text(peers))


class Plans(Contest):
    """Hosts that are copies of a converged one."""

    def up(self):
        """Converge one host and make the others from its files."""
        total = sum(self.options.hosts)
        self.found(total + 1)
        say("one host: bringing it into the state that all hosts are to have")
        self.groups, self.manifests, self.trusting = {}, {}, {}
        *everyone, converging = hosts.planned(total + 1, self.work)
        first = [converging]
        processes = self.start(first)
        self.play(competitors.COLLECTION, first, 0, "converge")
        container = _Engine(converging).call("GET", f"/containers/{CONTAINER}/json")
        converged = self.work / "converged"
        subprocess.run(["cp", "-a", str(converging.folder / "upper"), str(converged)], check=True)
        manifest = (converged / HARP).read_text(encoding="utf-8")
        self.manifests = {host.number: same_manifest(manifest, converging, host) for host in everyone}
        for name in OWN:
            path = converged / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        self.stop(first, processes)
        self.layers.insert(0, converged)
        say(f"making {total} hosts from it")
        following = iter(everyone)
        self.groups = {count: list(itertools.islice(following, count)) for count in self.options.hosts}
        self.start(everyone)
        for host in everyone:
            run_container(host, container)

    def furnish(self, planned):
        """Write the files that each host alone has, its trust among them."""
        known = super().furnish(planned)
        for host in planned:
            if host.number in self.manifests:
                hosts.write(host.folder / "upper" / HARP, self.manifests[host.number])
        for count, group in self.groups.items():
            layer = self.work / f"trust-{count}"
            trust(group, layer)
            self.trusting.update({host.number: layer for host in group})
        return known

    def layers_of(self, host):
        """The layers below the files of a host alone."""
        own = self.trusting.get(host.number)
        return [own, *self.layers] if own else self.layers

    def converge(self):
        """All hosts are converged when they are made. The plan proves it."""

    def play(self, competitor, chosen, repeat, label="", arguments=(), **environment):
        """Run a competitor once, and require that a plan of converged hosts is empty and that of others is not."""
        done = super().play(competitor, chosen, repeat, label, arguments, **environment)
        if competitor in competitors.PLANS:
            plan = json.loads((self.work / "results/plan.json").read_text(encoding="utf-8"))
            if len(plan["hosts"]) != len(chosen) or (plan["changes"] == 0) != competitor.converged:
                raise BenchError(
                    f"{competitor.name}, {len(chosen)} hosts: {plan['changes']} changes on {len(plan['hosts'])} hosts:\n"
                    f"{done[0].output[-6000:]}"
                )
        return done

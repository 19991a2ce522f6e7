# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of SSH between training containers. Values in, text out."""

import hashlib
import ipaddress
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

Peer = Dict[str, Any]

MARK = "# taco.train: SSH between the training containers"
BANNER = "taco-train-"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{40,}={0,2}( [^\r\n]*)?")


class SshFilesError(Exception):
    """A peer or a setting can't go into the files of OpenSSH."""


def checked_address(address: str) -> str:
    """Return an address that a server can listen on: one of this host, not all of them."""
    try:
        parsed = ipaddress.ip_address(str(address))
    except ValueError as error:
        raise SshFilesError(
            f"the address {address!r} is not an IP address: set address (ssh_trust_address, or taco_interface to an interface with one)"
        ) from error
    if parsed.is_unspecified:
        raise SshFilesError(
            f"the address {address} means every interface of the host: set address (ssh_trust_address) to that of one"
        )
    return str(parsed)


def checked_peers(peers: Sequence[Peer]) -> List[Peer]:
    """Return the peers in the order of their names, or say which of them can't be written down."""
    seen = set()
    for peer in peers:
        name = peer["name"]
        if not _NAME.fullmatch(name):
            raise SshFilesError(
                f"the peer {name!r} can't be a host in ssh_config: use letters, digits, dot, dash and underscore"
            )
        if name in seen:
            raise SshFilesError(f"the peer {name} is listed twice")
        seen.add(name)
        try:
            checked_address(peer["address"])
        except SshFilesError as error:
            raise SshFilesError(f"peer {name}: {error}") from error
        for key in ("public_key", "host_key"):
            if not _KEY.fullmatch(peer[key]):
                raise SshFilesError(
                    f"peer {name}: the {key} is not an ed25519 public key: run ssh_trust with state: identity there"
                )
    return sorted((dict(peer) for peer in peers), key=lambda peer: peer["name"])


def merged_peers(known: Sequence[Peer], given: Sequence[Peer], purge: bool) -> List[Peer]:
    """Return the peers to trust: the given, and without purge also those known from before under other names."""
    names = {peer["name"] for peer in given}
    kept = [] if purge else [peer for peer in known if peer["name"] not in names]
    return checked_peers(kept + list(given))


def _bare(key: str) -> str:
    """Return a public key without its comment, which says nothing and may change."""
    return " ".join(key.split()[:2])


def authorized_keys(peers: Sequence[Peer]) -> str:
    """Return who may log in: every peer, named in the comment."""
    return "".join(f"{_bare(peer['public_key'])} {peer['name']}\n" for peer in peers)


def known_hosts(peers: Sequence[Peer]) -> str:
    """Return every peer's host key, pinned to its name and to its address and port."""
    return "".join(
        f"{peer['name']},[{peer['name']}]:{peer['port']},[{peer['address']}]:{peer['port']} {_bare(peer['host_key'])}\n"
        for peer in peers
    )


def client_config(peers: Sequence[Peer], folder: str, user: str) -> str:
    """Return the ssh_config that makes plain V(ssh NAME) reach each peer, as mpirun calls it."""
    text = MARK + "\n"
    for peer in peers:
        text += (
            f"Host {peer['name']}\n"
            f"  HostName {peer['address']}\n"
            f"  Port {peer['port']}\n"
            f"  User {user}\n"
            f"  IdentityFile {folder}/id_ed25519\n"
            "  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n"
            "  StrictHostKeyChecking yes\n"
            "  BatchMode yes\n"
            # A proxy of the user for all hosts doesn't apply to the peers.
            "  ProxyCommand none\n"
            "  ConnectTimeout 10\n"
        )
    return text


def with_include(text: str, path: str) -> str:
    """Return a user's ssh_config with our file included once, before everything else, and all other lines kept.

    At the top, since below the first V(Host) line an include counts for that host alone.
    """
    return f"{MARK}\nInclude {path}\n" + without_include(text, path)


def without_include(text: str, path: str) -> str:
    """Return a user's ssh_config as it was before our file was included."""
    return "".join(line for line in text.splitlines(True) if line.strip() not in (MARK, f"Include {path}"))


def sshd_config(address: str, port: int, user: str, folder: str, pid_file: str, host_key: str) -> str:
    """Return the configuration of the server, which says in its banner which configuration it runs."""
    lines = [
        MARK,
        f"Port {port}",
        f"ListenAddress {checked_address(address)}",
        f"HostKey {folder}/ssh_host_ed25519_key",
        f"AuthorizedKeysFile {folder}/authorized_keys",
        f"AllowUsers {user}",
        "PermitRootLogin prohibit-password",
        "PubkeyAuthentication yes",
        "AuthenticationMethods publickey",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "HostbasedAuthentication no",
        "PermitEmptyPasswords no",
        "UsePAM no",
        "X11Forwarding no",
        "UseDNS no",
        # mpirun opens a connection to every host at about the same time.
        "MaxStartups 200:30:400",
        f"PidFile {pid_file}",
    ]
    digest = hashlib.sha256("\n".join(lines + [_bare(host_key)]).encode()).hexdigest()[:12]
    return "\n".join(lines + [f"VersionAddendum {BANNER}{digest}"]) + "\n"


def listens_on(config: str) -> Tuple[str, int]:
    """Return the address and the port of a server with this configuration."""
    words = dict(line.split(None, 1) for line in config.splitlines() if line.startswith(("Port ", "ListenAddress ")))
    return words["ListenAddress"], int(words["Port"])


def banner_of(config: str) -> str:
    """Return what the banner of a server with this configuration must hold."""
    return config.rsplit("VersionAddendum ", 1)[1].strip()


def judge_banner(banner: Optional[str], config: str) -> str:
    """Return V(running), V(stale) for ours with another configuration, V(foreign) for anybody else's, V(stopped)."""
    if banner is None:
        return "stopped"
    words = banner.split()
    if banner_of(config) in words:
        return "running"
    return "stale" if any(word.startswith(BANNER) for word in words) else "foreign"

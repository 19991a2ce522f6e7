# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SSH keys of the lab: one pair to log in with, and a host key for each node that is known before the node starts."""

from shell import run
from state import LAB, write

FOLDER = LAB / "ssh"
IDENTITY = FOLDER / "id_ed25519"
KNOWN_HOSTS = FOLDER / "known_hosts"


def pair(path, comment):
    """Return (private, public) of a key pair, made at the first call."""
    public = path.with_name(path.name + ".pub")
    if not (path.exists() and public.exists()):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for half in (path, public):
            if half.exists():
                half.unlink()
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)])
    return path.read_text(encoding="utf-8"), public.read_text(encoding="utf-8")


def login():
    """Return the pair that the controller logs in with."""
    return pair(IDENTITY, "taco-lab")


def host(name):
    """Return the pair that a node proves itself with."""
    return pair(FOLDER / ("host-" + name), name)


def known_hosts(nodes):
    """Return the text of known_hosts for nodes with name, address and host_key."""
    return "".join(f"{node['address']},{node['name']} {' '.join(node['host_key'].split()[:2])}\n" for node in nodes)


def pin(nodes):
    """Write known_hosts: we generated these keys, so nothing has to be trusted on first sight."""
    write(KNOWN_HOSTS, known_hosts(nodes), 0o600)

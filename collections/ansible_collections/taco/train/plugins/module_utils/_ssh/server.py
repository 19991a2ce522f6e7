# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The SSH server of a training container, or of this host: make its keys, test, start and stop it, read its banner."""

import os
import shutil
import socket
import time
from typing import Dict, List, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.place import Place, PlaceError

SSHD = "/usr/sbin/sshd"
START_SECONDS = 10
BANNER_SECONDS = 5


class SshServerError(PlaceError):
    """The server is not as it must be."""


def make_key(place: Place, comment: str, around: str) -> Tuple[str, str]:
    """Return the private and the public half of a new key, made by the ssh-keygen of that place.

    On this host in a folder inside around, always the same one: what a kill leaves there is removed by the next run.
    """
    folder = "/run/taco-train-new-key" if place.container else os.path.join(around, "new-key")
    try:
        if place.container:
            place.run("rm", "-rf", folder)
            place.run("mkdir", "-m", "0700", folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder, 0o700)
        path = folder + "/key"
        place.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path)
        private, public = place.run("cat", path), place.run("cat", path + ".pub")
    finally:
        if place.container:
            place.attempt("rm", "-rf", folder)
        else:
            shutil.rmtree(folder)
    return private, public.strip()


def read_banner(address: str, port: int) -> Optional[str]:
    """Return the first line that a server says there, empty when it says nothing, None when nothing listens."""
    try:
        connection = socket.create_connection((address, port), timeout=BANNER_SECONDS)
    except (OSError, socket.timeout):
        return None
    try:
        connection.settimeout(BANNER_SECONDS)
        said = b""
        while b"\n" not in said and len(said) < 1024:
            part = connection.recv(256)
            if not part:
                break
            said += part
    except (OSError, socket.timeout):
        said = b""
    finally:
        connection.close()
    return said.split(b"\n")[0].decode("ascii", "replace").strip()


def check_config(place: Place, path: str) -> None:
    """Raise unless the server accepts the configuration file."""
    if not place.sees(path):
        raise SshServerError(
            f"{place} does not see {path}: start it with the mount {os.path.dirname(path)}:{os.path.dirname(path)}:ro, "
            "as the role taco.train.training_container does"
        )
    # Debian's images lack this folder until the service has been started once.
    if os.geteuid() == 0:
        place.run("mkdir", "-p", "-m", "0755", "/run/sshd")
    done = place.attempt(SSHD, "-t", "-f", path)
    if done.status is None or done.status in (126, 127):
        raise SshServerError(
            f"{place} has no {SSHD}: use an image with openssh-server ({' '.join(done.stderr.split())})"
        )
    if done.status != 0:
        raise SshServerError(f"{SSHD} refuses {path}: {' '.join(done.stderr.split())}")


def process(place: Place, pid_file: str, config_path: str) -> Optional[str]:
    """The process id of our own server in a place, None where the pid file of that place names no live one."""
    done = place.attempt("sh", "-c", 'cat "$1" && cat "/proc/$(cat "$1")/cmdline"', "sh", pid_file)
    pid, _line, command = done.stdout.partition("\n")
    own = done.status == 0 and pid.isdecimal() and SSHD in command and config_path in command
    return pid if own else None


def stop(place: Place, pid_file: str, config_path: str, address: str, port: int) -> None:
    """Stop our own server, and no other process. Sessions that are open go on.

    It may run in another container of this host, which had the name of the training container before.
    """
    for home in [place] + place.neighbours():
        pid = process(home, pid_file, config_path)
        if pid is not None:
            break
    else:
        raise SshServerError(
            f"port {port} on {address} is taken by an SSH server of taco.train that runs neither in {place} nor in another "
            "container of this host: stop it, or set another port (taco_ssh_port)"
        )
    # The shell's own kill: not every image has the program.
    home.run("sh", "-c", 'kill -TERM "$1"', "sh", pid)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if read_banner(address, port) is None:
            return
        time.sleep(0.1)
    raise SshServerError(f"the SSH server {pid} in {home} did not stop within {START_SECONDS} s")


def start(place: Place, config_path: str, address: str, port: int, wanted: str) -> None:
    """Start the server and wait until its banner shows the wanted configuration."""
    place.run(SSHD, "-f", config_path)
    deadline = time.monotonic() + START_SECONDS
    banner = None
    while time.monotonic() < deadline:
        banner = read_banner(address, port)
        if banner is not None and wanted in banner.split():
            return
        time.sleep(0.1)
    found = "nothing listens there" if banner is None else f"found {banner!r}"
    raise SshServerError(
        f"the SSH server in {place} was started but does not answer on {address} port {port} ({found}, expected {wanted}): "
        f"check that {address} is an address of this host, that port (taco_ssh_port) is free, and that the container "
        "shares the host's network (profile: lightcc or harp of training_container)"
    )


def unreachable(place: Place, names: List[str], options: List[str]) -> Dict[str, str]:
    """Return what ssh says of each peer that plain V(ssh NAME true), as mpirun calls it, does not reach."""
    problems = {}
    for name in names:
        done = place.attempt("ssh", *(options + ["-o", "BatchMode=yes", name, "true"]))
        if done.status != 0:
            problems[name] = done.stderr.strip() or f"status {done.status}"
    return problems

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""This machine as another host, reached by SSH, from which the API server of a cluster is asked."""

import contextlib
import getpass
import socket
import subprocess
import sys
import time
from pathlib import Path

NAME = "bastion"
CONFIG = """\
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
PasswordAuthentication no
StrictModes no
Subsystem sftp internal-sftp
"""
INVENTORY = """\
all:
  hosts:
    {name}:
      ansible_host: 127.0.0.1
      ansible_port: {port}
      ansible_user: {user}
      ansible_ssh_private_key_file: {folder}/user_key
      ansible_ssh_common_args: -o UserKnownHostsFile={folder}/known_hosts -o IdentitiesOnly=yes
      ansible_python_interpreter: {python}
"""
START_SECONDS = 20


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def bastion(folder: Path):
    """Run an SSH server while the context lasts, and yield the inventory that has it."""
    port = free_port()
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host_key.pub').read_text()}")
    (folder / "sshd_config").write_text(CONFIG.format(port=port, folder=folder))
    inventory = folder / "bastion.yml"
    inventory.write_text(
        INVENTORY.format(name=NAME, port=port, user=getpass.getuser(), folder=folder, python=sys.executable)
    )
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    server = subprocess.Popen(
        ["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")], stdin=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + START_SECONDS
        while not answers(port):
            assert server.poll() is None and time.monotonic() < end, "the SSH server did not start"
            time.sleep(0.1)
        yield inventory
    finally:
        server.terminate()
        server.wait(START_SECONDS)

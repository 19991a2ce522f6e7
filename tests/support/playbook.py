# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-playbook, without the second that Python and Ansible take to start for each play."""

import atexit
import collections
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLLECTIONS = ROOT / "collections"
SERVER = Path(__file__).with_name("playbook_server.py")
MODULE_SERVER = Path(__file__).with_name("module_server.py")
MOST_SERVERS = 3
RESULTS = "results.jsonl"

_HOME = tempfile.TemporaryDirectory(prefix="ansible-home-")
_SERVERS = collections.OrderedDict()

NO_CONFIGURATION = Path(_HOME.name, "ansible.cfg")
NO_CONFIGURATION.write_text("[defaults]\n")


def environment(**settings):
    """The environment of a play: that of this process, the configuration of the repository, and these settings."""
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("callbacks")),
        "ANSIBLE_HOME": _HOME.name,
        "ANSIBLE_LOCALHOST_WARNING": "0",
        # One process for a module on this machine, as one connection over SSH by ansible.cfg.
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        **{name: str(value) for name, value in settings.items()},
    }


class Server:
    """A process of playbook_server.py, which runs the plays of one configuration of Ansible."""

    def __init__(self, variables):
        command = [sys.executable, str(SERVER)]
        self.process = subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, **request):
        """The exit status of a play."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.terminate()
        self.process.communicate()


def _server(variables):
    """The server of a configuration, which is started unless it runs."""
    settings = tuple(sorted(item for item in variables.items() if item[0].startswith("ANSIBLE_")))
    server = _SERVERS.pop(settings, None) or Server(variables)
    _SERVERS[settings] = server
    if len(_SERVERS) > MOST_SERVERS:
        _SERVERS.popitem(last=False)[1].close()
    return server


@functools.lru_cache(maxsize=None)
def _modules():
    """The path of the socket of module_server.py, which is started. It ends with this process."""
    path = str(Path(_HOME.name, "modules"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        descriptor = listener.fileno()
        process = subprocess.Popen([sys.executable, str(MODULE_SERVER), str(descriptor)], pass_fds=[descriptor])
    atexit.register(process.communicate)
    atexit.register(process.terminate)
    return path


@atexit.register
def _close():
    while _SERVERS:
        _SERVERS.popitem()[1].close()


def run(folder, arguments, **settings):
    """Run ansible-playbook in a folder, where it leaves the results of its tasks; returns its exit status and its output."""
    output = Path(folder, "output")
    variables = environment(TEST_RESULTS=str(Path(folder, RESULTS)), TEST_MODULES=_modules(), **settings)
    Path(folder, RESULTS).unlink(missing_ok=True)
    request = {"arguments": [str(argument) for argument in arguments], "folder": str(folder), "output": str(output)}
    status = _server(variables).run(environment=variables, **request)
    return status, output.read_text()


def results(folder, task):
    """The results of a task of the last play in a folder, as {host: result}."""
    path = Path(folder, RESULTS)
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {line["host"]: line["result"] for line in lines if line["task"] == task}

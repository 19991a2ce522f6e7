# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A process that has loaded what modules import, and forks for each module that a play sends to this machine.

A Python of its own takes a module half a second, or more than one with the client of Kubernetes. What Ansible carries of the
collection comes out of the module's archive as it does on any host.
"""

import contextlib
import gc
import importlib
import json
import os
import shlex
import signal
import socket
import sys
import types

LOADED = (
    "ansible.module_utils.basic",
    "ansible.module_utils._internal._ansiballz._loader",
    "kubernetes.client.api.core_v1_api",
    "kubernetes.dynamic",
    "kubernetes.stream",
    "runpy",
    "zipfile",
    "zipimport",
)
CHECK_SECONDS = 5
MOST_BYTES = 1 << 18
FILES = 3


def main(descriptor):
    """Serve the requests of a socket until the process that started this one has ended."""
    # The folder of this file, which no module looks into.
    del sys.path[0]
    for name in LOADED:
        # Not each supported ansible-core has them all.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    parent = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=descriptor) as listener:
        listener.settimeout(CHECK_SECONDS)
        while os.getppid() == parent:
            with contextlib.suppress(TimeoutError):
                connection, _address = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    return answer(connection)
                connection.close()
    return None


def answer(connection):
    """Return the code of a module in the process that runs it; the process that waits for it returns its status and ends."""
    request, files, _flags, _address = socket.recv_fds(connection, MOST_BYTES, FILES)
    child = os.fork()
    if child:
        for file in files:
            os.close(file)
        connection.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os._exit(0)
    connection.close()
    request = json.loads(request)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    with open(files[0], "rb") as file:
        code = file.read()
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files[1:])):
        os.dup2(file, number)
        os.close(file)
    return code


def send(path, command, folder, code):
    """Run a module by the server behind a socket, as [status, output, errors], or return None for another command.

    With pipelining the command is sh -c '[NAME=VALUE...] python && sleep 0', and its input the module.
    """
    words = shlex.split(command)
    inner = shlex.split(words[2]) if len(words) == 3 and words[1] == "-c" else []
    values, python = inner[:-4], inner[-4:]
    if python != [sys.executable, "&&", "sleep", "0"] or not all("=" in value for value in values):
        return None
    environment = {**os.environ, **dict(value.split("=", 1) for value in values), "PWD": folder}
    inputs, errors = os.memfd_create("module"), os.memfd_create("errors")
    reader, writer = os.pipe()
    with open(inputs, "wb", closefd=False) as file:
        file.write(code)
    os.lseek(inputs, 0, os.SEEK_SET)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(path)
        request = json.dumps({"environment": environment, "folder": folder})
        socket.send_fds(connection, [request.encode()], [inputs, writer, errors])
        os.close(inputs)
        os.close(writer)
        with open(reader, "rb") as file:
            output = file.read()
        status = int(connection.recv(MOST_BYTES))
    with open(errors, "rb") as file:
        file.seek(0)
        return status, output, file.read()


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    if code:
        sys.argv = [""]
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(code, "<stdin>", "exec"), sys.modules["__main__"].__dict__)

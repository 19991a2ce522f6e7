# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A process that has loaded Ansible and the plugins of the collection, and forks for each playbook that it runs.

It reads a request per line from its standard input, {"arguments", "folder", "environment", "output"}, and prints the exit
status of ansible-playbook. Ansible reads its configuration when it is loaded, so a server has that of its own environment.
"""

import gc
import importlib
import json
import os
import sys
import traceback
import warnings

import module_server

# Plugins that nearly every play uses.
PLUGINS = {
    "action": (
        "add_host",
        "assert",
        "command",
        "copy",
        "debug",
        "fail",
        "gather_facts",
        "include_vars",
        "normal",
        "set_fact",
    ),
    "callback": ("default",),
    "connection": ("local",),
    "inventory": ("advanced_host_list", "auto", "host_list", "ini", "script", "toml", "yaml"),
    "strategy": ("linear",),
    "vars": ("host_group_vars",),
}
OWN = "ansible_collections.taco.train.plugins"


def load():
    """The class of the command. It is loaded, with the plugins above and those of the collection."""
    from ansible.cli.playbook import PlaybookCLI
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    # Each play configures the loader again.
    warnings.filterwarnings("ignore", "AnsibleCollectionFinder has already been configured")
    names = [f"ansible.plugins.{kind}.{name}" for kind, plugins in PLUGINS.items() for name in plugins]
    for kind in ("action", "filter", "lookup", "callback"):
        folder = importlib.import_module(f"{OWN}.{kind}").__path__[0]
        names += [f"{OWN}.{kind}.{name[:-3]}" for name in os.listdir(folder) if name.endswith(".py")]
    for name in names:
        importlib.import_module(name)
    local = sys.modules["ansible.plugins.connection.local"].Connection
    local.exec_command = served(local.exec_command)
    return PlaybookCLI


def served(execute):
    """The way in which a connection to this machine runs a command, with modules run by their server."""

    def exec_command(self, cmd, in_data=None, sudoable=True):
        answer = None
        if in_data:
            folder = os.fsdecode(self.cwd or os.getcwd())
            answer = module_server.send(os.environ["TEST_MODULES"], cmd, folder, in_data)
        return answer or execute(self, cmd, in_data=in_data, sudoable=sudoable)

    return exec_command


def play(command, request):
    """Run ansible-playbook in this process, which ends with it."""
    status = 1
    try:
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
            os.dup2(descriptor, number)
        sys.argv = ["ansible-playbook", *request["arguments"]]
        command.cli_executor(sys.argv)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(status or 0))


def main():
    command = load()
    # A child that looks for garbage would copy all of this memory.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            play(command, request)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, flush=True)


if __name__ == "__main__":
    main()

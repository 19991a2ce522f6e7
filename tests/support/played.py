# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a play on hosts that were observed, all of them this machine."""

import json
import sys

import playbook
from observed import NODE


def check(folder, play, hosts, options):
    """Run the play in check mode, as run does."""
    return run(folder, play, hosts, options, ["--check"])


def run(folder, play, hosts, options, arguments=(), **settings):
    """Return the exit status and the output.

    hosts are {name: variables}, options are extra variables and settings are environment variables.
    """
    common = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "taco_node": NODE}
    inventory = {"all": {"hosts": {name: dict(common, **variables) for name, variables in hosts.items()}}}
    (folder / "inventory.yml").write_text(json.dumps(inventory))
    (folder / "play.yml").write_text(play)
    argv = [*arguments, "-i", "inventory.yml", "play.yml", "-e", json.dumps(options)]
    return playbook.run(folder, argv, ANSIBLE_CONFIG=playbook.NO_CONFIGURATION, **settings)

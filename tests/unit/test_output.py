# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tests read of a command is the same in a terminal, in a file and in a workflow that asks for colour."""

import os
import subprocess
import sys
from pathlib import Path

# What pytest does first, and then a command.
PROGRAM = """
import conftest, os, sys
conftest.pytest_configure()
os.execv(sys.executable, [sys.executable, "-m", "ansible", "adhoc", "localhost", "-m", "ansible.builtin.debug"])
"""


def test_a_command_prints_plain_text_also_where_colour_is_asked_for():
    plain = ("NO_COLOR", "ANSIBLE_NOCOLOR")
    environment = {name: value for name, value in os.environ.items() if name not in plain}
    environment.update(CI="true", ANSIBLE_FORCE_COLOR="1", FORCE_COLOR="1", COLUMNS="40")
    folder, outputs = Path(__file__).parents[1], {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, cwd=folder, text=True, **outputs)
    assert done.returncode == 0 and "Hello world!" in done.stdout and "\x1b" not in done.stdout, done.stdout

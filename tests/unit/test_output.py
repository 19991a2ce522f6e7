# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tests read of a command is the same in a terminal, in a file and in a workflow that asks for colour."""

import os
import subprocess
import sys


def test_a_play_prints_plain_text():
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "adhoc", "localhost", "-m", "ansible.builtin.debug"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 and "Hello world!" in done.stdout
    assert "\x1b" not in done.stdout


def test_it_does_so_where_colour_is_asked_for():
    plain = ("NO_COLOR", "ANSIBLE_NOCOLOR")
    environment = {name: value for name, value in os.environ.items() if name not in plain}
    environment.update(CI="true", ANSIBLE_FORCE_COLOR="1", FORCE_COLOR="1", COLUMNS="40")
    command = [sys.executable, "-m", "pytest", "-q", f"{__file__}::{test_a_play_prints_plain_text.__name__}"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a command and return what it printed; a failure is one exception that holds its output."""

import shlex
import subprocess


class LabError(Exception):
    """Something that stops the lab, as one sentence for the person who started it."""


class CommandError(LabError):
    """A command failed."""


def run(command, data=None, timeout=600, env=None):
    """Run a command, given as a list, with optional bytes on its input, and return its standard output as text."""
    shown = shlex.join(command)
    stdin = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=env, **stdin
        )
    except FileNotFoundError as error:
        raise CommandError(f"{command[0]} is not installed ({shown})") from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"no answer within {timeout} s: {shown}") from error
    if done.returncode != 0:
        output = (done.stderr + done.stdout).decode("utf-8", "replace").strip()
        raise CommandError(f"exit status {done.returncode}: {shown}\n{output}")
    return done.stdout.decode("utf-8", "replace")


def succeeds(command, timeout=30):
    """Return whether a command can be run and ends with status 0."""
    try:
        run(command, timeout=timeout)
    except CommandError:
        return False
    return True

#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make .venv hold what requirements-dev.txt names, and do nothing when it already does."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)  # what ansible-core 2.19 asks of a controller
ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "requirements-dev.txt"
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def version_of(python):
    """Return (major, minor) of an interpreter, or None when it doesn't run."""
    try:
        answer = subprocess.run([python, "-c", VERSION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return tuple(int(part) for part in answer.stdout.decode().strip().split("."))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def choose_python():
    """Return an interpreter that is new enough: the one running this, else the first found on the path."""
    candidates = [sys.executable] + [shutil.which("python3." + str(minor)) for minor in range(OLDEST[1], 16)]
    for candidate in filter(None, candidates):
        found = version_of(candidate)
        if found and found >= OLDEST:
            return candidate
    raise SystemExit(
        "venv: Python %d.%d or newer is needed on the control machine; %s is %d.%d and no newer python3.N is on the path"
        % (OLDEST + (sys.executable,) + sys.version_info[:2])
    )


def create(python):
    """Create the environment; Debian keeps the part of Python that does in a package of its own."""
    arguments = [python, "-m", "venv", "--clear", str(VENV)]
    if subprocess.run([python, "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode != 0:
        package = "python%d.%d-venv" % version_of(python)
        subprocess.run([sys.executable, str(ROOT / ".config/packages.py"), package], check=True)
    subprocess.run(arguments, check=True)


def main():
    python = choose_python()
    stamp = VENV / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    # The folder may have been moved: scripts in it name the interpreter by its whole path.
    wanted += " " + str(VENV)
    if stamp.exists() and stamp.read_text() == wanted and version_of(str(VENV / "bin/python")):
        return
    print("venv: installing requirements-dev.txt into .venv", flush=True)
    create(python)
    # A file, not the terminal: pip warns at length about things that concern nobody here; a failure shows all of it.
    pip = [str(VENV / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(pip + ["-r", str(REQUIREMENTS)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        os.write(2, done.stdout)
        raise SystemExit("venv: pip could not install requirements-dev.txt; its output is above")
    stamp.write_text(wanted)


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Virtual environments that hold what they should, made once. The scripts beside this file say which."""

import glob
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Beside .venv and not in it, which is made anew whenever requirements-dev.txt changes.
ENVIRONMENTS = ROOT / ".venvs"
VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def version_of(python):
    """Return (major, minor) of an interpreter, or None when it doesn't run."""
    try:
        answer = subprocess.run([python, "-c", VERSION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return tuple(int(part) for part in answer.stdout.decode().strip().split("."))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def pythons(oldest=(3, 6)):
    """Return {version: interpreter} of what is on the path or under a pyenv folder, oldest first."""
    found = {}
    candidates = [shutil.which("python3.%d" % minor) for minor in range(oldest[1], 16)]
    candidates += [sys.executable] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    for candidate in filter(None, candidates):
        version = version_of(candidate)
        if version and version >= oldest:
            found[version] = candidate
    return dict(sorted(found.items()))


def choose_python(who, oldest, newest=(3, 99)):
    """Return an interpreter in a range: the one running this, else the first found."""
    if oldest <= sys.version_info[:2] <= newest:
        return sys.executable
    for version, python in pythons(oldest).items():
        if version <= newest:
            return python
    wanted = "%d.%d or newer" % oldest if newest == (3, 99) else "%d.%d to %d.%d" % (oldest + newest)
    raise SystemExit(
        "%s: Python %s is needed on the control machine; %s is %d.%d and no such python3.N is on the path"
        % ((who, wanted, sys.executable) + sys.version_info[:2])
    )


def _create(folder, python):
    """Create the environment; Debian keeps the part of Python that does in a package of its own."""
    if subprocess.run([python, "-I", "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode != 0:
        package = "python%d.%d-venv" % version_of(python)
        subprocess.run([sys.executable, str(ROOT / ".config/packages.py"), package], check=True)
    subprocess.run([python, "-I", "-m", "venv", "--clear", str(folder)], check=True)


def ensure(who, folder, requirements, python):
    """Make an environment hold what pip is asked for, and do nothing when it already does. Return its folder of programs.

    requirements are pip's arguments; a file among them counts by what it holds.
    """
    steps = [requirements]
    if version_of(python) == (3, 6):
        # The one that comes with it takes packages for newer Pythons; this is the last that it runs.
        steps.insert(0, ["pip==21.3.1"])
    held = [Path(item).read_text() if os.path.isfile(item) else item for item in requirements]
    # The folder may have been moved: scripts in it name the interpreter by its whole path.
    wanted = hashlib.sha256("\0".join(held).encode()).hexdigest() + " %s" % folder
    stamp = folder / "requirements.sha256"
    if stamp.exists() and stamp.read_text() == wanted and version_of(str(folder / "bin/python")):
        return folder / "bin"
    named = " ".join(os.path.basename(item) for item in requirements if not item.startswith("-"))
    print("%s: installing %s into %s" % (who, named, folder.relative_to(ROOT)), flush=True)
    _create(folder, python)
    # A pipe, not the terminal: pip warns at length about things that concern nobody here; a failure shows all of it.
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for step in steps:
        done = subprocess.run(pip + step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            os.write(2, done.stdout)
            raise SystemExit("%s: pip could not install %s; its output is above" % (who, named))
    stamp.write_text(wanted)
    return folder / "bin"

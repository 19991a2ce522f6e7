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
# Beside .venv and not in it, which is created again whenever a file of requirements changes.
ENVIRONMENTS = ROOT / ".venvs"
# What the collection builds on, and what its bench compares it with.
COLLECTIONS = (
    "ansible.posix",
    "community.crypto",
    "community.docker",
    "community.library_inventory_filtering_v1",
    "kubernetes.core",
)
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
        "%s: Python %s is needed on the control machine; %s is %d.%d and no such python3.N is on the path or under "
        "~/.pyenv/versions. Install one: apt-get install python%d.%d python%d.%d-venv, or where the distribution has none: "
        "pyenv install %d.%d" % ((who, wanted, sys.executable) + sys.version_info[:2] + oldest * 3)
    )


def _create(folder, python):
    """Create the environment; Debian keeps the part of Python that does in a package of its own."""
    if subprocess.run([python, "-I", "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode != 0:
        package = "python%d.%d-venv" % version_of(python)
        subprocess.run([sys.executable, str(ROOT / "tools/packages.py"), package], check=True)
    subprocess.run([python, "-I", "-m", "venv", "--clear", str(folder)], check=True)


def _fingerprint(requirements, folder):
    """Name what is to be installed, and where: scripts in a folder that was moved name the interpreter by its old path."""
    content = [Path(item).read_text() if os.path.isfile(item) else item for item in requirements]
    return hashlib.sha256("\0".join(content).encode()).hexdigest() + " %s" % folder


def _install(who, folder, requirements):
    named = " ".join(os.path.basename(item) for item in requirements if not item.startswith("-"))
    print("%s: installing %s into %s" % (who, named, folder.relative_to(ROOT)), flush=True)
    # A pipe, not the terminal: pip prints warnings that concern nobody here; a failure shows all of it.
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(pip + requirements, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        os.write(2, done.stdout)
        raise SystemExit("%s: pip could not install %s; its output is above" % (who, named))


def _remove_unused_collections(folder):
    """Keep the collections of COLLECTIONS: the package `ansible` brings 470 MB, and PyPI has no smaller one with them."""
    for group in folder.glob("lib/python3*/site-packages/ansible_collections/*/"):
        for collection in group.glob("*/"):
            if "%s.%s" % (group.name, collection.name) not in COLLECTIONS:
                shutil.rmtree(collection)


def ensure(who, folder, requirements, python, further=()):
    """Install into an environment what pip's arguments name, unless it is installed already. Return its folder of programs.

    A file among the requirements counts by its content. further is installed on top; a call without it leaves it there.
    """
    stamp = folder / "requirements.sha256"
    installed = stamp.read_text().splitlines() if stamp.exists() else []
    wanted = [_fingerprint(requirements, folder)] + ([_fingerprint(further, folder)] if further else [])
    runs = bool(version_of(str(folder / "bin/python")))
    if runs and installed[: len(wanted)] == wanted:
        return folder / "bin"
    if not (runs and installed == wanted[:1]):
        _create(folder, python)
        if version_of(python) == (3, 6):
            # The one that comes with it takes packages for newer Pythons; this is the last that it runs.
            _install(who, folder, ["pip==21.3.1"])
        _install(who, folder, requirements)
    if further:
        _install(who, folder, list(further))
    _remove_unused_collections(folder)
    stamp.write_text("\n".join(wanted))
    return folder / "bin"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What this machine can do: its disk, its programs, and installing the missing ones where that is allowed."""

import os
import shutil
import sys

from shell import LabError, run
from state import ROOT

PROGRAMS = {"docker": "docker.io", "dockerd": "docker.io", "mmdebstrap": "mmdebstrap", "ssh-keygen": "openssh-client"}
DISK_GIB = 6
ADMINISTRATION = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # not on every user's PATH


def complete_path():
    """Let programs of the administrator be found, dockerd and newuidmap's friends among them."""
    present = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(present + [folder for folder in ADMINISTRATION if folder not in present])


def require_disk(folder, gib=DISK_GIB, free=None):
    """Refuse a file system that the images and the nodes would fill."""
    found = shutil.disk_usage(str(folder)).free if free is None else free
    if found < gib * 1024**3:
        raise LabError(
            f"{folder}: {found / 1024**3:.1f} GiB are free, {gib} GiB are needed; free some, then run it again"
        )


def missing_packages(programs, which=shutil.which):
    """Return the packages that bring the programs which aren't there, each once."""
    return sorted({PROGRAMS.get(program, program) for program in programs if which(program) is None})


def require(programs):
    """Install what is missing as root; anybody else is told what to install."""
    packages = missing_packages(programs)
    if not packages:
        return
    if os.geteuid() != 0:
        raise LabError(f"missing: {', '.join(packages)}; install with: sudo apt-get install {' '.join(packages)}")
    print(f"lab: installing {' '.join(packages)}", flush=True)
    run([sys.executable, str(ROOT / "tools/packages.py")] + packages)


def require_unshare():
    """Where the user isn't root, say what building an image as that user needs and this machine lacks."""
    if os.geteuid() == 0:
        return
    if shutil.which("newuidmap") is None:
        raise LabError("missing: uidmap, to build images without root; install with: sudo apt-get install uidmap")
    names = {str(os.getuid()), os.environ.get("USER", "")}
    try:
        with open("/etc/subuid", encoding="utf-8") as handle:
            ranges = {line.split(":")[0] for line in handle}
    except FileNotFoundError:
        ranges = set()
    if not names & ranges:
        raise LabError(
            "no subordinate user ids for you, to build images without root: sudo usermod --add-subuids "
            "100000-165535 --add-subgids 100000-165535 $USER"
        )

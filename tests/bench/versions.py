# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was measured with: the versions that decide what a run costs."""

import json
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

COLLECTION = Path(__file__).resolve().parents[2] / "collections/ansible_collections/taco/train"


def ssh_version(text):
    """Return the version in what `ssh -V` prints."""
    match = re.match(r"OpenSSH_([^\s,]+)", text)
    return match.group(1) if match else text.strip()


def docker_collection():
    """Return the version of community.docker."""
    import ansible_collections

    for folder in ansible_collections.__path__:
        manifest = Path(folder) / "community/docker/MANIFEST.json"
        if manifest.is_file():
            return json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]["version"]
    return "unknown"


def versions():
    """Return the versions."""
    said = subprocess.run(["ssh", "-V"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    galaxy = (COLLECTION / "galaxy.yml").read_text(encoding="utf-8")
    return {
        "taco.train": re.search(r"(?m)^version: (\S+)", galaxy).group(1),
        "ansible-core": metadata.version("ansible-core"),
        "community.docker": docker_collection(),
        "python": platform.python_version(),
        "openssh": ssh_version(said),
        # The rest is a builder's own name for it.
        "kernel": ".".join(platform.release().split(".")[:2]),
    }

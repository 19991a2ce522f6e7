#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run `ansible-test sanity` on the collection with the ansible-core of .venv and no container.

ansible-test downloads a bootstrap for pip from one fixed host, which many networks don't reach. It looks into its
cache first, and Python's own ensurepip does the same work, so the cache is given two lines that call it.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"
BOOTSTRAP = "import ensurepip\nensurepip.bootstrap(default_pip=True)\n"
BOOTSTRAP_VERSIONS = ("23_1_2", "24_2", "25_2")  # of ansible-core 2.16 and 2.17, of 2.18 and 2.19, of later ones


def interpreters_first(path):
    """Return PATH without version-manager shims, which answer for interpreters that they then refuse to run."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if not part.endswith("/shims"))


def main():
    # A home of its own keeps the stand-in out of the user's cache; pip's configuration stays where it is.
    home = ROOT / ".venv/sanity"
    cache = home / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in BOOTSTRAP_VERSIONS:
        (cache / ("get_pip_" + version + ".py")).write_text(BOOTSTRAP)
    environment = dict(os.environ, HOME=str(home))
    environment.setdefault("XDG_CONFIG_HOME", os.path.expanduser("~/.config"))
    environment.pop("ANSIBLE_CONFIG", None)
    environment.pop("ANSIBLE_COLLECTIONS_PATH", None)
    environment["PATH"] = str(ROOT / ".venv/bin") + os.pathsep + interpreters_first(os.environ["PATH"])
    version = "%d.%d" % sys.version_info[:2]
    command = [str(ROOT / ".venv/bin/ansible-test"), "sanity", "--color", "no", "--python", version, *sys.argv[1:]]
    raise SystemExit(subprocess.run(command, cwd=str(COLLECTION), env=environment).returncode)


if __name__ == "__main__":
    main()

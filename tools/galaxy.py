#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the collection and hand the artifact to galaxy-importer, which is what Galaxy does with it. A warning fails too."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import ENVIRONMENTS, ROOT, choose_python, ensure

COLLECTION = ROOT / "collections/ansible_collections/taco/train"
# Its ansible-lint looks up each module that a role names, and `ansible` brings the collections that this one builds on.
PACKAGES = ["galaxy-importer==0.4.44", "ansible", "ansible-lint"]
for name in ("requirements-run.txt", "requirements-dev.txt"):
    PACKAGES += ["--constraint", str(ROOT / name)]
OLDEST, NEWEST = (3, 11), (3, 13)  # of what it and ansible-core 2.19 run on
# What it would do in a container is done by sanity.py; its flake8 takes the documentation of filters, which is YAML, for
# Python, and ruff looks at the rest.
SETTINGS = {"RUN_ANSIBLE_TEST": "false", "RUN_FLAKE8": "false", "CHECK_REQUIRED_TAGS": "true"}


def main():
    python = choose_python("galaxy", OLDEST, NEWEST)
    programs = ensure("galaxy", ENVIRONMENTS / "galaxy-importer", PACKAGES, python)
    environment = dict(os.environ, **{"GALAXY_IMPORTER_" + name: value for name, value in SETTINGS.items()})
    environment["PATH"] = str(programs) + os.pathsep + os.environ["PATH"]
    # Nothing of the repository's own settings reaches those who install the artifact.
    environment.pop("ANSIBLE_CONFIG", None)
    with tempfile.TemporaryDirectory(prefix="taco-train-galaxy-") as folder:
        build = [str(programs / "ansible-galaxy"), "collection", "build", str(COLLECTION), "--output-path", folder]
        subprocess.run(build, check=True, env=environment, stdout=subprocess.DEVNULL)
        artifact = next(Path(folder).glob("*.tar.gz"))
        command = [str(programs / "python"), "-m", "galaxy_importer.main", str(artifact)]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.decode(errors="replace").splitlines()
    said = [line for line in lines if line.startswith(("WARNING", "ERROR"))]
    if done.returncode != 0 or said:
        print("\n".join(lines if done.returncode != 0 else said), file=sys.stderr)
        raise SystemExit("galaxy: galaxy-importer does not take %s as it is; see above" % artifact.name)
    print("galaxy: galaxy-importer takes %s without a warning" % artifact.name)


if __name__ == "__main__":
    main()

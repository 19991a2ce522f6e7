#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run `ansible-test sanity` on the collection, without a container, with one ansible-core or with all that are supported.

ansible-test downloads a bootstrap for pip from one fixed host, which many networks don't reach. It looks into its
cache first, and Python's own ensurepip does the same work, so the cache is given two lines that call it.
"""

import argparse
import os
import subprocess
import time

from cores import CORES, OF_VENV, core
from environments import ENVIRONMENTS, ROOT, version_of

COLLECTION = ROOT / "collections/ansible_collections/taco/train"
BOOTSTRAP = "import ensurepip\nensurepip.bootstrap(default_pip=True)\n"
BOOTSTRAP_VERSIONS = ("23_1_2", "24_2", "25_2")  # of ansible-core 2.16 and 2.17, of 2.18 and 2.19, of 2.20 and 2.21


def interpreters_first(path):
    """Return PATH without version-manager shims, which answer for interpreters that they then refuse to run."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if not part.endswith("/shims"))


def sanity(release, arguments):
    """Run the checks of one release of ansible-core; return how that ended."""
    programs = core(release)
    # A home of its own keeps the stand-in out of the user's cache; pip's configuration stays where it is.
    home = ENVIRONMENTS / "sanity-home"
    cache = home / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in BOOTSTRAP_VERSIONS:
        (cache / ("get_pip_" + version + ".py")).write_text(BOOTSTRAP)
    environment = dict(os.environ, HOME=str(home))
    environment.setdefault("XDG_CONFIG_HOME", os.path.expanduser("~/.config"))
    environment.pop("ANSIBLE_CONFIG", None)
    environment.pop("ANSIBLE_COLLECTIONS_PATH", None)
    environment["PATH"] = str(programs) + os.pathsep + interpreters_first(os.environ["PATH"])
    version = "%d.%d" % version_of(str(programs / "python"))
    command = [str(programs / "ansible-test"), "sanity", "--color", "no", "--python", version, *arguments]
    return subprocess.run(command, cwd=str(COLLECTION), env=environment).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", action="append", choices=[*CORES, "all"], help="default: that of .venv")
    options, arguments = parser.parse_known_args()
    wanted = options.core or [OF_VENV]
    failed = []
    for release in CORES if "all" in wanted else wanted:
        print("sanity: with ansible-core " + release, flush=True)
        started = time.monotonic()
        if sanity(release, arguments) != 0:
            failed.append(release)
        print("sanity: ansible-core %s took %d s" % (release, time.monotonic() - started), flush=True)
    if failed:
        raise SystemExit("sanity: failed with ansible-core " + ", ".join(failed) + "; see above")


if __name__ == "__main__":
    main()

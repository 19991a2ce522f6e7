#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the unit tests of target code under target Pythons of this machine, each with the newest pytest that it has.

The oldest Python, or with the argument `all` every one. The modules themselves are run by
tests/integration/test_targets.py.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from environments import ENVIRONMENTS, ROOT, ensure, pythons

TESTS = ROOT / "tests/unit/module_utils"
# It imports a module, so it needs ansible-core, and runs what it tests under every Python itself.
BY_ITSELF = TESTS / "process/test_carried.py"


def test(programs):
    """Run the tests in one environment; return the status and the output."""
    # Neither the options of the project nor what the tests above these share: both ask for more than this Python has.
    command = [
        str(programs / "python"),
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ]
    command += [
        "--rootdir",
        str(TESTS),
        "--confcutdir",
        str(TESTS),
        "-c",
        "/dev/null",
        "--ignore",
        str(BY_ITSELF),
        str(TESTS),
    ]
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": "%s:%s" % (ROOT / "collections", ROOT / "tests/support"),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        command, env=environment, cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout


def main():
    found = pythons()
    chosen = list(found) if sys.argv[1:] == ["all"] else [min(found)]
    names = ["%d.%d" % version for version in chosen]
    programs = [
        ensure("targets", ENVIRONMENTS / ("target-" + name), ["pytest<10", "hypothesis"], found[version])
        for name, version in zip(names, chosen)
    ]
    failed = []
    # Two at a time: some of the tests wait.
    with ThreadPoolExecutor(2) as pool:
        for name, (status, output) in zip(names, pool.map(test, programs)):
            print("targets: unit tests of module_utils under Python %s\n%s" % (name, output), flush=True)
            failed += [name] if status != 0 else []
    if failed:
        raise SystemExit("targets: unit tests failed under Python " + ", ".join(failed) + "; see above")


if __name__ == "__main__":
    main()

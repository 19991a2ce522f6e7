#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install the Debian packages named as arguments where they are missing; say which when that can't be done."""

import os
import shutil
import subprocess
import sys


def missing(packages):
    """Return the packages that dpkg doesn't call installed."""
    found = []
    for package in packages:
        query = ["dpkg-query", "--show", "--showformat=${Status}", package]
        answer = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if answer.stdout != b"install ok installed":
            found.append(package)
    return found


def install(packages):
    """Install with apt-get, showing its output only when it fails."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    # A package must not start a service on the machine just because it was installed for a test or a lab.
    environment["RUNLEVEL"] = "1"
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends"] + packages):
        command = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-qq"] + arguments
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            os.write(2, done.stdout)
            raise SystemExit("packages: apt-get %s failed; its output is above" % arguments[0])


def main():
    if not shutil.which("dpkg-query"):
        raise SystemExit("packages: this is not Debian or Ubuntu; install by hand: " + " ".join(sys.argv[1:]))
    wanted = missing(sys.argv[1:])
    if not wanted:
        return
    if os.geteuid() != 0:
        raise SystemExit("packages: missing and only root can install them: apt-get install " + " ".join(wanted))
    print("packages: installing " + " ".join(wanted), flush=True)
    install(wanted)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases of ansible-core that the collection supports, each in an environment of its own.

Run as a program, it checks that this machine has a Python for each release.
"""

from typing import NamedTuple

from environments import ENVIRONMENTS, ROOT, choose_python, ensure


class Release(NamedTuple):
    """A release of ansible-core, and the `ansible` package with the collections that belong to it."""

    core: str
    ansible: str
    oldest: tuple
    """The oldest Python that it runs on as a controller."""
    newest: tuple


CORES = {
    "2.16": Release("2.16.19", "9.13.0", (3, 10), (3, 12)),
    "2.17": Release("2.17.14", "10.7.0", (3, 10), (3, 12)),
    "2.18": Release("2.18.19", "11.13.0", (3, 11), (3, 13)),
    "2.19": Release("2.19.14", "12.3.0", (3, 11), (3, 13)),
    "2.20": Release("2.20.10", "13.8.0", (3, 12), (3, 14)),
    "2.21": Release("2.21.5", "14.5.0", (3, 12), (3, 14)),
}
# That of .venv, which `make venv` fills: the newest that runs on Debian 12's own Python.
OF_VENV = "2.19"
JMESPATH = "jmespath>=1.0,<2"


def python_of(release):
    """Find the interpreter for a release. If there is none, stop and name what to install."""
    return choose_python("ansible-core " + release, CORES[release].oldest, CORES[release].newest)


def core(release):
    """Install a release without collections, once, and return its folder of programs."""
    if release == OF_VENV:
        return ROOT / ".venv/bin"
    who = "ansible-core " + release
    packages = ["ansible-core==" + CORES[release].core, JMESPATH]
    return ensure(who, ENVIRONMENTS / ("core-" + release), packages, python_of(release))


def controller(release):
    """Install a release with the collections that belong to it, once, and return its folder of programs."""
    if release == OF_VENV:
        return ROOT / ".venv/bin"
    known = CORES[release]
    who = "ansible %s with ansible-core %s" % (known.ansible, release)
    packages = ["ansible==" + known.ansible, "ansible-core==" + known.core, JMESPATH]
    return ensure(who, ENVIRONMENTS / ("controller-" + release), packages, python_of(release))


def main():
    missing = []
    for release in CORES:
        try:
            python_of(release)
        except SystemExit as error:
            missing.append(str(error))
    if missing:
        raise SystemExit("\n".join(missing))


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases of ansible-core that the collection supports, each in an environment of its own."""

from environments import ENVIRONMENTS, ROOT, choose_python, ensure

# What pip installs, and the oldest and newest Python that the release runs on as a controller.
CORES = {
    "2.16": ("ansible-core==2.16.19", (3, 10), (3, 12)),
    "2.17": ("ansible-core==2.17.14", (3, 10), (3, 12)),
    "2.18": ("ansible-core==2.18.19", (3, 11), (3, 13)),
    "2.19": (None, (3, 11), (3, 13)),  # of .venv, which `make venv` makes
}


def core(release):
    """Return the folder of programs of a release, installed once."""
    package, oldest, newest = CORES[release]
    if package is None:
        return ROOT / ".venv/bin"
    folder, who = ENVIRONMENTS / ("core-" + release), "ansible-core " + release
    return ensure(who, folder, [package, "jmespath>=1.0,<2"], choose_python(who, oldest, newest))

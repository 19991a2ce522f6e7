# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every program of the repository says whose it is and under which licence; of YAML and prose, galaxy.yml says it."""

import subprocess

import pytest
from integration.paths import COLLECTION, ROOT

LICENCE = "GPL-3.0-or-later"
HEADER = [
    "# Copyright (c) 2026 The taco.train authors",
    "# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)",
    f"# SPDX-License-Identifier: {LICENCE}",
]


def programs():
    """Return the programs that git knows or would take, by their names and by what runs them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        if path.suffix in (".py", ".sh") or path.name.startswith("Dockerfile") or path.read_bytes()[:2] == b"#!":
            yield name


@pytest.mark.parametrize("name", sorted(programs()))
def test_a_program_begins_with_its_licence(name):
    lines = (ROOT / name).read_text().splitlines()
    first = lines[1:4] if lines[0].startswith("#!") else lines[:3]
    assert first == HEADER


def test_the_collection_has_the_same_licence():
    assert f"license:\n  - {LICENCE}\n" in (COLLECTION / "galaxy.yml").read_text()

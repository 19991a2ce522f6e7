# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every program of the repository says whose it is and under which licence; of YAML and prose, galaxy.yml says it."""

import hashlib
import subprocess

import pytest
import yaml
from integration.paths import COLLECTION, ROOT

LICENCE = "GPL-3.0-or-later"
GPL_3 = "3972dc9744f6499f0f9b2dbf76696f2ae7ad8af9b23dde66d6af86c9dfb36986"
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


def begins_with_its_licence(name):
    lines = (ROOT / name).read_text().splitlines()
    return (lines[1:4] if lines[:1] and lines[0].startswith("#!") else lines[:3]) == HEADER


def test_every_program_begins_with_its_licence():
    names = list(programs())
    assert len(names) > 100 and [name for name in names if not begins_with_its_licence(name)] == []


def test_the_collection_has_the_same_licence():
    assert f"license:\n  - {LICENCE}\n" in (COLLECTION / "galaxy.yml").read_text()


@pytest.mark.parametrize("folder", [ROOT, COLLECTION], ids=["repository", "collection"])
def test_the_full_text_of_the_licence_is_there_unchanged(folder):
    """A regular file in both, since hosts of repositories and Galaxy look for one and follow no link."""
    path = folder / "LICENSE"
    assert path.is_file() and not path.is_symlink()
    # The text that https://www.gnu.org/licenses/gpl-3.0.txt serves.
    assert hashlib.sha256(path.read_bytes()).hexdigest() == GPL_3


def test_the_artifact_names_the_licence_once():
    """Galaxy refuses an artifact with both keys."""
    assert "license_file" not in yaml.safe_load((COLLECTION / "galaxy.yml").read_text())


def test_a_code_of_conduct_names_a_private_contact():
    text = (ROOT / "CODE_OF_CONDUCT.md").read_text()
    contact = '"Report a vulnerability" on the repository\'s Security page'
    assert contact in text and contact in (ROOT / "SECURITY.md").read_text()
    assert "(CODE_OF_CONDUCT.md)" in (ROOT / "CONTRIBUTING.md").read_text()

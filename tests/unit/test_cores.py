# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is claimed of versions of ansible-core is what is tested, and a missing Python stops the tests with what to install."""

import re
import sys
from pathlib import Path

import cores
import environments
import pytest
import yaml

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"
RELEASES = list(cores.CORES)


def test_every_release_from_2_16_to_2_21_is_tested():
    assert RELEASES == ["2.16", "2.17", "2.18", "2.19", "2.20", "2.21"]
    assert all(known.core.startswith(release + ".") for release, known in cores.CORES.items())
    # Each `ansible` package belongs to one release of ansible-core.
    assert [known.ansible.split(".")[0] for known in cores.CORES.values()] == ["9", "10", "11", "12", "13", "14"]


def test_the_oldest_release_is_what_the_collection_and_its_roles_require():
    assert yaml.safe_load((COLLECTION / "meta/runtime.yml").read_text())["requires_ansible"] == f">={RELEASES[0]}.0"
    for path in COLLECTION.glob("roles/*/meta/main.yml"):
        assert yaml.safe_load(path.read_text())["galaxy_info"]["min_ansible_version"] == RELEASES[0], path


def test_the_release_of_the_environment_is_the_one_that_is_pinned():
    pinned = re.search(r"^ansible==(.*)$", (ROOT / "requirements-run.txt").read_text(), re.M).group(1)
    assert pinned == cores.CORES[cores.OF_VENV].ansible


@pytest.mark.parametrize("path", [ROOT / "README.md", COLLECTION / "README.md"], ids=["repository", "collection"])
def test_the_documents_name_the_oldest_and_the_newest_release(path):
    assert f"ansible-core {RELEASES[0]} to {RELEASES[-1]}" in path.read_text()


def test_a_machine_without_a_python_for_some_releases_stops_and_says_what_to_install(monkeypatch):
    monkeypatch.setattr(environments, "pythons", lambda oldest: {} if oldest > (3, 11) else {(3, 11): "python3.11"})
    monkeypatch.setattr(sys, "version_info", (3, 11, 2, "final", 0))
    with pytest.raises(SystemExit) as stopped:
        cores.main()
    text = str(stopped.value)
    assert [line.split(":")[0] for line in text.splitlines()] == ["ansible-core 2.20", "ansible-core 2.21"]
    assert "apt-get install python3.12 python3.12-venv" in text and "pyenv install 3.12" in text


def test_a_release_looks_for_its_python_first_in_what_runs_the_tests(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 12, 1, "final", 0))
    assert {cores.python_of(release) for release in RELEASES} == {sys.executable}


def test_a_release_that_must_pass_checks_the_interpreters_first():
    steps = re.search(r"^test-all:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M).group(1).split("\n\t")
    assert steps[0].strip().endswith("tools/cores.py")
    named = set(re.findall(r"[\w-]+", "\n".join(steps[1:])))
    assert {"sanity-all", "cores", "lab-cores"} <= named

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a contributor is told to run and to look at is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "README.md")]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    links = re.findall(r"\]\((?!http|#)([^)#]+)|^\[[^]]+\]: (?!http)(\S+)", path.read_text(), re.M)
    for link in ("".join(both) for both in links):
        assert (ROOT / link).exists(), link


def test_every_target_of_make_that_a_reader_is_told_of_is_there():
    assert set(re.findall(r"`make ([\w-]+)", (ROOT / "README.md").read_text())) <= TARGETS


def test_every_tier_of_tests_is_in_the_table():
    tested = re.search(r"^test: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M).group(1)
    tiers = set(re.findall(r"\$\(MAKE\) ([\w-]+)", tested)) - {"lab-down"}
    assert tiers <= set(re.findall(r"^\| `make ([\w-]+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.M))

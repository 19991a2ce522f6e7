# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages of small runs, comparisons, searches and plans are those of tests/fixtures/pages.

GOLDEN_UPDATE=1 rewrites them: read what git says of it.
"""

import json
import os
from pathlib import Path

import action_run
import pytest
from page import lines_of

from ansible_collections.taco.train.plugins.action import plan, report

PAGES = Path(__file__).parents[2] / "fixtures/pages"
REPORTS = sorted(path.stem for path in PAGES.glob("*.json") if path.stem != "plan")


def golden(name, text):
    """Compare a text with the one that is kept."""
    path = PAGES / name
    if os.environ.get("GOLDEN_UPDATE"):
        path.write_text(text)
    assert text == path.read_text(), name


def files_of(folder, name):
    """Write the small files of a run, each by its name."""
    for file, content in json.loads((PAGES / f"{name}.json").read_text()).items():
        lines = content if file.endswith(".jsonl") else [content]
        (folder / file).write_text("".join(json.dumps(one) + "\n" for one in lines))


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_and_the_text_of_a_run_are_as_kept(tmp_path, name):
    folder = tmp_path / "run-1"
    folder.mkdir()
    files_of(folder, name)
    rendered = action_run.run(report, {"run_dir": str(folder), "title": "Title"})
    golden(f"{name}.txt", "\n".join(lines_of((folder / "report.html").read_text())) + "\n")
    for file in rendered["files"]:
        if file.endswith(".md"):
            golden(f"{name}.md", (folder / file).read_text())


def test_the_page_of_a_plan_is_as_kept(tmp_path):
    hosts = json.loads((PAGES / "plan.json").read_text())["hosts"]
    path = tmp_path / "plan.json"
    names = {"hostvars": {host: {} for host in hosts}}
    action_run.run(plan, {"state": "saved", "path": str(path), "hosts": hosts}, **names)
    time = json.loads(path.read_text())["time"]
    page = (tmp_path / "plan.html").read_text().replace(time, "2026-01-31T12:00:00Z")
    golden("plan.txt", "\n".join(lines_of(page)) + "\n")

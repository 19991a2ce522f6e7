# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action report: which files it leaves, by what lies in the folder of the run."""

import json

import action_run
import compared
import pytest
import recorded

from ansible_collections.taco.train.plugins.action import report

OF_A_COMPARISON = ["comparison.md", "iterations.csv", "report.html", "runs.csv"]
OF_RUNS = ["report.html", "table.md"]


class Site:
    """The folder of a run, and what the action returned when it rendered it."""

    def __init__(self, folder):
        self.folder = folder
        self.run_dir = folder / "run-1"
        self.run_dir.mkdir()

    def write(self, name, value):
        (self.run_dir / name).write_text(json.dumps(value))

    def files(self):
        return sorted(path.name for path in self.run_dir.iterdir() if path.suffix not in (".json", ".jsonl"))

    def render(self, check=False):
        return action_run.run(report, {"run_dir": str(self.run_dir), "title": "Title"}, check=check)


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_a_comparison_is_rendered_where_there_is_one(site):
    site.write("comparison.json", compared.comparison())
    (site.run_dir / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in compared.records()) + "cut")
    rendered = site.render()
    assert rendered["files"] == site.files() == OF_A_COMPARISON
    assert rendered["path"] == str(site.run_dir / "report.html") and not rendered["changed"]
    assert rendered["table"].startswith(
        "# Title: run-1\n\n*Does it train faster?*\n\n**LightCC is better by 2.10x.**\n"
    )
    page = (site.run_dir / "report.html").read_text()
    assert "Does it train faster?" in page and "RUN=a2" in page
    lost = "is not a record of schema 1."
    assert lost in page and lost in (site.run_dir / "comparison.md").read_text()
    assert len((site.run_dir / "runs.csv").read_text().splitlines()) == 17


def test_check_mode_says_what_it_would_write_and_writes_nothing(site):
    site.write("comparison.json", compared.comparison())
    rendered = site.render(check=True)
    assert rendered["files"] == OF_A_COMPARISON and site.files() == []


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (None, None),
        ([], "comparison.json is not a JSON object: run the comparison again."),
        ({"schema": 99}, "comparison.json is of schema 99, this version shows 1: run the comparison again."),
    ],
)
def test_without_a_comparison_that_can_be_shown_the_runs_are(site, comparison, said):
    if comparison is not None:
        site.write("comparison.json", comparison)
    rendered = site.render()
    assert rendered["files"] == site.files() == OF_RUNS
    assert rendered["table"].startswith("# Title: run-1\n\n**No benchmark was run.**")
    assert said is None or (said in rendered["table"] and said in (site.run_dir / "report.html").read_text())


def test_a_record_of_every_workload_is_shown_and_one_without_required_fields_is_counted(site):
    found = [recorded.record(workload) for workload in recorded.RUNS]
    found.append({name: value for name, value in found[0].items() if name != "measures"})
    (site.run_dir / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    rendered = site.render()
    assert rendered["table"].count("\n| ok ") == len(recorded.RUNS)
    assert "Records without required fields: 1." in rendered["table"]


def test_a_search_that_can_not_be_shown_is_named_and_the_runs_are_shown(site):
    site.write("locate.json", {"schema": 1})
    assert "locate.json has no answer, odd, sentence, tables: run the search again." in site.render()["table"]


def test_what_braces_hold_in_a_title_is_no_template(site):
    site.render()
    action_run.run(report, {"run_dir": str(site.run_dir), "title": "{{ 7 * 7 }} {% raw %}"})
    page = (site.run_dir / "report.html").read_text()
    assert "<title>{{ 7 * 7 }} {% raw %}: run-1</title>" in page

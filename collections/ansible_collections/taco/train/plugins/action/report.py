# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render on the controller what a run left behind."""

import json
import os

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.locate import store as searches
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import SearchError
from ansible_collections.taco.train.plugins.plugin_utils.report import (
    comparison_csv,
    comparison_page,
    comparison_text,
    locate_page,
    run_page,
    run_table,
)
from ansible_collections.taco.train.plugins.plugin_utils.run import store
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import entered_role
from ansible_collections.taco.train.plugins.plugin_utils.variables.strategy import require_linear
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

ARGUMENTS = {"run_dir": {"type": "str", "required": True}, "title": {"type": "str", "default": "Training benchmark"}}
KEYS = {
    *("id", "time", "outcome", "arm", "parameters", "argv", "hosts", "ranks", "duration_s", "result", "problems"),
    *("notes", "lab", "network", "log", "system", "workload"),
}


COMPARISON_SCHEMA = 1


def read_json(run_dir, name):
    """Return what a file of the run's folder holds, None when there is none, and what is wrong with it."""
    try:
        with open(os.path.join(run_dir, name), encoding="utf-8") as stream:
            found = json.load(stream)
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError) as error:
        return None, [f"{name} can't be read: {error}."]
    return (found, []) if isinstance(found, dict) else (None, [f"{name} is not a JSON object."])


def read_comparison(run_dir):
    """Return the comparison of the run, None when there is none that can be shown, and what is wrong with it."""
    comparison, problems = read_json(run_dir, "comparison.json")
    if comparison is not None and comparison.get("schema") != COMPARISON_SCHEMA:
        found = comparison.get("schema")
        return None, [
            f"comparison.json is of schema {found}, this version shows {COMPARISON_SCHEMA}: run the comparison again."
        ]
    return comparison, problems


def whole(found):
    """Return the records that can be shown, and a sentence for each that can't."""
    kept = [record for record in found if set(record) >= KEYS and record["workload"] in WORKLOADS]
    lost = len(found) - len(kept)
    return kept, [f"Records without required fields or of an unknown workload: {lost}."] if lost else []


def of_runs(found, verdict, problems, title, run):
    """Return the text for people and the files of single runs."""
    found, more = whole(found)
    table = run_table.render(found, verdict, [*problems, *more], title)
    return table, {"table.md": table, "report.html": run_page.render(found, verdict, [*problems, *more], title, run)}


def of_search(document, title, run):
    """Return the text for people and the files of a search for slow hosts."""
    text = locate_page.text(document, title)
    return text, {"locate.md": text, "report.html": locate_page.render(document, title, run)}


def of_comparison(comparison, found, verdict, problems, title, run):
    """Return the text for people and the files of a comparison."""
    return comparison_text.terminal(comparison), {
        "comparison.md": comparison_text.render(comparison, found, verdict, title, problems),
        "runs.csv": comparison_csv.runs(comparison),
        "iterations.csv": comparison_csv.iterations(comparison),
        "report.html": comparison_page.render(comparison, found, verdict, title, run, problems),
    }


class ActionModule(ActionBase):
    """Read, render, write. Nothing of it touches a host."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        if entered_role(self._task):
            require_linear(self._task, task_vars["inventory_hostname"])
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        run_dir = store.absolute(options["run_dir"])
        try:
            found, problems = store.read(run_dir)
            verdict, unread = read_json(run_dir, "verdict.json")
            comparison, unfit = read_comparison(run_dir)
            search = searches.load(run_dir) if os.path.exists(os.path.join(run_dir, searches.FILE)) else None
            shown = (found, verdict, problems + unread + unfit, options["title"], os.path.basename(run_dir))
            if search:
                table, files = of_search(search, options["title"], os.path.basename(run_dir))
            else:
                table, files = of_runs(*shown) if comparison is None else of_comparison(comparison, *shown)
            if not self._task.check_mode:
                for name, text in files.items():
                    store.write_text(os.path.join(run_dir, name), text)
        except (SearchError, store.RecordError) as error:
            return {"failed": True, "msg": str(error)}
        path = os.path.join(run_dir, "report.html")
        self._display.display(table if self._task.check_mode else f"{table.rstrip()}\n\nReport: {path}\n")
        return {"changed": False, "table": table, "path": path, "files": sorted(files)}

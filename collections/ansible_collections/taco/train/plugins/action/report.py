# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render on the controller what a run left behind."""

import json
import os

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.report import (
    comparison_csv,
    comparison_page,
    run_page,
    search_page,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.document import brief
from ansible_collections.taco.train.plugins.plugin_utils.report.render import html, markdown
from ansible_collections.taco.train.plugins.plugin_utils.run import store

ARGUMENTS = {"run_dir": {"type": "str", "required": True}, "title": {"type": "str", "default": "Training benchmark"}}
KEYS = {
    *("id", "time", "outcome", "arm", "parameters", "argv", "hosts", "ranks", "duration_s", "result", "problems"),
    *("notes", "lab", "network", "log", "system", "workload", "measures"),
}
# The documents of a run, the keys without which they can't be shown, and what makes them again.
DOCUMENTS = {
    "verdict.json": (set(), "run preflight again"),
    "comparison.json": ({"schema"}, "run the comparison again"),
    "locate.json": ({"schema", "answer", "odd", "sentence", "tables"}, "run the search again"),
}
SCHEMA = 1


def read_document(run_dir, name):
    """Return a document of the run, None when there is none that can be shown, and what is wrong with it."""
    keys, fix = DOCUMENTS[name]
    try:
        with open(os.path.join(run_dir, name), encoding="utf-8") as stream:
            found = json.load(stream)
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError) as error:
        return None, [f"{name} can't be read: {error}; {fix}."]
    if not isinstance(found, dict):
        return None, [f"{name} is not a JSON object: {fix}."]
    if "schema" in keys and found.get("schema") != SCHEMA:
        return None, [f"{name} is of schema {found.get('schema')}, this version shows {SCHEMA}: {fix}."]
    lost = sorted(keys - set(found))
    return (None, [f"{name} has no {', '.join(lost)}: {fix}."]) if lost else (found, [])


def whole(found):
    """Return the records that can be shown, and a sentence when there are others."""
    kept = [record for record in found if set(record) >= KEYS]
    lost = len(found) - len(kept)
    return kept, [f"Records without required fields: {lost}."] if lost else []


def pages(run_dir, title):
    """Return the document of a run, the name of its text, and the tables for a spreadsheet by their names."""
    run = os.path.basename(run_dir)
    found, problems = store.read(run_dir)
    (verdict, unread), (comparison, unfit), (search, lost) = (read_document(run_dir, name) for name in DOCUMENTS)
    problems = [*problems, *unread, *unfit, *lost]
    if search:
        return search_page.document(search, title, run), "locate.md", {}
    if comparison:
        values = {"runs.csv": comparison_csv.runs(comparison), "iterations.csv": comparison_csv.iterations(comparison)}
        return comparison_page.document(comparison, found, verdict, problems, title, run), "comparison.md", values
    kept, lost = whole(found)
    return run_page.document(kept, verdict, [*problems, *lost], title, run), "table.md", {}


class ActionModule(ActionBase):
    """Read, render, write. Nothing of it touches a host."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        run_dir = store.absolute(options["run_dir"])
        try:
            document, name, values = pages(run_dir, options["title"])
            files = {name: markdown(document), "report.html": html(document), **values}
            if not self._task.check_mode:
                for file, content in files.items():
                    store.write_text(os.path.join(run_dir, file), content)
        except store.RecordError as error:
            return {"failed": True, "msg": str(error)}
        path, text = os.path.join(run_dir, "report.html"), markdown(brief(document))
        self._display.display(text if self._task.check_mode else f"{text.rstrip()}\n\nReport: {path}\n")
        return {"changed": False, "table": text, "path": path, "files": sorted(files)}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render on the controller what a run left behind."""

import json
import os

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils import records, report_html, report_table

ARGUMENTS = {"run_dir": {"type": "str", "required": True}, "title": {"type": "str", "default": "Training benchmark"}}
KEYS = {
    *("id", "time", "outcome", "arm", "parameters", "argv", "hosts", "ranks", "duration_s", "result", "problems"),
    *("notes", "lab", "network", "log", "system"),
}


def read_verdict(run_dir):
    """Return the verdict of preflight, None when there is none, and what is wrong with it."""
    path = os.path.join(run_dir, "verdict.json")
    try:
        with open(path, encoding="utf-8") as stream:
            verdict = json.load(stream)
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError) as error:
        return None, [f"verdict.json can't be read: {error}."]
    return (verdict, []) if isinstance(verdict, dict) else (None, ["verdict.json is not a verdict."])


def whole(found):
    """Return the records that can be shown, and a sentence for each that can't."""
    kept = [record for record in found if set(record) >= KEYS]
    lost = len(found) - len(kept)
    return kept, [f"Records that lack what the schema asks for: {lost}."] if lost else []


class ActionModule(ActionBase):
    """Read, render, write. Nothing of it touches a host."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        run_dir = os.path.abspath(os.path.expanduser(options["run_dir"]))
        path = os.path.join(run_dir, "report.html")
        try:
            found, problems = records.read(run_dir)
            found, more = whole(found)
            verdict, unread = read_verdict(run_dir)
            problems = problems + more + unread
            table = report_table.render(found, verdict, problems, options["title"])
            page = report_html.render(found, verdict, problems, options["title"], os.path.basename(run_dir))
            if not self._task.check_mode:
                records.write_text(os.path.join(run_dir, "table.md"), table)
                records.write_text(path, page)
        except records.RecordError as error:
            return {"failed": True, "msg": str(error)}
        return {"changed": False, "table": table, "path": path}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The document of a search for slow hosts: the answer first, then its evidence, as locate.json has it."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.report.document import Document, Grid, Text, section, table
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import lab
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

HOSTS = ("Host", "Verdict", "Runs", "Against its peers", "Evidence of slow")
RUNS = ("Round", "Hosts", "Value", "Against the round", "Reason")
OPEN = "The search is not finished. Run the playbook again to continue it."


def findings(found: Mapping[str, Any]) -> Grid:
    """Return a row for each cause."""
    return table(
        {
            "Cause": cause["text"],
            "Hosts": ", ".join(cause["hosts"]) or "all that cross it",
            "Loss": "none" if cause["loss"] is None else f"{cause['loss']:.0%}",
            "Proof": "proved" if cause["proved"] else "suspicion",
        }
        for cause in (found["answer"] or {}).get("findings") or []
    )


def differences(odd: list[Mapping[str, Any]]) -> Grid:
    """Return a row for each host and fact in which it differs from most hosts."""
    return table(
        {"Fact": one["facet"], "Value of most hosts": one["usual"], "Host": host, "Its value": value}
        for one in odd
        for host, value in one["hosts"].items()
    )


def document(found: Mapping[str, Any], title: str, run: str) -> Document:
    """Return the document of a search, from the content of locate.json."""
    tables, odd = found["tables"], found["odd"]
    of_few = f"{counted(len(odd), 'fact')} of which few hosts have another value:"
    sections = [
        section("Causes", findings(found)),
        section("Hosts", Grid(HOSTS, tables["hosts"]), Text(tables["method"], "note")),
        section("Facts that differ on few hosts", Text(of_few, "note"), differences(odd)),
        section("Runs", Grid(RUNS, tables["runs"]), detail=True),
    ]
    footer = f"Search {run}. Everything here stands in locate.json and records.jsonl beside this page."
    return Document(f"{title}: {run}", lab([found]), [Text(found["sentence"] or OPEN, "lead")], sections, footer)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The document of a search for slow hosts: the answer first, then its evidence, as locate.json has it."""

from typing import Any, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.report.document import Document, Text, tables
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import lab
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

FINDINGS = ("Cause", "Hosts", "Loss", "Proof")
HOSTS = ("Host", "Verdict", "Runs", "Against its peers", "Evidence of slow")
RUNS = ("Round", "Hosts", "Value", "Against the round", "Reason")
ODD = ("Fact", "Value of most hosts", "Host", "Its value")
OPEN = "The search is not finished. Run the playbook again to continue it."


def findings(found: Mapping[str, Any]) -> list[Sequence[str]]:
    """Return a row for each cause."""
    return [
        (
            cause["text"],
            ", ".join(cause["hosts"]) or "all that cross it",
            "none" if cause["loss"] is None else f"{cause['loss']:.0%}",
            "proved" if cause["proved"] else "suspicion",
        )
        for cause in (found["answer"] or {}).get("findings") or []
    ]


def document(found: Mapping[str, Any], title: str, run: str) -> Document:
    """Return the document of a search, from the content of locate.json."""
    tables_of, odd = found["tables"], found["odd"]
    rows = [(one["facet"], one["usual"], host, value) for one in odd for host, value in one["hosts"].items()]
    of_few = Text(f"{counted(len(odd), 'fact')} of which few hosts have another value:")
    sections = [
        tables("Causes", (FINDINGS, findings(found))),
        tables("Hosts", (HOSTS, tables_of["hosts"]), after=[Text(tables_of["method"])]),
        tables("Facts that differ on few hosts", (ODD, rows), of_few),
        tables("Runs", (RUNS, tables_of["runs"]))._replace(detail=True),
    ]
    top = [Text(found["sentence"] or OPEN, "lead")]
    footer = f"Search {run}. Everything here stands in locate.json and records.jsonl beside this page."
    return Document(f"{title}: {run}", lab([found]), top, sections, footer)

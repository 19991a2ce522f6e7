# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render a search for slow hosts as one page and as text: the answer first, then its evidence."""

import math
from statistics import median
from typing import Any, List, Mapping, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import clear_bound
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import HOST, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis, analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search, from_json
from ansible_collections.taco.train.plugins.plugin_utils.locate.wording import unrestored
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import element, page, section, table
from ansible_collections.taco.train.plugins.plugin_utils.report.run_table import LAB, markdown_rows
from ansible_collections.taco.train.plugins.plugin_utils.text import counted, number

FINDINGS = ("Cause", "Hosts", "Loss", "Proof")
HOSTS = ("Host", "Verdict", "Runs", "Against its peers", "Evidence of slow")
RUNS = ("Round", "Hosts", "Value", "Against the round", "Reason")
ODD = ("Fact", "Value of most hosts", "Host", "Value")
NUMBERS = {"Round", "Runs", "Value", "Loss", "Against its peers", "Against the round", "Evidence of slow"}
OPEN = "The search is not finished. Run the playbook again to continue it."


def percent(log: float) -> str:
    """A difference as a share, such as -12.0%."""
    return f"{100 * (math.exp(log) - 1):+.1f}%"


def findings(document: Mapping[str, Any]) -> List[Sequence[str]]:
    """A row for each cause."""
    causes = (document["answer"] or {}).get("findings") or []
    return [
        (
            cause["text"],
            ", ".join(cause["hosts"]) or "all that cross it",
            "none" if cause["loss"] is None else f"{cause['loss']:.0%}",
            "proved" if cause["proved"] else "suspicion",
        )
        for cause in causes
    ]


def host_rows(search: Search, state: Analysis, document: Mapping[str, Any]) -> List[Sequence[str]]:
    """A row for each host, the most suspect first."""
    answer = document["answer"] or {}
    bound, left = clear_bound(search.rates), answer.get("undecided") or []
    broken = [host for one in answer.get("findings") or [] if one["kind"] == "failing" for host in one["hosts"]]
    rows: List[Sequence[str]] = []
    for host in sorted(search.hosts, key=lambda one: -state.best(one).mixture):
        residuals = [run.residual for run in state.runs if host in run.point.hosts]
        word = "not slower" if state.cleared(host, bound) or answer and host not in left else "undecided"
        word = "slower" if host in state.accused else "runs fail" if host in broken else word
        middle = percent(median(residuals)) if residuals else "none"
        rows.append((host, word, str(len(residuals)), middle, f"{state.best(host).mixture:.1f}"))
    return rows


def run_rows(search: Search, state: Analysis) -> List[Sequence[str]]:
    """A row for each run in the order of the rounds."""
    residuals = {(run.point.round, run.point.hosts): run.residual for run in state.runs}
    return [
        (
            str(one.number),
            ", ".join(run.hosts),
            "none" if run.value is None else number(run.value),
            percent(residuals[one.number, run.hosts]) if (one.number, run.hosts) in residuals else "none",
            run.reason or ("" if run.done else "not run yet"),
        )
        for one in search.rounds
        for run in one.runs
    ]


def odd_rows(document: Mapping[str, Any]) -> List[Sequence[str]]:
    """A row for each host with a value that few hosts have."""
    return [
        (one["facet"], one["usual"], host, value) for one in document["odd"] for host, value in one["hosts"].items()
    ]


def method(search: Search) -> str:
    """How the search decides, with its error rates."""
    bound = accept(search, HOST)
    rates = search.rates
    return (
        f"Runs of a round are compared with each other. A host is reported as slow from an evidence of {bound:.1f}: at most "
        f"{rates.false_accusation:.0%} of searches have any false finding, of a host or of something else, and a host that is slower by "
        f"{search.effect:.0%} is missed in at most {rates.miss:.0%}. HARP bypasses the kernel, so these verdicts rest on runs, not on "
        "counters of the kernel."
    )


def render(document: Mapping[str, Any], title: str, run: str) -> str:
    """The page of a search, from the content of locate.json."""
    search = from_json(document["search"])
    state = analysis(search)
    sections = [
        section("Causes", table(FINDINGS, findings(document), NUMBERS)) if findings(document) else "",
        section("Hosts", table(HOSTS, host_rows(search, state, document), NUMBERS), element("p", method(search))),
        section("Facts that differ on few hosts", table(ODD, odd_rows(document))) if document["odd"] else "",
        section("Runs", table(RUNS, run_rows(search, state), NUMBERS)),
    ]
    lead = document["sentence"] or OPEN
    head = [element("p", LAB, "lab")] if document["lab"] else []
    left = unrestored(document["unrestored"])
    top = "".join([*head, element("h1", title), element("p", lead, "lead"), element("p", left) if left else ""])
    footer = element(
        "footer", f"Search {run}. Everything here stands in locate.json and records.jsonl beside this page."
    )
    return page(title, [f"<header>{top}</header>", *sections, footer])


def text(document: Mapping[str, Any], title: str) -> str:
    """The answer with its tables, for the terminal and as Markdown."""
    search = from_json(document["search"])
    state = analysis(search)
    lines = [f"# {title}", "", document["sentence"] or OPEN, ""]
    if document["unrestored"]:
        lines += [unrestored(document["unrestored"]), ""]
    if document["lab"]:
        lines[2:2] = [LAB, ""]
    lines += markdown_rows(HOSTS, host_rows(search, state, document), NUMBERS)
    if document["odd"]:
        lines += ["", counted(len(document["odd"]), "fact") + " of which few hosts have another value:", ""]
        lines += markdown_rows(ODD, odd_rows(document))
    return "\n".join(lines) + "\n"

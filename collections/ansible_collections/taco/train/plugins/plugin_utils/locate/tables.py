# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The evidence of a search in words, as locate.json keeps it, so that a page needs nothing of what decided."""

import math
from statistics import median
from typing import Any, Dict, List, Optional

from ansible_collections.taco.train.plugins.plugin_utils.decision.sequential import clear_bound
from ansible_collections.taco.train.plugins.plugin_utils.locate.decide import Answer
from ansible_collections.taco.train.plugins.plugin_utils.locate.errors import HOST, accept
from ansible_collections.taco.train.plugins.plugin_utils.locate.evidence import Analysis, analysis
from ansible_collections.taco.train.plugins.plugin_utils.locate.search import Search
from ansible_collections.taco.train.plugins.plugin_utils.text import number


def percent(log: float) -> str:
    """A difference as a share, such as -12.0%."""
    return f"{100 * (math.exp(log) - 1):+.1f}%"


def host_rows(search: Search, state: Analysis, answer: Optional[Answer]) -> List[List[str]]:
    """A row for each host, the most suspect first."""
    bound, left = clear_bound(search.rates), answer.undecided if answer else ()
    broken = [host for one in (answer.findings if answer else ()) if one.kind == "failing" for host in one.hosts]
    rows = []
    for host in sorted(search.hosts, key=lambda one: -state.best(one).mixture):
        residuals = [run.residual for run in state.runs if host in run.point.hosts]
        word = "not slower" if state.cleared(host, bound) or answer and host not in left else "undecided"
        word = "slower" if host in state.accused else "runs fail" if host in broken else word
        middle = percent(median(residuals)) if residuals else "none"
        rows.append([host, word, str(len(residuals)), middle, f"{state.best(host).mixture:.1f}"])
    return rows


def run_rows(search: Search, state: Analysis) -> List[List[str]]:
    """A row for each run in the order of the rounds."""
    residuals = {(run.point.round, run.point.hosts): run.residual for run in state.runs}
    return [
        [
            str(one.number),
            ", ".join(run.hosts),
            "none" if run.value is None else number(run.value),
            percent(residuals[one.number, run.hosts]) if (one.number, run.hosts) in residuals else "none",
            run.reason or ("" if run.done else "not run yet"),
        ]
        for one in search.rounds
        for run in one.runs
    ]


def method(search: Search) -> str:
    """How the search decides, with its error rates."""
    rates = search.rates
    return (
        f"Runs of a round are compared with each other. A host is reported as slow from an evidence of {accept(search, HOST):.1f}: at "
        f"most {rates.false_accusation:.0%} of searches have any false finding, of a host or of something else, and a host that is "
        f"slower by {search.effect:.0%} is missed in at most {rates.miss:.0%}. HARP bypasses the kernel, so these verdicts rest on "
        "runs, not on counters of the kernel."
    )


def tables(search: Search, answer: Optional[Answer]) -> Dict[str, Any]:
    """The rows of hosts and of runs, and the method."""
    state = analysis(search)
    return {"hosts": host_rows(search, state, answer), "runs": run_rows(search, state), "method": method(search)}

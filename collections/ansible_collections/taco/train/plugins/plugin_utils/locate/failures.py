# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts make runs fail. Values in, values out.

A failed run over two hosts counts against one of them only if the other one had a good run over two hosts in a later round: until
then either of them can be the cause. A good run over two hosts clears what failed before it.
"""

from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.plugin_utils.locate.search import ALONE, PAIRS, Search

LEAST_FAILURES = 2
"""So many failed runs, each with another partner, make a host a failing one. A run alone counts as one with no partner."""


class Failure(NamedTuple):
    """A failed run of a host."""

    round: int
    partner: Optional[str]
    reason: str


def since_the_last_good_run(search: Search) -> Dict[str, List[Failure]]:
    """The failed runs of each host after its last good run over several hosts."""
    failures: Dict[str, List[Failure]] = {host: [] for host in search.hosts}
    usable = _alone_says_something(search)
    for one in search.rounds:
        for run in one.runs:
            if not run.done:
                continue
            for host in run.hosts:
                if run.value is not None:
                    if one.kind == PAIRS:
                        failures[host] = []
                elif one.kind == PAIRS or one.kind == ALONE and usable:
                    partner = next((other for other in run.hosts if other != host), None)
                    failures[host].append(Failure(one.number, partner, run.reason or "no reason was recorded"))
    return failures


def failing(search: Search) -> Dict[str, str]:
    """The hosts that make runs fail, each with the last reason."""
    last_good = _last_good(search)
    found = {}
    for host, failures in since_the_last_good_run(search).items():
        counted = [one for one in failures if one.partner is None or last_good.get(one.partner, 0) > one.round]
        if len({one.partner for one in counted}) >= LEAST_FAILURES:
            found[host] = counted[-1].reason
    # Where the runs of all hosts fail, it isn't theirs.
    return {} if set(found) >= set(search.comparable) else found


def doubtful(search: Search) -> Dict[str, int]:
    """The hosts whose last run over several hosts failed, with the number of failed runs that no failing partner explains."""
    broken = failing(search)
    found = {}
    for host, failures in since_the_last_good_run(search).items():
        open_ones = [one for one in failures if one.partner not in broken]
        if host not in broken and any(one.partner for one in open_ones):
            found[host] = len(open_ones)
    return found


def all_pairs_failed(search: Search) -> bool:
    """Whether several rounds of pairs gave no value at all."""
    rounds = [one for one in search.rounds if one.kind == PAIRS]
    return len(rounds) >= LEAST_FAILURES and all(run.value is None for one in rounds for run in one.runs)


def last_reason(search: Search) -> str:
    """The reason of the last run that failed."""
    reasons = [run.reason for one in search.rounds for run in one.runs if run.reason]
    return reasons[-1] if reasons else "no reason was recorded"


def _last_good(search: Search) -> Dict[str, int]:
    """The round of the last good run over several hosts, by host."""
    return {
        host: one.number
        for one in search.rounds
        if one.kind == PAIRS
        for run in one.runs
        if run.done and run.value is not None
        for host in run.hosts
    }


def _alone_says_something(search: Search) -> bool:
    """Whether runs on single hosts gave values; a workload that can't run on one host is no fault of the hosts."""
    return any(run.value is not None for one in search.rounds if one.kind == ALONE for run in one.runs if run.done)
